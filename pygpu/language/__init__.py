"""The values that users write with, and their meaning in plain Python."""
