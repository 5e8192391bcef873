"""What can be found out about a function without changing it."""
