#version 330 core

uniform isampler2D index;

layout(location = 0) out uvec3 result0;
layout(location = 1) out float result1;

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

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    ivec2 index_size = textureSize(index, 0);
    int texel1 = texelFetch(index, ivec2(min(p.x, index_size.x - 1), min(p.y, index_size.y - 1)),
        0).r;
    result0 = pg_to_unorm8(palette[clamp(texel1, 0, 3)]);
    result1 = curve(clamp(texel1, 0, 999));
}
