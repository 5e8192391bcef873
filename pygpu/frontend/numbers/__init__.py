"""Dynamic numbers and vectors: what kinds meet as, and their arithmetic."""
