"""From SSA to GLSL programs."""
