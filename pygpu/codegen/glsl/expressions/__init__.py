"""GLSL of single operations: expressions, what each operation is, functions brought along."""
