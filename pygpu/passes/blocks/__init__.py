"""Functions of a block of pixels, which share what they read and compute."""
