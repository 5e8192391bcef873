"""Arrays as wholes: scans, sorts, elements picked and put in place, folds by group."""
