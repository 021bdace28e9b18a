"""Random policies without claims: every shape, context and alphabet, with noughts, certainties and single units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import rules
from policy import (
    KEEP,
    MASS,
    WEIGHT,
    Alphabet,
    Bits,
    Channel,
    Context,
    Decimal,
    Geometry,
    Incidence,
    Keep,
    Listed,
    Policy,
    Provenance,
    Subsets,
    Table,
)

SHAPES = ("table", "keep", "bits")
"""The shapes that sequences are made of."""
ALL_SHAPES = (*SHAPES, "incidence")
CONTEXTS = ("unknown", "prior", "priors", "box", "secret")
WORDS = (
    "yes",
    "no",
    "maybe",
    "often",
    "ä",
    "a b",
    '"',
    "\\",
    "0",
    "1",
    "never",
    "ß\n",
    "日本",
    "é",
    "none",
    "=",
    ":",
    "x" * 40,
)


def simplex(rng: Random, size: int, one: int, noughts: bool = True) -> tuple[int, ...]:
    """`size` non-negative integers that sum to `one`, in one of several styles."""
    style = rng.choice(
        ("round", "round", "round", "any", "any", "unit", "point", "sparse")
        if noughts
        else ("round", "round", "any", "unit")
    )
    if size == 1:
        return (one,)
    if style == "round":
        parts = rng.choice((8, 16, 32))
        while parts < size:
            parts *= 2
        cuts = sorted(rng.sample(range(1, parts), size - 1))
        return tuple((b - a) * (one // parts) for a, b in zip([0, *cuts], [*cuts, parts]))
    if style == "any":
        cuts = sorted(rng.sample(range(1, one), size - 1))
        return tuple(b - a for a, b in zip([0, *cuts], [*cuts, one]))
    heavy = rng.randrange(size)
    if style == "unit":
        return tuple(one - (size - 1) if x == heavy else 1 for x in range(size))
    if style == "point":
        return tuple(one if x == heavy else 0 for x in range(size))
    kept = rng.sample(range(size), rng.randrange(1, size + 1))
    some = simplex(rng, len(kept), one, noughts=False)
    found = [0] * size
    for x, value in zip(kept, some):
        found[x] = value
    return tuple(found)


def near(rng: Random, base: Sequence[int], one: int) -> tuple[int, ...]:
    """A distribution whose masses are mostly within a small factor of those of `base`."""
    other = simplex(rng, len(base), one)
    share = rng.randrange(1, 8)
    found = [(b * (8 - share) + o * share) // 8 for b, o in zip(base, other)]
    found[rng.randrange(len(found))] += one - sum(found)
    return tuple(found)


def probability(rng: Random, one: int) -> int:
    """A probability in units of 1/one: an end, next to one, round, or any."""
    pick = rng.randrange(10)
    if pick == 0:
        return rng.choice((0, one))
    if pick == 1:
        return rng.choice((1, one - 1))
    if pick < 7:
        return rng.randrange(1, 16) * (one // 16)
    return rng.randrange(1, one)


def channel(rng: Random, shape: str, size: int, outputs: int) -> Channel:
    """A channel of the given shape; only a table has another number of outputs than of inputs."""
    match shape:
        case "table":
            if rng.random() < 0.2:
                return rules.table([simplex(rng, outputs, MASS) for _ in range(size)])
            base = simplex(rng, outputs, MASS, noughts=rng.random() < 0.2)
            return rules.table([near(rng, base, MASS) for _ in range(size)])
        case "keep":
            same = probability(rng, KEEP)
            kept = [same if rng.random() < 0.3 else probability(rng, KEEP) for _ in range(size)]
            return rules.keep(kept, simplex(rng, size, MASS))
        case "incidence":
            return rules.incidence(size, probability(rng, MASS), family(rng, size))
    return rules.bits(size, probability(rng, WEIGHT), probability(rng, WEIGHT))


def family(rng: Random, size: int) -> Subsets | Geometry | Listed:
    """A family of blocks with room for so many symbols, which are at least two."""
    match rng.choice(("subsets", "geometry", "geometry", "hashing", "listed")):
        case "subsets":
            return Subsets(rng.randrange(1, size))
        case "listed":
            every = range(size)
            lists = [[x for x in every if x != left] for left in every]
            lists += rng.choice(([], [[]], [list(every)], [[], list(every)])) if size > 2 else [[], list(every)]
            rng.shuffle(lists)
            return rules.listed(size, lists)
        case kind:
            order, classes = rng.choice(((2, 1), (3, 2), (4, 3), (5, 2), (5, 4), (7, 3), (8, 7), (9, 4), (16, 5), (25, 3)))
            dimension = 4 if order == 2 else 3 if order < 6 else 2
            if kind == "hashing":
                return rules.geometry(order, dimension, 1, 0, True, hashing=True)
            zero = rng.random() < 0.5
            cosets = rng.randrange(0 if zero else 1, classes if zero else classes + 1)
            return rules.geometry(order, dimension, classes, cosets, zero)


def box(rng: Random, size: int) -> Context:
    """A box around a prior, with some ends at nought, at one, and above one."""
    middle = simplex(rng, size, WEIGHT)
    widths = [rng.choice((0, 1, WEIGHT // 16, WEIGHT // 4, WEIGHT, 2 * WEIGHT)) for _ in range(2 * size)]
    lower = [max(0, weight - width) for weight, width in zip(middle, widths)]
    upper = [weight + width for weight, width in zip(middle, widths[size:])]
    return rules.context_box(lower, upper)


def context(rng: Random, kind: str, size: int, name: str | None = None) -> Context:
    """A context of the given kind."""
    match kind:
        case "prior":
            return rules.context_prior(simplex(rng, size, WEIGHT))
        case "priors":
            return rules.context_priors([simplex(rng, size, WEIGHT) for _ in range(rng.randrange(1, 4))])
        case "box":
            return box(rng, size)
        case "secret":
            values = rng.randrange(1, 4)
            rows = [simplex(rng, size, WEIGHT) for _ in range(values)]
            return rules.context_secret(name or rng.choice(WORDS), simplex(rng, values, WEIGHT), rows)
    return Context("unknown")


def decimals(rng: Random, count: int) -> list[Decimal]:
    """Increasing decimals of several scales."""
    scale = rng.choice((0, 0, 1, 2, 9))
    values = sorted(rng.sample(range(-(10**6), 10**6), count))
    return [rules.decimal(value, scale) for value in values]


def alphabet(rng: Random, size: int, kind: str | None = None) -> Alphabet:
    """An alphabet of the given or of any kind."""
    match kind or rng.choice(("indices", "indices", "names", "points", "bins")):
        case "names":
            return rules.names(rng.sample(WORDS, size))
        case "points":
            return rules.points(decimals(rng, size))
        case "bins":
            edges = decimals(rng, size + 1)
            return rules.bins(edges, [rng.choice(ends) for ends in zip(edges, edges[1:])])
    return rules.indices(size)


def provenance(rng: Random) -> Provenance:
    """Mostly none."""
    if rng.random() < 0.8:
        return Provenance()
    confidence = rng.choice((None, rules.decimal(95, 2), rules.decimal(1, 0)))
    return rules.provenance(
        rng.choice(("", "round 1", "Zürich")), rng.randrange(2**53), "2026-02-28", confidence, rng.randrange(2**20)
    )


def draft(rng: Random, shape: str, kind: str, size: int) -> Policy:
    """A policy that claims nothing yet."""
    outputs = size
    if shape == "table" and rng.random() < 0.4:
        outputs = rng.randrange(1, 6)
    symbols = alphabet(rng, size)
    named = alphabet(rng, outputs) if outputs != size or (shape == "table" and rng.random() < 0.1) else None
    return Policy(symbols, named, channel(rng, shape, size, outputs), context(rng, kind, size), (), provenance(rng))


def nudged(rng: Random, policy: Policy) -> Policy:
    """The policy with one unit moved: of the mass of a row, of a probability of keeping, of the bits, or of the coin."""

    def moved(values: Sequence[int]) -> tuple[int, ...]:
        found = list(values)
        givers = [at for at, value in enumerate(found) if value]
        giver, taker = rng.choice(givers), rng.randrange(len(found))
        found[giver] -= 1
        found[taker] += 1
        return tuple(found)

    def stepped(value: int, one: int) -> int:
        return min(one, max(0, value + rng.choice((-1, 1))))

    match policy.channel:
        case Table(masses):
            row = rng.randrange(len(masses))
            return replace(
                policy, channel=Table(tuple(moved(one) if x == row else one for x, one in enumerate(masses)))
            )
        case Keep(kept, base):
            if rng.random() < 0.5:
                return replace(policy, channel=Keep(kept, moved(base)))
            row = rng.randrange(len(kept))
            return replace(
                policy, channel=Keep(tuple(stepped(k, KEEP) if x == row else k for x, k in enumerate(kept)), base)
            )
        case Bits(symbols, own, other):
            if rng.random() < 0.5:
                return replace(policy, channel=Bits(symbols, stepped(own, WEIGHT), other))
            return replace(policy, channel=Bits(symbols, own, stepped(other, WEIGHT)))
        case Incidence(symbols, coin, blocks):
            return replace(policy, channel=Incidence(symbols, stepped(coin, MASS), blocks))
