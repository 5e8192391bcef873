"""NumPy's functions of images, signals and volumes."""
