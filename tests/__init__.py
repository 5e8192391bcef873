"""A package, so that processes that tests start find these and not the `tests` of some library."""
