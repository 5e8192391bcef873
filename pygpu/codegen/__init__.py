"""From SSA to text: GLSL (pygpu/codegen_glsl.py is the door) and LLVM IR."""
