"""Prices of European calls and puts by the formula of Black and Scholes: a function of numbers, of
which `pygpu.vectorize` makes one of arrays with two results.

Source: F. Black and M. Scholes, "The Pricing of Options and Corporate Liabilities", 1973.
"""

import math

import numpy as np
from scipy.special import ndtr

import pygpu


def normal(x):
    """The share of a normal distribution below x."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


@pygpu.vectorize
def black_scholes(spot, strike, years, rate, volatility):
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    discounted = strike * math.exp(-rate * years)
    call = spot * normal(d1) - discounted * normal(d1 - spread)
    return call, call - spot + discounted


def expected(spot, strike, years, rate, volatility):
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    discounted = strike * np.exp(-rate * years)
    call = spot * ndtr(d1) - discounted * ndtr(d1 - spread)
    return call, discounted * ndtr(spread - d1) - spot * ndtr(-d1)


def difference(n=1_000_000) -> float:
    """The largest difference from SciPy, of prices of up to about 100."""
    random = np.random.default_rng(0)
    spot, strike, years = random.uniform(((5,), (1,), (0.25,)), ((30,), (100,), (10,)), (3, n))
    found = black_scholes(spot, strike, years, 0.02, 0.3)
    pairs = zip(found, expected(spot, strike, years, 0.02, 0.3))
    return float(np.max([abs(a - b) for a, b in pairs]))


if __name__ == "__main__":
    print(f"Black-Scholes: {difference():.1e} from SciPy")
