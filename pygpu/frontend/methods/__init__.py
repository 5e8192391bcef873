"""Methods of lists, dicts, sets and arrays that a function has made itself."""
