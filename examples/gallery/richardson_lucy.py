"""
Richardson-Lucy
===============

A blur undone: each round blurs the guess, compares it with what was seen, and corrects the guess
by the blurred ratio. Left the photograph out of focus, right the guess after the rounds.

Reference: W. Richardson, 1972; L. Lucy, 1974; `skimage.restoration.richardson_lucy`, with which
it agrees away from the border.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, glsl, offsets


def disc(radius):
    """What a lens out of focus makes of a point."""
    side = int(np.ceil(radius))
    y, x = np.mgrid[-side : side + 1, -side : side + 1]
    kernel = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1)
    return kernel / kernel.sum()


DISC = disc(3)


def correlate(kernel, f, p):
    return sum(w * f(p + d) for w, d in zip(kernel.ravel(), offsets(kernel), strict=True))


@pygpu.compile
def blurred(im: Image, p: Position, kernel=DISC):
    return correlate(kernel, im, p)


@pygpu.compile
def ratio(seen: Image, expected: Image, p: Position):
    return seen(p) / glsl.max(expected(p), 1e-6)


@pygpu.compile
def corrected(guess: Image, factor: Image, p: Position, kernel=DISC):
    return guess(p) * correlate(kernel[::-1, ::-1], factor, p)


@pygpu.compile
def halves(left: Image, right: Image, p: Position):
    return left(p) if p.x < left.width // 2 else right(p)


def deconvolved(seen: Image, kernel: np.ndarray, rounds: int, guess: Image | None = None) -> Image:
    guess = seen if guess is None else guess
    for _ in range(rounds):
        guess = corrected(guess, ratio(seen, blurred(guess, kernel=kernel)), kernel=kernel)
    return guess


def render(photo: Image, *, radius=3.0, rounds=20) -> Image:
    kernel = disc(radius)
    seen = blurred(photo, kernel=kernel)
    return halves(seen, deconvolved(seen, kernel, rounds))


if __name__ == "__main__":
    main(render, radius=(0.5, 8), rounds=(0, 1000))
