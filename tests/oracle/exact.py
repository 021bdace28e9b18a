"""What a policy attains and whether its claims are true, by listing every output, in exact arithmetic.

Nothing here is clever. A channel is a list of columns, one per output: the likelihoods w(y|x) of all inputs x as
integers over one common denominator. Every definition of the README is a maximum over columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import blocks
from logs import UNBOUNDED, Ratio
from policy import KEEP, MASS, WEIGHT, Bits, Channel, Claim, Context, Incidence, Keep, Policy, Subsets, Table

Column = tuple[int, ...]

BITS_LISTED = 16
VERTICES_LISTED = 6


def patterns(symbols: int) -> Iterator[tuple[int, ...]]:
    """Every pattern of bits, the first bit being the most significant."""
    return itertools.product((0, 1), repeat=symbols)


def columns_of(channel: Channel) -> list[Column]:
    """The likelihoods of every output, by input, over `denominator_of` the channel."""
    match channel:
        case Table(masses):
            return list(zip(*masses))
        case Keep(keep, base):
            return [
                tuple(kept * MASS * (x == y) + (KEEP - kept) * mass for x, kept in enumerate(keep))
                for y, mass in enumerate(base)
            ]
        case Bits(symbols, _, _):
            if symbols > BITS_LISTED:
                raise ValueError(f"the outputs of {symbols} bits are not listed")
            return [pattern_column(channel, pattern) for pattern in patterns(symbols)]
        case Incidence():
            return blocks.columns(channel, up=True)


def pattern_column(channel: Bits, pattern: Sequence[int]) -> Column:
    """The likelihoods of one pattern of bits, by input."""
    found = []
    for x in range(channel.symbols):
        product = 1
        for position, bit in enumerate(pattern):
            probability = channel.own if position == x else channel.other
            product *= probability if bit else WEIGHT - probability
        found.append(product)
    return tuple(found)


def denominator_of(channel: Channel) -> int:
    """The common denominator of the likelihoods of a channel."""
    match channel:
        case Table():
            return MASS
        case Keep():
            return MASS * KEEP
        case Bits(symbols, _, _):
            return 1 << (32 * symbols)
        case Incidence():
            return 1 << 112


@dataclass(frozen=True)
class Belief:
    """A set of priors, `lower` to `upper` in units of 1/one; a single prior has the same ends."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    one: int

    @cached_property
    def vertices(self) -> list[tuple[int, ...]]:
        """The corners of the set: every weight but one is at an end, and that one is what is left."""
        if self.lower == self.upper:
            return [self.lower]
        found = set()
        size = len(self.lower)
        for free in range(size):
            others = [(self.lower[x], self.upper[x]) for x in range(size) if x != free]
            for ends in itertools.product(*others):
                left = self.one - sum(ends)
                if self.lower[free] <= left <= self.upper[free]:
                    found.add((*ends[:free], left, *ends[free:]))
        return sorted(found)

    def _filled(self, order: Sequence[int]) -> list[int]:
        """The prior that gives as much as it can to the first symbols of `order`."""
        found = list(self.lower)
        left = self.one - sum(found)
        for x in order:
            more = min(left, self.upper[x] - found[x])
            found[x] += more
            left -= more
        return found

    def least_greedy(self, column: Sequence[int]) -> int:
        """The least mixture by filling the cheapest symbols first."""
        prior = self._filled(sorted(range(len(column)), key=lambda x: column[x]))
        return sum(weight * mass for weight, mass in zip(prior, column))

    def greatest_greedy(self, column: Sequence[int]) -> int:
        """The greatest mixture by filling the dearest symbols first."""
        prior = self._filled(sorted(range(len(column)), key=lambda x: -column[x]))
        return sum(weight * mass for weight, mass in zip(prior, column))

    def least(self, column: Sequence[int]) -> int:
        """The least of sum P(x) column(x) over the set, times `one`."""
        if len(self.lower) > VERTICES_LISTED and self.lower != self.upper:
            return self.least_greedy(column)
        return min(sum(weight * mass for weight, mass in zip(prior, column)) for prior in self.vertices)

    def greatest(self, column: Sequence[int]) -> int:
        """The greatest of sum P(x) column(x) over the set, times `one`."""
        if len(self.lower) > VERTICES_LISTED and self.lower != self.upper:
            return self.greatest_greedy(column)
        return max(sum(weight * mass for weight, mass in zip(prior, column)) for prior in self.vertices)

    def lightest(self) -> Fraction:
        """The smallest weight that any prior of the set gives to any symbol."""
        size = len(self.lower)
        ones = [tuple(int(x == z) for z in range(size)) for x in range(size)]
        return Fraction(min(self.least(one) for one in ones), self.one)


def single(weights: Sequence[int], one: int) -> Belief:
    """The set of one prior."""
    return Belief(tuple(weights), tuple(weights), one)


