"""Python functions that are walked in place of those that are written in C."""
