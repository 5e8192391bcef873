#version 430 core

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer photo_data_block { float photo_data[]; };
layout(std430, binding = 1) writeonly buffer result_data_block { float result_data[]; };
uniform ivec3 photo_size;
uniform ivec3 result_size;
uniform int top;

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

vec3 photo(ivec2 p) {
    int at = p.y * photo_size.z + 3 * p.x;
    return vec3(photo_data[at], photo_data[at + 1], photo_data[at + 2]);
}

void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy) + ivec2(0, top);
    if (p.x >= result_size.x || p.y >= result_size.y)
        return;
    int y1 = pg_mod_int(p.y, photo_size.y);
    int x1 = pg_mod_int(p.x, photo_size.x);
    precise vec3 t1 = -4.0 * photo(ivec2(min(p.x, photo_size.x - 1), min(p.y, photo_size.y - 1)))
        + photo(ivec2(pg_mod_int(p.x + 1, photo_size.x), y1))
        + photo(ivec2(pg_mod_int(p.x - 1, photo_size.x), y1))
        + photo(ivec2(x1, pg_mod_int(p.y + 1, photo_size.y)))
        + photo(ivec2(x1, pg_mod_int(p.y - 1, photo_size.y)));
    vec3 result = t1;
    {
        int at = p.y * result_size.z + 3 * p.x;
        result_data[at] = result.x;
        result_data[at + 1] = result.y;
        result_data[at + 2] = result.z;
    }
}
