#version 330 core

uniform usampler2D photo;
uniform float gain;

layout(location = 0) out uint result;

float pg_unorm8(uint a) {
    return float(int(a)) * 0.00390625 + float(int(a + a)) * 7.659314e-6;
}

uint pg_to_unorm8(float a) {
    return floatBitsToUint(a) - 1u < 0x7f800000u ? uint(min(a, 1.0) * 255.0 + 0.5) : 0u;
}

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    ivec2 photo_size = textureSize(photo, 0);
    result = pg_to_unorm8(gain
        * pg_unorm8(texelFetch(photo,
        ivec2(min(p.x, photo_size.x - 1), min(p.y, photo_size.y - 1)), 0).r));
}
