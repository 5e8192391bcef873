"""Signals and what holds them: Fourier's transforms of windows, polynomials of texels, objects by their
`__dict__`, functions with attributes, generators that are told something, distributions of SciPy.
"""

import math
import statistics
import types

import numpy as np
import scipy.fft
from scipy import special, stats
from scipy.stats import norm

from corpus.suite import Corpus
from pygpu import Image, Position

program = Corpus()


@program
def fft_power(im: Image, p: Position):
    x = np.array([im(p + (i, 0)) for i in range(8)])
    X = np.fft.rfft(x * np.hanning(8))
    return np.abs(X[1]), X[2].real, (np.abs(X) ** 2).sum()


@program
def fft_lowpass(im: Image, p: Position):
    x = [im(p + (i - 3, 0)) for i in range(6)]
    X = np.fft.fft(x)
    X[2:-1] = 0
    y = np.fft.ifft(X).real
    return y[3], np.fft.irfft(np.fft.rfft(x), 6)[2], np.fft.fftshift(np.abs(X))[3]


@program
def fft_2d(im: Image, p: Position):
    w = np.array([[im(p + (i, j)) for i in range(4)] for j in range(3)])
    F = np.fft.fft2(w)
    G = np.fft.rfft2(w, norm="ortho")
    b = np.fft.ifft2(F)[1, 2].real
    return F[1, 1], G[2, 1].imag, b


@program
def jpeg_block(im: Image, p: Position):
    w = np.array([[im(p + (i, j)) for i in range(4)] for j in range(4)])
    D = scipy.fft.dctn(w - 0.5, norm="ortho")
    back = scipy.fft.idctn(D, norm="ortho") + 0.5
    return D[0, 1], back[1, 2], scipy.fft.dct(w, axis=0)[1, 1], scipy.fft.dst(w[0], type=1)[0]


@program
def axis_fft(rgb: Image, p: Position):
    w = np.array([rgb(p + (i, 0)) for i in range(4)])
    F = np.fft.fft(w, n=5, axis=0, norm="forward")
    return np.abs(F).sum(axis=0)


class Swizzled:
    def __init__(self, **kw):
        self.__dict__.update(kw)

    def __getattr__(self, name):
        if len(name) > 1 and set(name) <= set("abc"):
            return tuple(getattr(self, n) for n in name)
        raise AttributeError(name)


@program
def getattr_swizzle(im: Image, p: Position):
    v = Swizzled(a=im(p), b=im(p + (1, 0)), c=1.0)
    x, y, z = v.cba
    return x + 2 * y + 4 * z if not hasattr(v, "zz") else 0.0


class Bunch:
    def __init__(self, d):
        self.__dict__ = dict(d)

    def __setitem__(self, k, v):
        vars(self)[k] = v

    def __getitem__(self, k):
        return self.__dict__[k]

    def __iter__(self):
        return iter(self.__dict__.items())

    def __len__(self):
        return len(vars(self))


@program
def bunches(im: Image, p: Position):
    b = Bunch({"x": 1.0, "y": im(p)})
    if im(p) > 0.5:
        b["x"] = 3.0
    else:
        vars(b).update(y=2.0)
    for i in range(p.x):
        b.__dict__["x"] += 0.5
    d = b.__dict__
    b.z = 4.0
    d.setdefault("w", im(p + (1, 0)))
    del d["z"]
    return b.x, b["y"], sum(v for k, v in b) + len(b), b.w + ("z" in d)


@program
def counted_functions(im: Image, p: Position):
    def f(x):
        f.calls += 1
        f.total = getattr(f, "total", 0.0) + x
        return x * 2

    f.calls = 0
    a = f(im(p)) + f(0.5)
    for i in range(p.x):
        f(0.25)
    if im(p) > 0.5:
        f.calls += 10
    return a, f.calls, f.total


def averager():
    total, n, avg = 0.0, 0, None
    while True:
        x = yield avg
        total += x
        n += 1
        avg = total / n


