#version 400 core

uniform sampler2D photo;
uniform float level;

layout(location = 0) out float result0;
layout(location = 1) out float result1;

float pg_quadrant(float a, out int n) {
    float turns = roundEven(a * 0.63661975);
    n = int(turns);
    float r = (a - turns * 1.5703125) - turns * 0.0004837513;
    return (r - turns * 7.5495336e-8) - turns * 2.563344e-12;
}

float pg_sin_part(float r) {
    float t = r * r;
    return r + r * t * ((-0.00019516978 * t + 0.008332176) * t - 0.16666655);
}

float pg_cos_part(float r) {
    float t = r * r;
    return (1.0 - 0.5 * t) + t * t * ((2.4438103e-5 * t - 0.0013887364) * t + 0.041666646);
}

float pg_sin(float a) {
    if (!(abs(a) < 65536.0))
        return sin(a);
    int n;
    float r = pg_quadrant(a, n);
    float s = (n & 1) == 0 ? pg_sin_part(r) : pg_cos_part(r);
    return (n & 2) == 0 ? s : -s;
}

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    ivec2 photo_size = textureSize(photo, 0);
    float texel1 = texelFetch(photo, ivec2(min(p.x, photo_size.x - 1), min(p.y, photo_size.y - 1)),
        0).r;
    precise float curve = 1.0;
    if (texel1 < level) {
        float square = texel1 * texel1;
        curve = square - pg_sin(square);
    }
    precise float value = (p.x & 1) == 1 ? curve : texel1;
    result0 = value;
    result1 = curve;
}
