"""Machine code and threads: the only place that imports llvmlite."""
