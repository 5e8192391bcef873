"""LLVM IR that draws triangles: their set-up, and the tiles of a picture, around a fragment."""
