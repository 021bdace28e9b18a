"""Logarithms and exponentials with proven ends, and the fractions of two 32-bit integers next to a number.

Everything here is integer arithmetic. A value is enclosed by two integers in units of 2^-bits; wherever a rounded
result is wanted, the enclosure is narrowed until both ends round to the same integer, so no result depends on a chosen
precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

UNIT = 10**10
"""Printed nats are multiples of 10^-10."""

ODDS_MAX = 2**32 - 1
"""Odds are a fraction of two integers from 1 to this."""

UNBOUNDED = math.inf
"""A ratio or a number of nats without bound. It is the only float in the oracle, and it is only ever compared."""

Ratio = Fraction | float
Nats = int | float


def ceil_div(a: int, b: int) -> int:
    """The least integer that is at least a / b, for b > 0."""
    return -(-a // b)


@lru_cache(maxsize=4096)
def _two_atanh(num: int, den: int, bits: int) -> tuple[int, int]:
    """Encloses 2 atanh(num/den) for 0 <= num/den <= 1/3, in units of 2^-bits.

    All terms of 2 (z + z^3/3 + z^5/5 + ..) are non-negative. The lower sum rounds each of them down and drops the tail;
    the upper sum rounds each up and adds a bound of the tail: the first term left out, over 1 - z^2 >= 8/9.
    """
    one = 1 << bits
    low_power, high_power = num * one // den, ceil_div(num * one, den)
    low_square, high_square = low_power * low_power >> bits, ceil_div(high_power * high_power, one)
    low = high = 0
    k = 1
    while high_power > 1:
        low += 2 * low_power // k
        high += ceil_div(2 * high_power, k)
        low_power = low_power * low_square >> bits
        high_power = ceil_div(high_power * high_square, one)
        k += 2
    return low, high + ceil_div(2 * high_power * 9, 8 * k)


def ln_enclosure(x: Fraction, bits: int) -> tuple[int, int]:
    """Encloses ln x for x >= 1, in units of 2^-bits."""
    n, d = x.numerator, x.denominator
    if n < d:
        raise ValueError("ln_enclosure wants a number of at least one")
    halvings = n.bit_length() - d.bit_length()
    if n < d << halvings:
        halvings -= 1
    # x = m 2^halvings with 1 <= m < 2, and ln m = 2 atanh((m - 1) / (m + 1)).
    m_num, m_den = n, d << halvings
    low, high = _two_atanh(m_num - m_den, m_num + m_den, bits)
    low_two, high_two = _two_atanh(1, 3, bits)
    return low + halvings * low_two, high + halvings * high_two


def ln_up(x: Ratio) -> Nats:
    """The logarithm of max(x, 1), rounded up to a multiple of 10^-10, as a number of those."""
    if x == UNBOUNDED:
        return UNBOUNDED
    assert isinstance(x, Fraction | int)
    if x <= 1:
        return 0
    bits = 96
    while True:
        low, high = ln_enclosure(Fraction(x), bits)
        if ceil_div(low * UNIT, 1 << bits) == ceil_div(high * UNIT, 1 << bits):
            # The logarithm of a rational other than one is irrational, so neither end is the value itself.
            return ceil_div(high * UNIT, 1 << bits)
        bits *= 2


def exp_enclosure(x: Fraction, bits: int) -> tuple[int, int]:
    """Encloses e^x for x >= 0, in units of 2^-bits, by the plain series; its terms are all non-negative."""
    low_term = high_term = 1 << bits
    low = high = 1 << bits
    k = 0
    while high_term > 1 or k < 2 * x:
        k += 1
        low_term = low_term * x.numerator // (x.denominator * k)
        high_term = ceil_div(high_term * x.numerator, x.denominator * k)
        low += low_term
        high += high_term
    # From here on each term is at most half of the one before, so the tail is at most the last term.
    return low, high + high_term


def exp_up(units: int, places: int = 64) -> Fraction:
    """e^(units 10^-10), rounded up to a multiple of 2^-places."""
    if units == 0:
        return Fraction(1)
    bits = places + 64
    while True:
        low, high = exp_enclosure(Fraction(units, UNIT), bits)
        low_up, high_up = ceil_div(low, 1 << (bits - places)), ceil_div(high, 1 << (bits - places))
        if low_up == high_up:
            return Fraction(high_up, 1 << places)
        bits *= 2


def ln_mixture_up(p: Fraction, units: int) -> int:
    """ln(p + (1 - p) e^(units 10^-10)), rounded up to a multiple of 10^-10, as a number of those."""
    if p == 0 or units == 0:
        return units
    if p == 1:
        return 0
    # With 0 < p < 1 and units > 0 the value is irrational (Lindemann), so both ends round alike at some precision.
    bits = 128
    while True:
        low, high = (p + (1 - p) * Fraction(e, 1 << bits) for e in exp_enclosure(Fraction(units, UNIT), bits))
        low_up, high_up = ln_up(low), ln_up(high)
        if low_up == high_up:
            assert isinstance(high_up, int)
            return high_up
        bits *= 2


def print_units(units: Nats) -> str:
    """A number of 10^-10 nats as it is printed: a decimal without trailing zeros."""
    if units == UNBOUNDED:
        return "unbounded"
    whole, rest = divmod(int(units), UNIT)
    return f"{whole}.{rest:010d}".rstrip("0").rstrip(".") if rest else str(whole)


def neighbours(holds: Callable[[int, int], bool]) -> tuple[tuple[int, int], tuple[int, int]]:
    """The largest fraction n/d for which `holds`, and the smallest for which it does not, with n, d <= ODDS_MAX.

    `holds` is true below some number and false above it. The Stern-Brocot tree is walked down from 0/1 and 1/0 (either
    of which stands for "none"), in each direction by a doubling search.
    """
    low, high = (0, 1), (1, 0)

    def steps(base: tuple[int, int], add: tuple[int, int], want: bool) -> int:
        """How many times `add` can be added to `base` with `holds` still saying `want`, within ODDS_MAX."""

        def fits(count: int) -> bool:
            n, d = base[0] + count * add[0], base[1] + count * add[1]
            return n <= ODDS_MAX and d <= ODDS_MAX and holds(n, d) == want

        reach = 1
        while fits(reach):
            reach *= 2
        good, bad = reach // 2, reach
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if fits(middle) else (good, middle)
        return good

    while low[0] + high[0] <= ODDS_MAX and low[1] + high[1] <= ODDS_MAX:
        count = steps(low, high, True)
        low = (low[0] + count * high[0], low[1] + count * high[1])
        back = steps(high, low, False)
        high = (high[0] + back * low[0], high[1] + back * low[1])
        if count == 0 and back == 0:
            break
    return low, high


def odds_at_most(units: int) -> tuple[int, int]:
    """The largest odds whose printed nats are at most `units`."""
    return neighbours(lambda n, d: n <= d or ln_up(Fraction(n, d)) <= units)[0]
