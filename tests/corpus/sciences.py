"""Physics, finance, geography, statistics: formulas as people type them, with checks and options."""

import datetime
import functools
import logging
import math
import typing
import warnings
from dataclasses import dataclass, field

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position, Vec2

program = Corpus()
logger = logging.getLogger("corpus")
logger.addHandler(logging.NullHandler())


def normal_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(spot, strike, rate, volatility, years, kind="call"):
    if kind not in ("call", "put"):
        raise ValueError(f"unknown option: {kind}")
    d1 = math.log(spot / strike) + (rate + volatility**2 / 2) * years
    d1 /= volatility * math.sqrt(years)
    d2 = d1 - volatility * math.sqrt(years)
    discounted = strike * math.exp(-rate * years)
    if kind == "call":
        return spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    return discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)


@program
def option_prices(unit: Image, p: Position):
    spot = 80 + 40 * unit(p)
    return tuple(black_scholes(spot, 100, 0.02, 0.3, 1.5, kind) for kind in ("call", "put"))


@program
def binomial_option(unit: Image, p: Position):
    n, dt, v, r = 8, 0.125, 0.3, 0.02
    up = math.exp(v * math.sqrt(dt))
    q = (math.exp(r * dt) - 1 / up) / (up - 1 / up)
    spot = 80 + 40 * unit(p)
    values = [max(0.0, spot * up ** (2 * k - n) - 100) for k in range(n + 1)]
    while len(values) > 1:
        pairs = zip(values, values[1:])
        values = [math.exp(-r * dt) * (q * b + (1 - q) * a) for a, b in pairs]
    return values[0]


@program
def implied_rate(unit: Image, p: Position):
    flows = [-100.0, 30.0 + 20 * unit(p), 40.0, 50.0]

    def value(rate):
        return sum(f / (1 + rate) ** k for k, f in enumerate(flows))

    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) > 0 else (low, middle)
    return low


@program
def mortgage(unit: Image, p: Position):
    def payment(principal, annual, years):
        rate, n = annual / 12, 12 * years
        try:
            return principal * rate / (1 - (1 + rate) ** -n)
        except ZeroDivisionError:
            return principal / n

    return payment(100.0, 0.05 * (unit(p) - 0.5 if p.x % 2 else 0.0), 20)


@program
def progressive_tax(unit: Image, p: Position):
    income, tax, below = 100 * unit(p), 0.0, 0
    for limit, rate in [(10, 0.0), (40, 0.15), (80, 0.3), (math.inf, 0.45)]:
        if income <= below:
            break
        tax += (min(income, limit) - below) * rate
        below = limit
    return tax


@program
def projectile(unit: Image, p: Position):
    @dataclass
    class Body:
        position: Vec2
        velocity: Vec2
        trail: list = field(default_factory=list)

        def step(self, dt):
            drag = self.velocity * -0.1
            self.velocity += dt * (Vec2(0.0, -9.81) + drag)
            self.position += dt * self.velocity
            self.trail.append(self.position.y)

    body = Body(Vec2(0.0), Vec2(3.0, 4 + 4 * unit(p)))
    for _ in range(10):
        body.step(0.05)
    return body.position.x, body.position.y, max(body.trail)


@program
def three_bodies(unit: Image, p: Position):
    masses = np.array([1.0, 0.5, 0.25])
    x = np.array([[0.0, 0.0], [1.0, 0.2], [-0.6, unit(p)]])
    v = np.zeros((3, 2))
    for _ in range(3):
        a = np.zeros((3, 2))
        for i in range(3):
            for j in range(3):
                if i != j:
                    d = x[j] - x[i]
                    a[i] += masses[j] * d / (np.dot(d, d) + 0.1) ** 1.5
        v = v + 0.05 * a
        x = x + 0.05 * v
    return float(x[2, 0]), float(x[2, 1])


@program
def pendulum(im: Image, p: Position):
    theta, omega, dt = im(p), 0.0, 0.02
    t = 0.0
    while t < 1.0:
        omega -= 9.81 * math.sin(theta) * dt
        theta += omega * dt
        t += dt
    return theta


@program
def lorenz(im: Image, p: Position):
    def derivative(state, sigma=10.0, rho=28.0, beta=8 / 3):
        x, y, z = state
        return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    state = np.array([im(p), 1.0, 1.0])
    for _ in range(12):
        state = state + 0.01 * derivative(state)
    return tuple(state)