def beliefs_of(context: Context) -> list[Belief]:
    """What a context says about the input: the sets of priors a claim must hold for."""
    match context.kind:
        case "unknown":
            return []
        case "box":
            return [Belief(context.lower, context.upper, WEIGHT)]
        case "secret":
            symbols = range(len(context.rows[0]))
            marginal = [sum(p * row[x] for p, row in zip(context.priors[0], context.rows)) for x in symbols]
            return [single(marginal, WEIGHT * WEIGHT)]
    return [single(prior, WEIGHT) for prior in context.priors]


def secret_column(rows: Sequence[Sequence[int]], column: Column) -> Column:
    """The likelihoods of one output by value of the secret, times WEIGHT."""
    return tuple(sum(weight * mass for weight, mass in zip(row, column)) for row in rows)


def ratio(top: int, bottom: int) -> Ratio:
    """top / bottom; without bound over nought, and nought (which is below every level) for 0/0."""
    if top == 0:
        return Fraction(0)
    return Fraction(top, bottom) if bottom else UNBOUNDED


def worst(pairs: Iterable[tuple[int, int]]) -> Ratio:
    """The largest of the ratios top / bottom, at least one; 0/0 is left out."""
    top, bottom = 1, 1
    for high, low in pairs:
        if high and not low:
            return UNBOUNDED
        if high * bottom > top * low:
            top, bottom = high, low
    return Fraction(top, bottom)


# Where likelihoods are known between two ends, `columns` are the upper ones and `floors` the lower ones.


def ldp(columns: Sequence[Column], floors: Sequence[Column] | None = None) -> Ratio:
    """The largest w(y|x) / w(y|x'), at least one."""
    return worst((max(column), min(floor)) for column, floor in zip(columns, floors or columns))


def rise(columns: Sequence[Column], belief: Belief, floors: Sequence[Column] | None = None) -> Ratio:
    """The largest w(y|x) / p_y, at least one."""
    pairs = zip(columns, floors or columns)
    return worst((max(column) * belief.one, belief.least(floor)) for column, floor in pairs)


def fall(columns: Sequence[Column], belief: Belief, floors: Sequence[Column] | None = None) -> Ratio:
    """The largest p_y / w(y|x), at least one."""
    pairs = zip(columns, floors or columns)
    return worst((belief.greatest(column), min(floor) * belief.one) for column, floor in pairs)


def odds_ratio(columns: Sequence[Column], prior: Sequence[int], floors: Sequence[Column] | None = None) -> Ratio:
    """The largest P(x) w(y|x) / (P(x') w(y|x')), at least one."""

    def weighed(listed: Sequence[Column]) -> list[Column]:
        return [tuple(weight * mass for weight, mass in zip(prior, column)) for column in listed]

    return ldp(weighed(columns), weighed(floors or columns))


@dataclass(frozen=True)
class Levels:
    """What is attained about the input or about a secret; `upper` and `lower` are None where nothing is assumed."""

    ldp: Ratio
    upper: Ratio | None
    lower: Ratio | None
    exact: bool = True


@dataclass(frozen=True)
class Refusal:
    """The first false inequality of the first false claim."""

    claim: int
    side: str
    attained: Ratio
    allowed: Fraction