@program
def sent(im: Image, p: Position):
    avg = averager()
    next(avg)
    for i in range(4):
        last = avg.send(im(p + (i, 0)))
    return last


@program
def namespaces(im: Image, p: Position):
    s = types.SimpleNamespace(a=im(p), n=0)
    s.n += 2
    s.b = s.a * s.n
    s.__dict__.update(c=1.5)
    return s.b + s.c, len(vars(s))


@program
def opposite_floats(p: Position):
    t = p.x / 3 - 0.3
    u = math.sin(p.y * 1.5) ** 2
    if t < 0.5:
        a = u
    if t >= 0.5:
        a = 2.0 - u
    if u <= 0.3:
        b = 1
    if u > 0.3:
        b = 2
    return a, b


@program
def keys_as_sets(im: Image, p: Position):
    d = {"x": im(p), "y": 1.0}
    e = dict(x=2.0, z=im(p))
    both = d.keys() & e.keys()
    n = (
        (d.keys() >= {"x"})
        + 2 * (d.keys() == {"x", "y"})
        + 4 * (d.keys() <= e.keys())
        + 8 * d.keys().isdisjoint({"q"})
    )
    return (
        sum(d[k] for k in both),
        n,
        sum({**d, **e}[k] for k in sorted(d.keys() | e.keys())) + len(d.keys() - e.keys()),
    )


@program
def polynomials(im: Image, p: Position):
    q = np.poly1d([im(p), -1.0, 0.5])
    r = np.poly1d([1.0, im(p + (1, 0))])
    s = q * r + 2 - r
    d = q.deriv()
    i = (3 * d).integ(k=0.25)
    return q(0.5), s(p.x) + s.order, d[1] + i(2.0) + i.c[-1], q(r)(0.5) + (r**2)(0.3)


@program
def poly_functions(im: Image, p: Position):
    a = np.polymul([im(p), 1.0], [1.0, 2.0, im(p)])
    b = np.polyadd(a, [1.0, 1.0])
    return (
        np.polyval(np.polyder(b), 0.5),
        np.polyint(b)[0],
        np.polysub(a, b)[-1],
        np.polyval(np.poly1d([1, 2, 3]), im(p)),
    )


@program
def fitted_poly(im: Image, p: Position):
    f = np.poly1d(np.polyfit(np.arange(5.0), [im(p + (i, 0)) for i in range(5)], 2))
    return f(2.5), f.deriv()(1.0)


@program
def normal_distribution(unit: Image, p: Position):
    x = 4 * unit(p) - 2
    frozen = norm(loc=0.3, scale=1.5)
    return (
        norm.cdf(x),
        frozen.pdf(x),
        norm.ppf(0.01 + 0.98 * unit(p)),
        norm.sf(x, 0.5, 2.0) + norm.logpdf(x),
    )


@program
def other_distributions(unit: Image, p: Position):
    x = 3 * unit(p) - 0.5
    return (
        stats.expon.cdf(x),
        stats.logistic.pdf(x, scale=0.5),
        stats.uniform.cdf(x, 0.2, 1.5),
        stats.lognorm.cdf(x + 0.6, 0.8) + stats.poisson.pmf(p.x, 2.5),
    )


@program
def gaussian_arrays(im: Image, p: Position):
    w = norm.pdf(np.arange(-2, 3), scale=0.5 + im(p))
    w /= w.sum()
    return w @ [im(p + (i, 0)) for i in range(-2, 3)]


@program
def special_functions(unit: Image, p: Position):
    v = unit(p) * 0.9 + 0.05
    return (
        special.expit(4 * v - 2),
        special.logit(v),
        special.ndtri(v),
        special.xlogy(v, v) + special.ndtr(v) + special.log_ndtr(-30 * v),
    )


@program
def normal_dist_of_statistics(unit: Image, p: Position):
    d = statistics.NormalDist(0.2, 1.5)
    return d.cdf(unit(p)), d.inv_cdf(0.05 + 0.9 * unit(p)), d.pdf(unit(p))
