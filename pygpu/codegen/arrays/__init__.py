"""GLSL compute programs that scan, fold by group and sort whole arrays."""
