"""What drivers and compilers need of the process: sections that nothing enters, kept memory."""
