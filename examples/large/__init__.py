"""Counts the cells of a slide that does not fit in memory: Zarr in, Zarr out, chunk by chunk."""
