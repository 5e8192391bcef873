"""Functions taken apart into stages: what several pixels compute alike is an image that is made
once."""
