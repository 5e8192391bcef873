"""GLSL written by hand: what is declared around it, and how it runs."""
