#version 330 core

uniform usampler2D photo;

layout(location = 0) out int result;

float pg_unorm8(uint a) {
    return float(int(a)) * 0.00390625 + float(int(a + a)) * 7.659314e-6;
}

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    ivec2 photo_size = textureSize(photo, 0);
    int right_edge = photo_size.x - 1;
    int y1 = min(p.y, photo_size.y - 1);
    int k = 0;
    while (!(pg_unorm8(texelFetch(photo, ivec2(max(min(p.x + k, right_edge), 0), y1), 0).r)
        < 0.5)) {
        k += 1;
        if (k >= 16)
            break;
    }
    result = k;
}
