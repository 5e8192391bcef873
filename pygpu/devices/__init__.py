"""From text to results: what compiles programs and runs them over images."""
