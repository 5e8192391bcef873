#version 400 core

uniform sampler2D photo;

layout(location = 0) out vec3 result;

int pg_floordiv_int(int a, int b) {
    if (b == 0)
        return 0;
    uint n = a < 0 ? 0u - uint(a) : uint(a);
    uint d = b < 0 ? 0u - uint(b) : uint(b);
    uint q = n / d;
    if ((a ^ b) < 0)
        return int(0u - q) - (n != q * d ? 1 : 0);
    return int(q);
}

int pg_mod_int(int a, int b) {
    return b == 0 ? 0 : a - b * pg_floordiv_int(a, b);
}

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    ivec2 photo_size = textureSize(photo, 0);
    int y1 = pg_mod_int(p.y, photo_size.y);
    int x1 = pg_mod_int(p.x, photo_size.x);
    precise vec3 t1 = -4.0
        * texelFetch(photo, ivec2(min(p.x, photo_size.x - 1), min(p.y, photo_size.y - 1)), 0).rgb
        + texelFetch(photo, ivec2(pg_mod_int(p.x + 1, photo_size.x), y1), 0).rgb
        + texelFetch(photo, ivec2(pg_mod_int(p.x - 1, photo_size.x), y1), 0).rgb
        + texelFetch(photo, ivec2(x1, pg_mod_int(p.y + 1, photo_size.y)), 0).rgb
        + texelFetch(photo, ivec2(x1, pg_mod_int(p.y - 1, photo_size.y)), 0).rgb;
    result = t1;
}
