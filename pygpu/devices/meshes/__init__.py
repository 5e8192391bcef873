"""Meshes drawn by OpenGL's own rasteriser."""
