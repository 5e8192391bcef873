"""Meshes drawn by shader classes: a vertex and a fragment method, compiled as functions are."""
