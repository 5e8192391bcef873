"""From SSA to LLVM IR."""
