"""What targets ask for: boundaries, fused sums, factors, branches, rounds of loops."""
