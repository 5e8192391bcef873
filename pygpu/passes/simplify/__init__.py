"""What every function goes through: `pipeline.simplify`."""
