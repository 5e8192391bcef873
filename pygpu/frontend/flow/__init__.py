"""Where paths part and meet: branches, loops, choices, generators, handlers of exceptions."""
