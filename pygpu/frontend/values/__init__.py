"""Values that are known, dynamic or virtual; what a state holds; where two states join."""
