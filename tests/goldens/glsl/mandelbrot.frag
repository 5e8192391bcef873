#version 400 core

uniform float zoom;

layout(location = 0) out int result;

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    float cx = float(p.x) * zoom;
    float cy = float(p.y) * zoom;
    precise float zx = 0.0;
    precise float zy = 0.0;
    int n = 0;
    while (true) {
        float t1 = zx * zx;
        float t2 = zy * zy;
        if ((t1 + t2 < 4.0 && n < 50) == false)
            break;
        zy = 2.0 * zx * zy + cy;
        zx = t1 - t2 + cx;
        n += 1;
    }
    result = n;
}
