"""OpenGL: the only place that imports moderngl and PyOpenGL."""
