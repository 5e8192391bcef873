"""Transformations of functions in SSA: each takes a function and returns one."""
