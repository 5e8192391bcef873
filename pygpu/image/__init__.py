"""`Image`, `Signal` and `Volume`: what users hold, their operators and crops; moving pictures."""
