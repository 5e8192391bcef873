#version 330 core

layout(location = 0) out int result;

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    int a = 0;
    int b = 1;
    int n = p.x;
    while (true) {
        n -= 1;
        int next = b;
        b = a + b;
        a = next;
        if (n <= 0)
            break;
    }
    result = a;
}
