"""Calls that are larger than memory or one machine: Dask, xarray, functions that travel."""
