"""Picture files: read and written at their depth; the pictures that come with PyGPU."""
