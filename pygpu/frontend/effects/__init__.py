"""What calls and operators do besides giving a value: they raise, tell somebody, draw numbers."""
