"""Programs for the arguments of a call: translated, compiled, kept, and run in tiles."""
