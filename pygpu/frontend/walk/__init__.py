"""Control flow: what each instruction does, branches, loops, calls, generators, handlers."""
