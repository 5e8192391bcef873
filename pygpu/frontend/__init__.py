"""From Python functions to SSA: `translate` is the door."""
