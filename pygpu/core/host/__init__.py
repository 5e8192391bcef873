"""What the machine lends and its user sets: the disk cache, settings in the environment."""
