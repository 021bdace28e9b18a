"""Families of blocks, by the words of vectors/v1/blocks.md: who is in which block, and how likely each is.

Vectors are multiplied out one by one and every block is looked at. Nothing here is fast.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from policy import MASS, Geometry, Incidence, Listed, Subsets

INDEX = 2**64
FIELD_MAX = 4096
BLOCKS_MAX = 2**24
STEPS_MAX = 2**31


def prime_of(order: int) -> int | None:
    """The prime whose power `order` is; None if it is no prime power."""
    prime = next((p for p in range(2, order + 1) if order % p == 0), None)
    rest = order
    while prime and rest % prime == 0:
        rest //= prime
    return prime if rest == 1 else None


@dataclass(frozen=True)
class Field:
    """Numbers below `order`, whose digits in base `prime` are the coefficients of polynomials."""

    order: int
    prime: int
    low: int
    """The lower digits of the polynomial that products are taken modulo."""
    generator: int

    def _digits(self, number: int) -> list[int]:
        found = []
        place = 1
        while place < self.order:
            found.append(number // place % self.prime)
            place *= self.prime
        return found

    def _number(self, digits: Sequence[int]) -> int:
        return sum(digit % self.prime * self.prime**at for at, digit in enumerate(digits))

    def add(self, a: int, b: int) -> int:
        return self._number([x + y for x, y in zip(self._digits(a), self._digits(b))])

    def multiply(self, a: int, b: int) -> int:
        if self.prime == self.order:
            return a * b % self.order
        degree = len(self._digits(a))
        product = [0] * (2 * degree - 1)
        for (i, x), (j, y) in itertools.product(enumerate(self._digits(a)), enumerate(self._digits(b))):
            product[i + j] += x * y
        for top in range(2 * degree - 2, degree - 1, -1):
            for at, part in enumerate(self._digits(self.low)):
                product[top - degree + at] -= product[top] * part
        return self._number(product[:degree])

    def powers(self) -> list[int]:
        """1, g, g^2, .. as long as there are elements other than nought."""
        found = [1]
        while len(found) < self.order - 1:
            found.append(self.multiply(found[-1], self.generator))
        return found


@cache
def field_of(order: int) -> Field:
    """The field with so many elements, which is a prime power."""
    prime = prime_of(order)
    assert prime is not None
    for choice in range(1 if prime == order else 0, order):
        found = Field(order, prime, 0, choice) if prime == order else Field(order, prime, choice, prime)
        if len(set(found.powers()) - {0}) == order - 1:
            return found
    raise AssertionError("every prime power has a field")


def ones(order: int, exponent: int) -> int:
    """(q^e - 1) / (q - 1)."""
    return (order**exponent - 1) // (order - 1)


def digits(number: int, base: int, count: int) -> list[int]:
    return [number // base**at % base for at in range(count)]


def point_count(family: Geometry) -> int:
    return family.order ** (family.dimension - 1) if family.hashing else ones(family.order, family.dimension)


def block_count(family: Geometry | Listed) -> int:
    """How many blocks there are."""
    if isinstance(family, Listed):
        return len(family.blocks)
    return family.classes * ones(family.order, family.dimension) - family.hashing


def replication(family: Geometry | Listed) -> int:
    """How many blocks contain a symbol."""
    if isinstance(family, Listed):
        return sum(0 in block for block in family.blocks)
    below = family.dimension - 1
    return family.zero * family.classes * ones(family.order, below) + family.cosets * family.order**below


def sum_steps(family: Geometry | Listed) -> int:
    """What summing over all blocks takes."""
    if isinstance(family, Listed):
        return sum(len(block) for block in family.blocks)
    inside = family.zero + family.cosets * (family.order - 1) // family.classes
    exchanged = family.order**family.dimension * max(family.dimension - 2, 1)
    return exchanged + 2 * block_count(family) * (1 + inside)


def check_steps(channel: Incidence, laws: int, secret: bool) -> int:
    """What checking blocks under so many laws takes."""
    if isinstance(channel.family, Subsets):
        return (256 * laws * (laws + 2) if secret else 32 * laws) * channel.symbols
    return laws * sum_steps(channel.family)


def vectors(family: Geometry) -> Iterator[list[int]]:
    """The blocks of a geometry as vectors, in the order of their numbers."""
    leading = field_of(family.order).powers()
    for top in range(int(family.hashing), family.dimension):
        for taken in range(family.classes):
            for low in range(family.order**top):
                yield [*digits(low, family.order, top), leading[taken]]


def point(family: Geometry, symbol: int) -> list[int]:
    """The vector of a symbol."""
    if family.hashing:
        return [1, *digits(symbol, family.order, family.dimension - 1)]
    top = next(e for e in range(family.dimension) if symbol < ones(family.order, e + 1))
    return [*digits(symbol - ones(family.order, top), family.order, top), 1]


def incidences(channel: Incidence) -> list[tuple[bool, ...]]:
    """For every block whether it contains each symbol; the subsets of a size in any order."""
    match channel.family:
        case Subsets(size):
            chosen = itertools.combinations(range(channel.symbols), size)
            return [tuple(x in subset for x in range(channel.symbols)) for subset in map(set, chosen)]
        case Listed(blocks):
            return [tuple(x in block for x in range(channel.symbols)) for block in blocks]
        case Geometry() as family:
            field = field_of(family.order)
            products = [[field.multiply(a, b) for b in range(family.order)] for a in range(family.order)]
            sums = [[field.add(a, b) for b in range(family.order)] for a in range(family.order)]
            logs = {power: at for at, power in enumerate(field.powers())}
            inside = [family.zero, *(logs[v] % family.classes < family.cosets for v in range(1, family.order))]
            points = [point(family, x) for x in range(channel.symbols)]

            def contains(block: Sequence[int], symbol: Sequence[int]) -> bool:
                total = 0
                for a, b in zip(block, symbol):
                    total = sums[total][products[a][b]]
                return inside[total]

            return [tuple(contains(block, symbol) for symbol in points) for block in vectors(family)]


def levels(channel: Incidence) -> tuple[tuple[int, int], tuple[int, int]]:
    """(I-, I+) and (O-, O+)."""

    def level(inside: bool) -> tuple[int, int]:
        chance = channel.coin if inside else MASS - channel.coin
        match channel.family:
            case Subsets(size):
                drawn = size - inside
                left = INDEX - sum(range(channel.symbols - drawn, channel.symbols))
                value = chance * ((channel.symbols - size) if inside else size) * 2**24
                return value * left // INDEX, -(-value * INDEX // left)
            case family:
                kind = replication(family) if inside else block_count(family) - replication(family)
                return chance * (INDEX // kind), chance * -(-INDEX // kind)

    return level(True), level(False)


def columns(channel: Incidence, up: bool) -> list[tuple[int, ...]]:
    """The likelihoods of every block by input, from above or from below."""
    within, without = (level[up] for level in levels(channel))
    return [tuple(within if inside else without for inside in block) for block in incidences(channel)]
