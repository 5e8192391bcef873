#version 430 core

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer photo_data_block { uint photo_data[]; };
layout(std430, binding = 1) readonly buffer photo4_data_block { uint photo4_data[]; };
layout(std430, binding = 2) writeonly buffer result_data_block { uint result_data[]; };
uniform ivec3 photo_size;
uniform ivec3 photo4_size;
uniform ivec3 result_size;
uniform int top;
uniform float gain;

uint pg_to_unorm8(float a) {
    return floatBitsToUint(a) - 1u < 0x7f800000u ? uint(min(a, 1.0) * 255.0 + 0.5) : 0u;
}

uvec4 pg_to_unorm8(vec4 a) {
    return uvec4(pg_to_unorm8(a.x), pg_to_unorm8(a.y), pg_to_unorm8(a.z), pg_to_unorm8(a.w));
}

float pg_unorm8(uint a) {
    return float(int(a)) * 0.00390625 + float(int(a + a)) * 7.659314e-6;
}

vec4 pg_unorm8(uvec4 a) {
    return vec4(pg_unorm8(a.x), pg_unorm8(a.y), pg_unorm8(a.z), pg_unorm8(a.w));
}

float photo(ivec2 p) {
    int row = p.y * photo_size.z;
    uint word = photo_data[row + (p.x >> 2)];
    int shift = (p.x & 3) * 8;
    return pg_unorm8(bitfieldExtract(word, shift, 8));
}

vec4 photo4(ivec2 p) {
    int row = p.y * photo4_size.z;
    uint word0 = photo4_data[row + p.x];
    return pg_unorm8(uvec4(bitfieldExtract(word0, 0, 8), bitfieldExtract(word0, 8, 8),
        bitfieldExtract(word0, 16, 8), bitfieldExtract(word0, 24, 8)));
}

void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy) * ivec2(4, 2) + ivec2(0, top);
    if (p.x >= result_size.x || p.y >= result_size.y)
        return;
    int i1 = p.x + 3;
    if (i1 < photo_size.x) {
        int bottom_edge = photo_size.y - 1;
        int x1 = p.x >> 2;
        vec4 texel1 = photo4(ivec2(x1, min(p.y, bottom_edge)));
        {
            uvec4 result_2 = pg_to_unorm8(vec4(gain * texel1.x, gain * texel1.y, gain * texel1.z,
                gain * texel1.w));
            int at = p.y * result_size.z + (p.x >> 2);
            result_data[at] = result_2.x | (result_2.y << 8) | (result_2.z << 16)
                | (result_2.w << 24);
        }
        vec4 texel2 = photo4(ivec2(x1, min(p.y + 1, bottom_edge)));
        if (p.y + 1 < result_size.y) {
            uvec4 result_3 = pg_to_unorm8(vec4(gain * texel2.x, gain * texel2.y, gain * texel2.z,
                gain * texel2.w));
            int at = (p.y + 1) * result_size.z + (p.x >> 2);
            result_data[at] = result_3.x | (result_3.y << 8) | (result_3.z << 16)
                | (result_3.w << 24);
        }
    } else {
        int right_edge = photo_size.x - 1;
        int x2 = min(p.x, right_edge);
        int bottom_edge_2 = photo_size.y - 1;
        int y1 = min(p.y, bottom_edge_2);
        int x3 = min(p.x + 1, right_edge);
        int x4 = min(p.x + 2, right_edge);
        int x5 = min(i1, right_edge);
        {
            uvec4 result_4 = pg_to_unorm8(vec4(gain * photo(ivec2(x2, y1)),
                gain * photo(ivec2(x3, y1)), gain * photo(ivec2(x4, y1)),
                gain * photo(ivec2(x5, y1))));
            int at = p.y * result_size.z + (p.x >> 2);
            result_data[at] = result_4.x | (result_4.y << 8) | (result_4.z << 16)
                | (result_4.w << 24);
        }
        int y2 = min(p.y + 1, bottom_edge_2);
        if (p.y + 1 < result_size.y) {
            uvec4 result_5 = pg_to_unorm8(vec4(gain * photo(ivec2(x2, y2)),
                gain * photo(ivec2(x3, y2)), gain * photo(ivec2(x4, y2)),
                gain * photo(ivec2(x5, y2))));
            int at = (p.y + 1) * result_size.z + (p.x >> 2);
            result_data[at] = result_5.x | (result_5.y << 8) | (result_5.z << 16)
                | (result_5.w << 24);
        }
    }
}
