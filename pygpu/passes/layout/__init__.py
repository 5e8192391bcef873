"""Images that lie otherwise: planes of volumes, windows, strips, turned, wrapped."""
