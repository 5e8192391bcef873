"""Any CPython's bytecode to one canonical list of instructions (pygpu/bytecode.py is the door)."""
