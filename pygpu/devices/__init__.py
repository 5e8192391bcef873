"""Devices: what compiles functions and runs them over images (see pygpu.storage.Device)."""
