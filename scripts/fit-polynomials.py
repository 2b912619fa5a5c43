#!/usr/bin/env python3
"""Fits the polynomials of lib/Conversion/Host/FloatFunctions.cpp.

Prints each polynomial's coefficients, lowest power first, rounded to the precision that they are used in, and the
largest weighted error that is left. Needs mpmath. The fit is nearly minimax (Lawson's iteration);
coefficients are rounded one by one, from the lowest power up, and the rest is fitted again after each.
"""

import struct

import mpmath as mp

mp.mp.dps = 40


def round_to(value, precision):
    if precision == 32:
        return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])
    return mp.mpf(float(value))


def minimax(target, weight, powers, low, high, rounds=25):
    """Coefficients c of sum c[i] * x**powers[i] that make max |weight * (target - sum)| on [low, high] small.

    Lawson's iteration: weighted least squares on Chebyshev nodes, points with a large error count more next time.
    """
    nodes = 12 * len(powers) + 12
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (i + 0.5) / nodes) for i in range(nodes)]
    rows = [[weight(x) * x**p for p in powers] for x in points]
    right = [weight(x) * target(x) for x in points]
    importance = [mp.mpf(1)] * nodes
    best, smallest = None, None
    for _ in range(rounds):
        normal = mp.matrix(len(powers), len(powers))
        vector = mp.matrix(len(powers), 1)
        for row, value, share in zip(rows, right, importance):
            for a, left in enumerate(row):
                vector[a] += share * left * value
                for b in range(a + 1):
                    normal[a, b] += share * left * row[b]
        for a in range(len(powers)):
            for b in range(a):
                normal[b, a] = normal[a, b]
        solution = mp.lu_solve(normal, vector)
        errors = [abs(value - sum(c * r for c, r in zip(solution, row))) for row, value in zip(rows, right)]
        worst = max(errors)
        if smallest is None or worst < smallest:
            best, smallest = [solution[a] for a in range(len(powers))], worst
        if not worst:
            break
        importance = [share * error for share, error in zip(importance, errors)]
        total = sum(importance)
        importance = [share / total for share in importance]
    return best


def fit(name, target, weight, powers, low, high, precision):
    fixed = []
    powers = list(powers)
    while len(fixed) < len(powers):

        def rest(x):
            return target(x) - sum(c * x**p for c, p in zip(fixed, powers))

        coefficients = minimax(rest, weight, powers[len(fixed) :], mp.mpf(low), mp.mpf(high))
        fixed.append(round_to(coefficients[0], precision))
    grid = [mp.mpf(low) + (mp.mpf(high) - mp.mpf(low)) * i / 2000 for i in range(2001)]
    left = max(abs(weight(x) * (target(x) - sum(c * x**p for c, p in zip(fixed, powers)))) for x in grid)
    print(f"{name}: error {mp.nstr(left, 3)} = 2^{mp.nstr(mp.log(left, 2), 4)}")
    print("    " + ", ".join(mp.nstr(c, 9 if precision == 32 else 17) for c in fixed))


def away_from_zero(function, limit):
    """`function`, whose formula loses all digits at 0, with its limit there."""
    return lambda x: limit if abs(x) < mp.mpf("1e-25") else function(x)


ln2 = mp.log(2)
# e^r = 1 + r + r^2 p(r)
fit("exp", away_from_zero(lambda r: (mp.e**r - 1 - r) / r**2, mp.mpf(1) / 2),
    lambda r: r**2 if abs(r) > mp.mpf("1e-3") else mp.mpf("1e-6"), range(5), -ln2 / 2 * 1.001, ln2 / 2 * 1.001, 32)
# e^r = 1 + r + r^2 p(r), relative to e^r - 1
fit("expm1", away_from_zero(lambda r: (mp.e**r - 1 - r) / r**2, mp.mpf(1) / 2),
    lambda r: abs(r) + mp.mpf("1e-3"), range(6), -ln2 / 2 * 1.001, ln2 / 2 * 1.001, 32)
# 2^r = 1 + r p(r)
fit("exp2", away_from_zero(lambda r: (2**r - 1) / r, ln2), lambda r: abs(r) + mp.mpf("1e-3"), range(7), -0.5, 0.5, 32)
# log(1 + f) = f - f^2/2 + f^3 p(f)
fit("log", away_from_zero(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, mp.mpf(1) / 3),
    lambda f: f**2 + mp.mpf("1e-4"), range(9), mp.mpf(-1) / 3, mp.mpf(1) / 3, 32)
# erf(x) = x + x p(x^2) for x^2 below 1
fit("erf_small", away_from_zero(lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1, 2 / mp.sqrt(mp.pi) - 1),
    lambda s: mp.mpf(1), range(8), mp.mpf("1e-12"), 1, 32)
# erfc(x) = e^(-x - x p(x)) for x in [0.9, 4]
fit("erf_large", lambda x: -mp.log(mp.erfc(x)) / x - 1, lambda x: x * mp.erfc(x) / mp.erf(x), range(9), 0.9, 4, 32)
# sin(r) = r + r s p(s), cos(r) = 1 + s q(s) with s = r^2
quarter = (mp.pi / 4) ** 2 * mp.mpf("1.001")
fit("sin", away_from_zero(lambda s: (mp.sin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, -mp.mpf(1) / 6),
    lambda s: s + mp.mpf("1e-3"), range(5), mp.mpf("1e-9"), quarter, 64)
fit("cos", away_from_zero(lambda s: (mp.cos(mp.sqrt(s)) - 1) / s, -mp.mpf(1) / 2),
    lambda s: s + mp.mpf("1e-3"), range(5), mp.mpf("1e-9"), quarter, 64)
# log2(m) = t p(t^2) with t = (m - 1) / (m + 1) and m in [1/sqrt(2), sqrt(2)]
limit = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.001")
fit("log2_double", away_from_zero(lambda s: 2 * mp.atanh(mp.sqrt(s)) / mp.sqrt(s) / ln2, 2 / ln2),
    lambda s: mp.mpf(1), range(7), mp.mpf("1e-12"), limit, 64)
# 2^r = p(r)
fit("exp2_double", lambda r: 2**r, lambda r: 2 ** (-r), range(8), -0.5, 0.5, 64)
