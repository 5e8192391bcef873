#version 330 core

uniform int seed;

layout(location = 0) out int result;

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

int pg_shl(int a, int b) {
    return uint(b) < 32u ? a << b : 0;
}

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    int h = (374761393 * p.x) ^ seed;
    int h_2 = (h ^ (h >> 13)) * (p.y - 1274126177);
    result = pg_mod_int(h_2, 1000) | pg_shl(h_2 >> 4, p.x);
}
