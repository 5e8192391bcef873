"""The driver that is behind OpenGL: its context, the objects in it, what is known of it."""
