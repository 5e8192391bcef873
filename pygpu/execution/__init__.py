"""What a call does: programs for arguments, tiles, rounds, folds, measurements."""
