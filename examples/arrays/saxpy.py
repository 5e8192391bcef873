"""a x + y: the first program of every paper on arrays, in one fused pass.

Source: BLAS level 1; B. Catanzaro and others, "Copperhead", 2011, section 2.
"""

import numpy as np

import pygpu


@pygpu.vectorize
def saxpy(a, x, y):
    return a * x + y


def difference(n=1_000_000) -> float:
    """The largest difference from NumPy."""
    random = np.random.default_rng(0)
    x, y = random.random((2, n), np.float32)
    return float(abs(saxpy(2.5, x, y) - (2.5 * x + y)).max())


if __name__ == "__main__":
    print(f"saxpy: {difference():.1e} from NumPy")
