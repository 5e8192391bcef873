"""The `Walker`: what each instruction does, and how blocks of them are walked."""
