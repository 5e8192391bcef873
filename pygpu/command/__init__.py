"""The command line, and what `pygpu.info()` says."""
