#version 330 core

in vec3 in_position;
in vec3 in_normal;
out vec3 v_normal;
uniform vec4 self_camera_0;
uniform vec4 self_camera_1;
uniform vec4 self_camera_2;
uniform vec4 self_camera_3;

void main() {
    vec4 t1 = vec4(in_position.x, in_position.y, in_position.z, 1.0);
    vec4 clip = vec4(dot(self_camera_0, t1), dot(self_camera_1, t1), dot(self_camera_2, t1),
        dot(self_camera_3, t1));
    v_normal = in_normal;
    gl_Position = vec4(clip.x, -clip.y, clip.zw);
}

#version 330 core

in vec3 v_normal;
layout(location = 0) out vec3 colour0;
layout(location = 1) out float colour1;
uniform sampler2D self_wood;
uniform vec3 self_light;
uniform float self_edge;

void main() {
    ivec2 self_wood_size = textureSize(self_wood, 0);
    ivec2 p = ivec2(gl_FragCoord.xy);
    vec3 n = v_normal / sqrt(dot(v_normal, v_normal));
    bool test1 = n.z < self_edge;
    float t2 = dFdx(n.x);
    float t3 = dFdy(n.x);
    if (test1)
        discard;
    colour0 = test1 ? vec3(0.0) : texelFetch(self_wood,
        ivec2(min(p.x, self_wood_size.x - 1), min(p.y, self_wood_size.y - 1)), 0).rgb
        * dot(n, self_light);
    colour1 = test1 ? 0.0 : abs(t2) + abs(t3);
}
