"""Calls: what Python runs, what is walked, what is a rule of the compiler's."""
