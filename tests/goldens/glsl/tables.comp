#version 430 core

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer index_data_block { int index_data[]; };
layout(std430, binding = 1) writeonly buffer result0_data_block { uint result0_data[]; };
layout(std430, binding = 2) writeonly buffer result1_data_block { float result1_data[]; };
uniform ivec3 index_size;
uniform ivec3 result0_size;
uniform ivec3 result1_size;
uniform int top;

const vec3 palette[4] = vec3[4](vec3(0.0, 0.125, 0.25), vec3(0.375, 0.5, 0.625),
    vec3(0.75, 0.875, 1.0), vec3(1.125, 1.25, 1.375));
layout(std140) uniform curve_data_block {
    vec4 curve_data[250];
};
float curve(int i) {
    return curve_data[i >> 2][i & 3];
}

uint pg_to_unorm8(float a) {
    return floatBitsToUint(a) - 1u < 0x7f800000u ? uint(min(a, 1.0) * 255.0 + 0.5) : 0u;
}

uvec3 pg_to_unorm8(vec3 a) {
    return uvec3(pg_to_unorm8(a.x), pg_to_unorm8(a.y), pg_to_unorm8(a.z));
}

int index(ivec2 p) {
    return index_data[p.y * index_size.z + p.x];
}

void pixel(ivec2 p, out uvec3 result0, out float result1) {
    int texel1 = index(ivec2(min(p.x, index_size.x - 1), min(p.y, index_size.y - 1)));
    result0 = pg_to_unorm8(palette[clamp(texel1, 0, 3)]);
    result1 = curve(clamp(texel1, 0, 999));
}

void main() {
    int x = 4 * int(gl_GlobalInvocationID.x);
    int y = int(gl_GlobalInvocationID.y) + top;
    if (x >= result0_size.x || y >= result0_size.y)
        return;
    uvec3 result0[4];
    float result1[4];
    for (int k = 0; k < 4; k++)
        pixel(ivec2(min(x + k, result0_size.x - 1), y), result0[k], result1[k]);
    {
        int at = y * result0_size.z + 3 * x / 4;
        result0_data[at] = result0[0].x | (result0[0].y << 8) | (result0[0].z << 16)
            | (result0[1].x << 24);
        result0_data[at + 1] = result0[1].y | (result0[1].z << 8) | (result0[2].x << 16)
            | (result0[2].y << 24);
        result0_data[at + 2] = result0[2].z | (result0[3].x << 8) | (result0[3].y << 16)
            | (result0[3].z << 24);
    }
    result1_data[y * result1_size.z + x] = result1[0];
    result1_data[y * result1_size.z + x + 1] = result1[1];
    result1_data[y * result1_size.z + x + 2] = result1[2];
    result1_data[y * result1_size.z + x + 3] = result1[3];
}
