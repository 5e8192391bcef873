"""What targets ask for: boundaries, scalars, fused sums, windows, rounds of loops."""
