"""Functions of bytes in lanes of 8 and 16 bits; `codegen/narrow/writer.py` is the door."""
