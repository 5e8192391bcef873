"""Benchmarks: PyGPU against its peers, each output checked before anything is timed."""
