"""Native loops over images, around the spans of `codegen/llvm`: who computes which rows, and where
they are read and written."""
