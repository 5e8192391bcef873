#version 430 core

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer photo_data_block { uint photo_data[]; };
layout(std430, binding = 1) writeonly buffer result_data_block { uint result_data[]; };
uniform ivec3 photo_size;
uniform ivec3 result_size;
uniform int top;
uniform float gain;

uint pg_to_unorm8(float a) {
    return floatBitsToUint(a) - 1u < 0x7f800000u ? uint(min(a, 1.0) * 255.0 + 0.5) : 0u;
}

float pg_unorm8(uint a) {
    return float(int(a)) * 0.00390625 + float(int(a + a)) * 7.659314e-6;
}

float photo(ivec2 p) {
    int row = p.y * photo_size.z;
    uint word = photo_data[row + (p.x >> 2)];
    int shift = (p.x & 3) * 8;
    return pg_unorm8(bitfieldExtract(word, shift, 8));
}

void pixel(ivec2 p, out uint result) {
    result = pg_to_unorm8(gain
        * photo(ivec2(min(p.x, photo_size.x - 1), min(p.y, photo_size.y - 1))));
}

void main() {
    int x = 4 * int(gl_GlobalInvocationID.x);
    int y = int(gl_GlobalInvocationID.y) + top;
    if (x >= result_size.x || y >= result_size.y)
        return;
    uint result[4];
    for (int k = 0; k < 4; k++)
        pixel(ivec2(min(x + k, result_size.x - 1), y), result[k]);
    {
        int at = y * result_size.z + x / 4;
        result_data[at] = result[0] | (result[1] << 8) | (result[2] << 16) | (result[3] << 24);
    }
}