@program
def reaction_and_diffusion(unit: Image, p: Position):
    weights = np.array([[0.05, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]])
    around = np.array([[unit(p + (i, j)) for i in (-1, 0, 1)] for j in (-1, 0, 1)])
    u = unit(p)
    v = 1 - u
    return u + 0.16 * float((weights * around).sum()) - u * v * v + 0.035 * (1 - u)


@program
def heat_by_explicit_steps(unit: Image, p: Position):
    rod = [unit(p + (k, 0)) for k in range(-3, 4)]
    for _ in range(3):
        rod = [c + 0.2 * (l - 2 * c + r) for l, c, r in zip(rod[:1] + rod, rod, rod[1:] + rod[-1:])]
    return rod[3]


@program
def waves_of_sources(p: Position):
    sources = {(0.0, 0.0): 1.0, (3.0, 1.0): 0.5, (1.0, 2.5): -0.7}
    return sum(
        a * math.sin(3 * math.hypot(p.x - x, p.y - y)) / (1 + math.hypot(p.x - x, p.y - y))
        for (x, y), a in sources.items()
    )


@program
def electric_field(p: Position):
    total = Vec2(0.0, 0.0)
    for charge, at in zip((1, -1, 2), (Vec2(-1, 0), Vec2(5, 1), Vec2(2, 7))):
        d = Vec2(p.x, p.y) - at
        total += charge * d / np.linalg.norm(d) ** 3
    return total


@program
def lens_and_snell(unit: Image, p: Position):
    def refracted(angle, n1, n2):
        s = n1 / n2 * math.sin(angle)
        if abs(s) > 1:
            return None
        return math.asin(s)

    inner = refracted(0.2 + unit(p), 1.5, 1.0)
    return -1.0 if inner is None else math.degrees(inner)


@program
def fresnel(unit: Image, p: Position):
    cosine, n1, n2 = unit(p), 1.0, 1.5
    sine = n1 / n2 * math.sqrt(1 - cosine**2)
    other = math.sqrt(1 - sine**2)
    rs = (n1 * cosine - n2 * other) / (n1 * cosine + n2 * other)
    rp = (n1 * other - n2 * cosine) / (n1 * other + n2 * cosine)
    return (rs * rs + rp * rp) / 2


@program
def blinn_phong(im: Image, p: Position):
    n = np.array([im(p), im(p + (1, 0)), 2.0])
    n = n / np.linalg.norm(n)
    light, view = np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.0, 1.0])
    h = (light + view) / np.linalg.norm(light + view)
    return float(max(n @ light, 0)), float(max(n @ h, 0) ** 32)


@program
def planck(unit: Image, p: Position):
    h, c, k = 6.626e-34, 2.998e8, 1.381e-23
    x = h * c / k / (500e-9 * (3000 + 3000 * unit(p)))
    return 1.0 / math.expm1(x) * 100


@program
def kepler(unit: Image, p: Position):
    m, e = 3 * unit(p), 0.4
    anomaly = m
    for _ in range(20):
        change = (anomaly - e * math.sin(anomaly) - m) / (1 - e * math.cos(anomaly))
        anomaly -= change
        if abs(change) < 1e-6:
            break
    else:
        warnings.warn("Kepler's equation has not converged")
    return anomaly


@program(within=1e-3)
def day_length(im: Image, p: Position):
    latitude = math.radians(30 + 15 * im(p))
    day = datetime.date(2024, 6, 21).timetuple().tm_yday
    declination = math.radians(23.44) * math.sin(2 * math.pi * (284 + day) / 365)
    try:
        angle = math.acos(-math.tan(latitude) * math.tan(declination))
    except ValueError:
        return 24.0 if latitude > 0 else 0.0
    return 24 / math.pi * angle


@program
def great_circle(im: Image, p: Position):
    lat1, lon1, lat2, lon2 = map(math.radians, (52.5, 13.4, 40 + 5 * im(p), -74.0))
    a = math.sin((lat2 - lat1) / 2) ** 2
    a += math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6.371 * math.asin(math.sqrt(a))


