"""`Image`: what users hold, its operators and its crops."""
