"""Functions shown at work: in a window, a notebook or a local page; edits are taken up."""
