"""What is below everything: records; the disk cache, settings, the collector of garbage."""