@program
def mercator(im: Image, p: Position):
    lat, lon = 30 * im(p), 60 * im(p + (1, 0))
    x = (lon + 180) / 360
    y = (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2
    return x, y, math.floor(x * 16), math.floor(y * 16)


@program
def body_mass_classes(unit: Image, p: Position):
    bmi = 15 + 25 * unit(p)
    labels = ["under", "normal", "over", "obese"]
    label = labels[sum(bmi >= limit for limit in (18.5, 25, 30))]
    return 1.0 if label == "normal" else 2.0 if label in ("over", "obese") else 0.0


@program
def wind_chill(im: Image, p: Position):
    t, v = 5 * im(p), 10 + 5 * im(p + (1, 0))
    logger.debug("t=%s v=%s", 1, 2)
    if not (t <= 10 and v > 4.8):
        return t
    return 13.12 + 0.6215 * t - 11.37 * v**0.16 + 0.3965 * t * v**0.16


@program
def logistic_regression(im: Image, p: Position):
    def sigmoid(x):
        if x >= 0:
            return 1 / (1 + math.exp(-x))
        e = math.exp(x)
        return e / (1 + e)

    w = {"bias": -0.3, "left": 1.2, "right": -0.7}
    z = w["bias"] + w["left"] * im(p) + w["right"] * im(p + (1, 0))
    return sigmoid(z), math.log(sigmoid(z) + 1e-3)


@program
def small_network(im: Image, p: Position):
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(5, 2)), rng.normal(size=5)), (rng.normal(size=(2, 5)), np.zeros(2))]
    x = np.array([im(p), im(p + (0, 1))])
    for weights, bias in layers[:-1]:
        x = np.tanh(weights @ x + bias)
    weights, bias = layers[-1]
    x = weights @ x + bias
    e = np.exp(x - x.max())
    return tuple(e / e.sum())


@program
def nearest_neighbours_vote(unit: Image, p: Position):
    samples = [(0.1, "a"), (0.35, "b"), (0.4, "b"), (0.7, "a"), (0.95, "c")]
    ordered = sorted((abs(unit(p) - x), {"a": 0, "b": 1, "c": 2}[name]) for x, name in samples)
    return ordered[0][1]


@program
def kalman_step(im: Image, p: Position):
    x, P = 0.0, 1.0
    for k in range(4):
        z = im(p + (k, 0))
        P += 0.01
        gain = P / (P + 0.1)
        x, P = x + gain * (z - x), (1 - gain) * P
    return x, P


@program
def exponential_average(im: Image, p: Position):
    return functools.reduce(lambda s, v: 0.3 * v + 0.7 * s, (im(p + (k, 0)) for k in range(5)))


@program
def outliers_clipped(im: Image, p: Position):
    window = np.array([im(p + (k, 0)) for k in range(-2, 3)])
    median = np.median(window)
    spread = np.median(np.abs(window - median))
    kept = window[np.abs(window - median) <= 2 * spread]
    return float(kept.mean())


@program
def autocorrelation(im: Image, p: Position):
    xs = np.array([im(p + (k, 0)) for k in range(6)])
    xs = xs - xs.mean()
    return float(np.dot(xs[:-1], xs[1:]) / (np.dot(xs, xs) + 1e-3))


class Unit(typing.NamedTuple):
    name: str
    factor: float
    offset: float = 0.0

    def of(self, kelvin):
        return kelvin * self.factor + self.offset


@program
def units(unit: Image, p: Position):
    scales = {u.name: u for u in (Unit("C", 1, -273.15), Unit("F", 1.8, -459.67), Unit("K", 1))}
    kelvin = 250 + 100 * unit(p)
    return tuple(scales[name].of(kelvin) for name in "CFK")


@program
def spherical_harmonics(im: Image, p: Position):
    x, y, z = (c / math.sqrt(im(p) ** 2 + 5) for c in (im(p), 1.0, 2.0))
    bands = [
        0.282095,
        *(0.488603 * c for c in (y, z, x)),
        *(1.092548 * c for c in (x * y, y * z, x * z)),
        0.315392 * (3 * z * z - 1),
    ]
    return sum(b * w for b, w in zip(bands, (1, 0.5, -0.2, 0.1, 0.3, 0.2, -0.4, 0.6)))


@program
def checked_input(im: Image, p: Position):
    def validated(x, *, low=-8.0, high=8.0, name="x"):
        if not isinstance(x, (int, float)):
            raise TypeError(f"{name} must be a number, got {type(x).__name__}")
        assert low <= x <= high, f"{name}={x} is not in [{low}, {high}]"
        return x

    return validated(im(p), name="texel") + validated(2)
