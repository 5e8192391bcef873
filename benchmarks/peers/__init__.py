"""Other libraries on the kernels of the suite. Each module has `NAME`, `version()` and `KERNELS`,
from the name of a kernel to a function that prepares a contender: prepare() gives run(im, out)."""
