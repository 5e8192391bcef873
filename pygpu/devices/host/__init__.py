"""Native code on images as wholes, done on the host for every target: what no pixel's neighbourhood
tells."""
