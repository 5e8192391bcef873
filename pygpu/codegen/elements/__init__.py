"""LLVM IR of what is done with elements as such: folds, sorts, folds by group."""
