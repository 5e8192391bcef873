"""What drivers and compilers need of the process: forks that wait, calls no handler disturbs."""
