"""Folds: of images into a value or one for each group, of what meets at an element."""
