"""Reverberation: a sound convolved with the answer of a room to a clap. Each sample adds up what
it hears of those before it.

Source: J. Smith, "Physical Audio Signal Processing", 2010; in Python: `scipy.signal.fftconvolve`.
"""

import numpy as np
from scipy.signal import fftconvolve

import pygpu
from pygpu import Position, Signal


@pygpu.compile
def reverb(sound: Signal, room: Signal, t: Position, wet: float = 0.3):
    heard = 0.0
    for delay in range(room.width):
        heard += room(delay) * sound(t - delay)
    return (1 - wet) * sound(t) + wet * heard


def difference(n=48_000, tail=4_800, wet=0.3) -> float:
    """The largest difference from SciPy, of a sound in [-1, 1] and a room that decays."""
    random = np.random.default_rng(0)
    time = np.arange(n) / 48_000
    sound = (np.sin(2 * np.pi * 440 * time) * (time % 0.25 < 0.1)).astype(np.float32)
    room = random.normal(0, 0.1, tail) * np.exp(-6 * np.arange(tail) / tail)
    found = reverb(Signal(sound, boundary="constant"), room, wet=wet).numpy()
    heard = fftconvolve(sound.astype(float), room)[:n]
    return float(abs(found - ((1 - wet) * sound + wet * heard)).max())


if __name__ == "__main__":
    print(f"reverb: {difference():.1e} from SciPy")
