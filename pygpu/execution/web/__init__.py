"""Functions as web pages: GLSL ES of the same SSA, the page around it, and its controls."""
