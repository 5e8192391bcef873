"""The programs of examples/gallery against the same programs in other languages, whose text is
printed from PyGPU's own optimised SSA at one pixel a step: what no benchmark was tuned for.

capture    what a picture of the gallery runs: functions, images, numbers
scalars    SSA as statements about single numbers, for languages with statements
with_numba, with_c, with_halide
           contenders, each from a captured run
"""
