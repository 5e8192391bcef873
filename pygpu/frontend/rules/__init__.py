"""Which Python callable means what on values that are not known."""
