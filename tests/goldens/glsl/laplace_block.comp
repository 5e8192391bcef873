#version 430 core

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer photo_data_block { float photo_data[]; };
layout(std430, binding = 1) readonly buffer photo4_data_block { vec4 photo4_data[]; };
layout(std430, binding = 2) writeonly buffer result_data_block { vec4 result_data[]; };
uniform ivec3 photo_size;
uniform ivec3 photo4_size;
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

vec4 photo4(ivec2 p) {
    return photo4_data[p.y * photo4_size.z + p.x];
}

void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy) * ivec2(4, 2) + ivec2(0, top);
    if (p.x >= result_size.x || p.y >= result_size.y)
        return;
    int i1 = p.x + 4;
    if (p.x >= 1 && i1 < photo_size.x) {
        int y1 = pg_mod_int(p.y - 1, photo_size.y);
        int x1 = (p.x >> 2) * 3;
        vec4 texel1 = photo4(ivec2(x1, y1));
        vec4 texel2 = photo4(ivec2(x1 + 1, y1));
        vec4 texel3 = photo4(ivec2(x1 + 2, y1));
        int bottom_edge = photo_size.y - 1;
        int y2 = min(p.y, bottom_edge);
        vec4 texel4 = photo4(ivec2(x1, y2));
        int y3 = pg_mod_int(p.y, photo_size.y);
        vec4 texel5 = photo4(ivec2(x1, y3));
        vec4 texel6 = photo4(ivec2(x1 + 1, y3));
        vec3 t1 = vec3(texel5.w, texel6.x, texel6.y);
        vec4 texel7 = photo4(ivec2(x1 + 1, y2));
        vec4 texel8 = photo4(ivec2(x1 + 2, y3));
        vec3 t2 = vec3(texel6.z, texel6.w, texel8.x);
        vec4 texel9 = photo4(ivec2(x1 + 2, y2));
        int i2 = p.y + 1;
        int y4 = pg_mod_int(i2, photo_size.y);
        vec4 texel10 = photo4(ivec2(x1, y4));
        precise vec3 t3 = -4.0 * texel4.xyz + t1 + photo(ivec2(p.x - 1, y3)) + texel10.xyz
            + texel1.xyz;
        vec4 texel11 = photo4(ivec2(x1 + 1, y4));
        vec3 t4 = vec3(texel10.w, texel11.x, texel11.y);
        precise vec3 t5 = -4.0 * vec3(texel4.w, texel7.x, texel7.y) + t2 + texel5.xyz + t4
            + vec3(texel1.w, texel2.x, texel2.y);
        vec4 texel12 = photo4(ivec2(x1 + 2, y4));
        vec3 t6 = vec3(texel11.z, texel11.w, texel12.x);
        precise vec3 t7 = -4.0 * vec3(texel7.z, texel7.w, texel9.x) + texel8.yzw + t1 + t6
            + vec3(texel2.z, texel2.w, texel3.x);
        precise vec3 t8 = -4.0 * texel9.yzw + photo(ivec2(p.x + 4, y3)) + t2 + texel12.yzw
            + texel3.yzw;
        result_data[p.y * result_size.z + 3 * (p.x >> 2)] = vec4(t3.x, t3.y, t3.z, t5.x);
        result_data[p.y * result_size.z + 3 * (p.x >> 2) + 1] = vec4(t5.y, t5.z, t7.x, t7.y);
        result_data[p.y * result_size.z + 3 * (p.x >> 2) + 2] = vec4(t7.z, t8.x, t8.y, t8.z);
        int y5 = min(i2, bottom_edge);
        vec4 texel13 = photo4(ivec2(x1, y5));
        vec4 texel14 = photo4(ivec2(x1 + 1, y5));
        vec4 texel15 = photo4(ivec2(x1 + 2, y5));
        int y6 = pg_mod_int(p.y + 2, photo_size.y);
        vec4 texel16 = photo4(ivec2(x1, y6));
        precise vec3 t9 = -4.0 * texel13.xyz + t4 + photo(ivec2(p.x - 1, y4)) + texel16.xyz
            + texel5.xyz;
        vec4 texel17 = photo4(ivec2(x1 + 1, y6));
        precise vec3 t10 = -4.0 * vec3(texel13.w, texel14.x, texel14.y) + t6 + texel10.xyz
            + vec3(texel16.w, texel17.x, texel17.y) + t1;
        vec4 texel18 = photo4(ivec2(x1 + 2, y6));
        precise vec3 t11 = -4.0 * vec3(texel14.z, texel14.w, texel15.x) + texel12.yzw + t4
            + vec3(texel17.z, texel17.w, texel18.x) + t2;
        precise vec3 t12 = -4.0 * texel15.yzw + photo(ivec2(p.x + 4, y4)) + t6 + texel18.yzw
            + texel8.yzw;
        if (p.y + 1 < result_size.y) {
            result_data[(p.y + 1) * result_size.z + 3 * (p.x >> 2)] = vec4(t9.x, t9.y, t9.z, t10.x);
            result_data[(p.y + 1) * result_size.z + 3 * (p.x >> 2) + 1] = vec4(t10.y, t10.z, t11.x,
                t11.y);
            result_data[(p.y + 1) * result_size.z + 3 * (p.x >> 2) + 2] = vec4(t11.z, t12.x, t12.y,
                t12.z);
        }
    } else {
        int x2 = pg_mod_int(p.x, photo_size.x);
        int y7 = pg_mod_int(p.y - 1, photo_size.y);
        int i3 = p.x + 1;
        int x3 = pg_mod_int(i3, photo_size.x);
        int i4 = p.x + 2;
        int x4 = pg_mod_int(i4, photo_size.x);
        int i5 = p.x + 3;
        int x5 = pg_mod_int(i5, photo_size.x);
        int right_edge = photo_size.x - 1;
        int x6 = min(p.x, right_edge);
        int bottom_edge_2 = photo_size.y - 1;
        int y8 = min(p.y, bottom_edge_2);
        int y9 = pg_mod_int(p.y, photo_size.y);
        vec3 texel19 = photo(ivec2(x3, y9));
        int x7 = pg_mod_int(p.x - 1, photo_size.x);
        int x8 = min(i3, right_edge);
        vec3 texel20 = photo(ivec2(x4, y9));
        vec3 texel21 = photo(ivec2(x2, y9));
        int x9 = min(i4, right_edge);
        vec3 texel22 = photo(ivec2(x5, y9));
        int x10 = min(i5, right_edge);
        int x11 = pg_mod_int(i1, photo_size.x);
        int i6 = p.y + 1;
        int y10 = pg_mod_int(i6, photo_size.y);
        vec3 texel23 = photo(ivec2(x2, y10));
        precise vec3 t13 = -4.0 * photo(ivec2(x6, y8)) + texel19 + photo(ivec2(x7, y9)) + texel23
            + photo(ivec2(x2, y7));
        vec3 texel24 = photo(ivec2(x3, y10));
        precise vec3 t14 = -4.0 * photo(ivec2(x8, y8)) + texel20 + texel21 + texel24
            + photo(ivec2(x3, y7));
        vec3 texel25 = photo(ivec2(x4, y10));
        precise vec3 t15 = -4.0 * photo(ivec2(x9, y8)) + texel22 + texel19 + texel25
            + photo(ivec2(x4, y7));
        vec3 texel26 = photo(ivec2(x5, y10));
        precise vec3 t16 = -4.0 * photo(ivec2(x10, y8)) + photo(ivec2(x11, y9)) + texel20
            + texel26 + photo(ivec2(x5, y7));
        result_data[p.y * result_size.z + 3 * (p.x >> 2)] = vec4(t13.x, t13.y, t13.z, t14.x);
        result_data[p.y * result_size.z + 3 * (p.x >> 2) + 1] = vec4(t14.y, t14.z, t15.x, t15.y);
        result_data[p.y * result_size.z + 3 * (p.x >> 2) + 2] = vec4(t15.z, t16.x, t16.y, t16.z);
        int y11 = min(i6, bottom_edge_2);
        int y12 = pg_mod_int(p.y + 2, photo_size.y);
        precise vec3 t17 = -4.0 * photo(ivec2(x6, y11)) + texel24 + photo(ivec2(x7, y10))
            + photo(ivec2(x2, y12)) + texel21;
        precise vec3 t18 = -4.0 * photo(ivec2(x8, y11)) + texel25 + texel23
            + photo(ivec2(x3, y12)) + texel19;
        precise vec3 t19 = -4.0 * photo(ivec2(x9, y11)) + texel26 + texel24
            + photo(ivec2(x4, y12)) + texel20;
        precise vec3 t20 = -4.0 * photo(ivec2(x10, y11)) + photo(ivec2(x11, y10)) + texel25
            + photo(ivec2(x5, y12)) + texel22;
        if (p.y + 1 < result_size.y) {
            result_data[(p.y + 1) * result_size.z + 3 * (p.x >> 2)] = vec4(t17.x, t17.y, t17.z,
                t18.x);
            result_data[(p.y + 1) * result_size.z + 3 * (p.x >> 2) + 1] = vec4(t18.y, t18.z, t19.x,
                t19.y);
            result_data[(p.y + 1) * result_size.z + 3 * (p.x >> 2) + 2] = vec4(t19.z, t20.x, t20.y,
                t20.z);
        }
    }
}
