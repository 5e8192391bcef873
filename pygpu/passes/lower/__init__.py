"""What targets ask for: boundaries, fused sums, factors, windows, rounds of loops."""