class Exact:
    """One policy with everything listed."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._sides: dict[Claim, list[tuple[str, Ratio, Fraction]]] = {}
        channel = policy.channel
        if isinstance(channel, Bits) and channel.symbols > BITS_LISTED:
            if policy.context.kind != "unknown":
                raise ValueError("too many bits to list under a context")
            # w(y|x) / w(y|x') depends on the bits of x and x' alone: the others have the same law under both.
            channel = Bits(2, channel.own, channel.other)
        self.exact, self.floors = True, None
        if isinstance(channel, Incidence):
            self.exact = all(low == high for low, high in blocks.levels(channel))
            within, without = blocks.levels(channel)
            if policy.context.kind == "unknown":
                # Blocks are not looked at: any two symbols of a geometry are parted, and a list parts some two.
                self.columns, self.floors = [(within[1], without[1])], [(within[0], without[0])]
            else:
                self.columns, self.floors = blocks.columns(channel, up=True), blocks.columns(channel, up=False)
        else:
            self.columns = columns_of(channel)
        self.denominator = denominator_of(channel)
        self.beliefs = beliefs_of(policy.context)
        if policy.context.kind == "secret":
            self.secret_columns = [secret_column(policy.context.rows, column) for column in self._speaking_columns()]
            self.secret_floors = self.floors and [secret_column(policy.context.rows, floor) for floor in self.floors]
            self.secret_beliefs = [single(policy.context.priors[0], WEIGHT)]

    def view(self, about: str) -> tuple[list[Column], int, list[Belief]]:
        """Columns, their denominator and the beliefs: of the input, or of the secret."""
        if about == "secret":
            return self.secret_columns, self.denominator * WEIGHT, self.secret_beliefs
        return self.columns, self.denominator, self.beliefs

    def _speaking_columns(self) -> list[Column]:
        """The columns, but of subsets those that speak for a symbol never less from above than those that do not."""
        channel = self.policy.channel
        if not isinstance(channel, Incidence) or not isinstance(channel.family, Subsets):
            return self.columns
        within, without = blocks.levels(channel)
        speaks, most = within[0] >= without[0], max(within[1], without[1])
        ends = {True: most if speaks else within[1], False: without[1] if speaks else most}
        return [tuple(ends[inside] for inside in block) for block in blocks.incidences(channel)]

    def told(self, about: str) -> Ratio:
        """The largest ratio of two likelihoods of one output, at least one."""
        columns, _, _ = self.view(about)
        floors = self.floors_of(about)
        channel = self.policy.channel
        if about == "input" and isinstance(channel, Incidence):
            (inside_low, inside_high), (outside_low, outside_high) = blocks.levels(channel)
            return worst([(max(inside_high, outside_high), min(inside_low, outside_low))])
        if floors is not None and isinstance(channel, Incidence) and isinstance(channel.family, Subsets):
            values = range(len(columns[0]))
            pairs = [(s, t) for s in values for t in values if s != t]
            return worst((column[s], floor[t]) for column, floor in zip(columns, floors) for s, t in pairs)
        return ldp(columns, floors)

    def floors_of(self, about: str) -> list[Column] | None:
        """The lower ends of likelihoods, where they are known between two."""
        return self.secret_floors if about == "secret" else self.floors

    def subsets_in_a_box(self, about: str) -> bool:
        """Whether masses of subsets are bounded by sums that need not be of one subset."""
        channel = self.policy.channel
        is_subsets = isinstance(channel, Incidence) and isinstance(channel.family, Subsets)
        return is_subsets and about == "input" and self.policy.context.kind == "box"

    def rises(self, about: str) -> Ratio:
        """The largest w(y|x) / p_y over all beliefs."""
        columns, _, beliefs = self.view(about)
        if self.subsets_in_a_box(about):
            return worst((level[1] * WEIGHT, least) for least, _ in self._box_mixtures() for level in self._levels())
        return max(rise(columns, belief, self.floors_of(about)) for belief in beliefs)

    def falls(self, about: str) -> Ratio:
        """The largest p_y / w(y|x) over all beliefs."""
        columns, _, beliefs = self.view(about)
        if self.subsets_in_a_box(about):
            return worst((most, level[0] * WEIGHT) for _, most in self._box_mixtures() for level in self._levels())
        return max(fall(columns, belief, self.floors_of(about)) for belief in beliefs)

    def _levels(self) -> tuple[tuple[int, int], tuple[int, int]]:
        assert isinstance(self.policy.channel, Incidence)
        return blocks.levels(self.policy.channel)

    def _box_mixtures(self) -> list[tuple[int, int]]:
        """p-(M) and p+(M) at both ends of the masses that subsets may have under a box."""
        assert isinstance(self.policy.channel, Incidence) and isinstance(self.policy.channel.family, Subsets)
        size = self.policy.channel.family.size
        lower, upper = sorted(self.policy.context.lower), sorted(self.policy.context.upper)
        rest = len(lower) - size
        least = max(sum(lower[:size]), WEIGHT - min(WEIGHT, sum(upper[len(upper) - rest :])))
        most = min(sum(upper[rest:]), WEIGHT - sum(lower[:rest]))
        within, without = self._levels()
        return [
            (within[0] * mass + without[0] * (WEIGHT - mass), within[1] * mass + without[1] * (WEIGHT - mass))
            for mass in (least, most)
        ]

    def levels(self, about: str) -> Levels:
        """What is attained, whatever is claimed."""
        _, _, beliefs = self.view(about)
        exact = self.exact and not self.subsets_in_a_box(about)
        if not beliefs:
            return Levels(self.told(about), None, None, exact)
        return Levels(self.told(about), self.rises(about), self.falls(about), exact)

    def rising_sum(self, claim: Claim, belief: Belief, x: int) -> Fraction:
        """sum over y of the positive part of w(y|x) - U p_y, with the least p_y of the set."""
        columns, denominator, _ = self.view(claim.about)
        n, d = claim.upper
        total = sum(max(0, column[x] * belief.one * d - n * belief.least(column)) for column in columns)
        return Fraction(total, denominator * belief.one * d)

    def falling_sum(self, claim: Claim, belief: Belief, x: int) -> Fraction:
        """sum over y of the positive part of p_y - L w(y|x), with the greatest p_y of the set."""
        columns, denominator, _ = self.view(claim.about)
        n, d = claim.lower
        total = sum(max(0, belief.greatest(column) * d - n * column[x] * belief.one) for column in columns)
        return Fraction(total, denominator * belief.one * d)

    def ldp_sum(self, claim: Claim, x: int, other: int) -> Fraction:
        """sum over y of the positive part of w(y|x) - E w(y|x')."""
        columns, denominator, _ = self.view(claim.about)
        n, d = claim.upper
        return Fraction(sum(max(0, column[x] * d - n * column[other]) for column in columns), denominator * d)

    def least_delta(self, claim: Claim) -> Fraction:
        """The least delta with which the claim holds at its odds."""
        columns, _, beliefs = self.view(claim.about)
        inputs = range(len(columns[0]))
        if claim.notion == "ldp":
            return max(self.ldp_sum(claim, x, other) for x in inputs for other in inputs)
        rising = max(self.rising_sum(claim, belief, x) for belief in beliefs for x in inputs)
        return max(rising, max(self.falling_sum(claim, belief, x) for belief in beliefs for x in inputs))

    def delta_is_bound(self, claim: Claim) -> bool:
        """Whether the least delta is only an upper bound: the worst prior of a box differs from output to output."""
        return self.policy.context.kind == "box" and claim.notion in ("lip", "alip")

    def deltas(self) -> list[tuple[Fraction, bool] | None]:
        """For each claim None if it is pure, else its least delta and whether that is a bound."""
        return [
            (self.least_delta(claim), self.delta_is_bound(claim)) if claim.delta else None
            for claim in self.policy.claims
        ]

    def sides(self, claim: Claim) -> list[tuple[str, Ratio, Fraction]]:
        """Each inequality of a claim: its name, what is attained, and what is allowed."""
        if claim not in self._sides:
            self._sides[claim] = self._listed_sides(claim)
        return self._sides[claim]

    def _listed_sides(self, claim: Claim) -> list[tuple[str, Ratio, Fraction]]:
        columns, _, beliefs = self.view(claim.about)
        lower, upper = Fraction(*claim.lower), Fraction(*claim.upper)
        if claim.delta:
            return [("delta", self.least_delta(claim), Fraction(claim.delta, MASS))]
        match claim.notion:
            case "ldp":
                return [("ldp", self.told(claim.about), upper)]
            case "di":
                return [("di", max(odds_ratio(columns, belief.lower, self.floors) for belief in beliefs), upper)]
        return [("upper", self.rises(claim.about), upper), ("lower", self.falls(claim.about), lower)]

    def refusal(self) -> Refusal | None:
        """None if every claim is true."""
        for index, claim in enumerate(self.policy.claims):
            for side, attained, allowed in self.sides(claim):
                if attained > allowed:
                    return Refusal(index, side, attained, allowed)
        return None

    def _columns_named(self, about: str, output: int | None) -> list[Column]:
        """The columns that the `output` of a cell may stand for."""
        columns, _, _ = self.view(about)
        channel = self.policy.channel
        if isinstance(channel, Incidence) and isinstance(channel.family, Subsets):
            return columns
        if not isinstance(channel, Bits):
            return [columns[output]] if output is not None else []
        if output is None:
            return columns
        lone = tuple(int(x == output) for x in range(channel.symbols))
        listed = list(patterns(channel.symbols))
        return [columns[listed.index(pattern)] for pattern in (lone, tuple(1 - bit for bit in lone))]

    def value_at(
        self, claim: Claim, side: str, output: int | None, high: int | None, low: int | None, prior: int | None
    ) -> set[Ratio]:
        """The values that are reached at a cell, as a refusal names one; empty if that is no cell of this side."""
        _, _, beliefs = self.view(claim.about)
        listed = self.policy.context.kind == "priors" and claim.notion != "ldp"
        if (prior is not None) != listed:
            return set()
        belief = beliefs[prior or 0] if beliefs else None
        if side == "delta":
            if output is not None:
                return set()
            if claim.notion == "ldp":
                return {self.ldp_sum(claim, high, low)} if high is not None and low is not None else set()
            assert belief is not None
            if (high is None) == (low is None):
                return set()
            return {
                self.rising_sum(claim, belief, high) if high is not None else self.falling_sum(claim, belief, low or 0)
            }
        named = self._columns_named(claim.about, output)
        match side:
            case "ldp" if high is not None and low is not None:
                return {ratio(column[high], column[low]) for column in named}
            case "di" if high is not None and low is not None and belief is not None:
                weights = belief.lower
                return {ratio(weights[high] * column[high], weights[low] * column[low]) for column in named}
            case "upper" if high is not None and low is None and belief is not None:
                return {ratio(column[high] * belief.one, belief.least(column)) for column in named}
            case "lower" if low is not None and high is None and belief is not None:
                return {ratio(belief.greatest(column), column[low] * belief.one) for column in named}
        return set()
