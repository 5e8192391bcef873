"""The table of operations: what each means, of which types, between which bounds."""
