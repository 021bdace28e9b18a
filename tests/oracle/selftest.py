"""Tests of the oracle itself: its arithmetic against other ways to the same number, and that it notices planted errors.

The answers are rendered by the oracle, so that no binary is needed: unchanged they must be found right, changed they
must be found wrong. Each planted error must be reported wherever it makes a difference; see `MAY_PASS` for the
exceptions. One that never makes a difference is an error of the self-test.
"""

from __future__ import annotations

import decimal
import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random

import canonical
import document
import draw
import plants
from boundary import boundary_policy
from compare import Answer, compare_policy, compare_together, truth_of
from exact import Belief, Exact
from logs import ODDS_MAX, UNIT, exp_up, ln_up, neighbours
from mutants import mutant_text
from policy import MASS, WEIGHT, Policy
from sequence import Consent, Frame, Standing
from together import consent_near, sequence

POLICIES = 120
SEQUENCES = 60
MAY_PASS = (
    "misread: ",
    "joined: ",
    "answer: high and low",
    "answer: the prior of the cell",
    "answer together: bounds",
    "answer together: lip is missing",
)
"""Errors that need only be noticed in half of the cases they change.

The cell of a refusal may be another one that ties; a wrong reading may change nothing but that; bounds may be called
exact where nothing is missing; and null stands for no bound as well as for no context.
"""


class Tally:
    """How often each planted error changed an answer, and how often that went unnoticed."""

    def __init__(self) -> None:
        self.made: dict[str, int] = {}
        self.unnoticed: dict[str, int] = {}
        self.failures: list[str] = []

    def plant(self, name: str, right: Answer, wrong: Answer | None, compare: Callable[[Answer], list[str]]) -> None:
        """One planted error: nothing, if it leaves the answer as it was."""
        self.made.setdefault(name, 0)
        if wrong is None or (wrong.code, wrong.json) == (right.code, right.json):
            return
        self.made[name] += 1
        if not compare(wrong):
            self.unnoticed[name] = self.unnoticed.get(name, 0) + 1

    def check(self, what: str, holds: bool) -> None:
        """One thing that must hold."""
        if not holds:
            self.failures.append(what)

    def problems(self) -> list[str]:
        """Everything that is wrong with the oracle."""
        never = [f"planted, but it never made a difference: {name}" for name, count in self.made.items() if not count]
        missed = [
            f"planted {self.made[name]} times, unnoticed {count} times: {name}"
            for name, count in self.unnoticed.items()
            if not name.startswith(MAY_PASS) or 2 * count > self.made[name]
        ]
        return self.failures + never + missed


def check_logs(tally: Tally, rng: Random) -> None:
    """Logarithms and exponentials against the decimal module, and that neighbouring fractions have determinant one."""
    context = decimal.Context(prec=60)
    unit = decimal.Decimal(UNIT)
    for _ in range(200):
        bits = rng.choice((4, 32, 90, 400))
        value = 1 + Fraction(rng.randrange(1, 2**bits), rng.randrange(1, 2 ** rng.choice((4, 32, 90))))
        exactly = context.ln(context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator)))
        units = context.multiply(exactly, unit)
        tally.check(f"ln_up({value})", 0 <= decimal.Decimal(ln_up(value)) - units < 1)
        nats = rng.randrange(1, 40 * UNIT)
        power = context.multiply(context.exp(context.divide(decimal.Decimal(nats), unit)), decimal.Decimal(2**64))
        tally.check(f"exp_up({nats})", 0 <= decimal.Decimal(int(exp_up(nats) * 2**64)) - power < 1)
        target = 1 + Fraction(rng.randrange(1, 2**40), rng.randrange(1, 2**40))
        if target < ODDS_MAX:
            low, high = neighbours(partial(_below, target))
            beside = high[0] * low[1] - low[0] * high[1] == 1
            ends = Fraction(*low) < target <= Fraction(*high)
            full = low[0] + high[0] > ODDS_MAX or low[1] + high[1] > ODDS_MAX
            tally.check(f"neighbours of {target}", beside and ends and full)


def _below(target: Fraction, n: int, d: int) -> bool:
    return n * target.denominator < target.numerator * d


def check_extremes(tally: Tally, rng: Random) -> None:
    """Mixtures over a box by its corners and by filling, and secrets by all subsets and by prefixes."""
    for _ in range(200):
        size = rng.randrange(1, 7)
        context = draw.box(rng, size)
        belief = Belief(context.lower, context.upper, WEIGHT)
        column = draw.simplex(rng, size, MASS)
        tally.check("the least mixture of a box", belief.least(column) == belief.least_greedy(column))
        tally.check("the greatest mixture of a box", belief.greatest(column) == belief.greatest_greedy(column))
        high, low = draw.simplex(rng, size, WEIGHT), draw.simplex(rng, size, WEIGHT)
        tally.check("prefixes hold the worst subset", _worst(high, low, False) == _worst(high, low, True))


def _worst(high: tuple[int, ...], low: tuple[int, ...], prefixes: bool) -> Fraction:
    frame = Frame(tuple(range(len(high))), [], [])
    subsets = frame.prefixes(high, low) if prefixes else frame.subsets(high, low)
    values = [(WEIGHT + 5 * sum(high[x] for x in one), WEIGHT + 5 * sum(low[x] for x in one)) for one in subsets]
    return max(Fraction(top, bottom) for top, bottom in values)


def check_bytes(tally: Tally, policy: Policy) -> None:
    """Both writers and readers, there and back."""
    tally.check("JSON there and back", document.read(json.dumps(document.write(policy))) == policy)
    back = canonical.read(canonical.write(policy))
    tally.check("bytes there and back", canonical.write(back) == canonical.write(policy))


def plant_in_policy(tally: Tally, policy: Policy) -> None:
    """All planted errors about one policy."""
    text = json.dumps(document.write(policy))
    identity = canonical.policy_id(policy)
    truth = truth_of(text)

    def compare(answer: Answer) -> list[str]:
        return compare_policy(truth, answer)

    right = plants.verify_answer(policy, identity)
    tally.check(f"a right answer is found wrong: {compare(right)} {text}", not compare(right))
    for name, change in plants.CHANGED_VERDICTS.items():
        tally.plant(f"answer: {name}", right, plants.changed(right, change), compare)
    tally.plant("answer: the exit code is turned round", right, Answer(1 - right.code, right.json), compare)
    tally.plant("answer: a good document is called unreadable", right, Answer(1, {"error": "json"}), compare)
    for name, misread in plants.MISREAD.items():
        tally.plant(f"misread: {name}", right, plants.verify_answer(misread(policy), identity), compare)
    for rule in (plants.OnlyLoneBits, plants.DeltaOfBothSides):
        tally.plant(f"rule: {rule.__name__}", right, plants.verify_answer(policy, identity, rule(policy)), compare)
    tally.plant(
        "rule: ln_nearest", right, plants.verify_answer(policy, identity, Exact(policy), plants.ln_nearest), compare
    )


def plant_in_document(tally: Tally, text: str) -> None:
    """Documents that cannot be read, and a binary that reads them."""
    right = plants.read_answer(text)
    truth = truth_of(text)
    tally.check(f"a right answer is found wrong: {text}", not compare_policy(truth, right))
    accepted = Answer(0, {"verified": True}) if "error" in right.json else None
    tally.plant("answer: a bad document is read", right, accepted, lambda answer: compare_policy(truth, answer))


def plant_in_sequence(tally: Tally, rng: Random) -> None:
    """All planted errors about one sequence."""
    policies = sequence(rng)
    found = plants.joined(policies)
    consent = consent_near(rng, found)

    def compare(answer: Answer) -> list[str]:
        return compare_together(policies, consent, answer, found)

    def told(standing: Standing, limits: Consent = consent) -> Answer:
        return plants.together_answer(policies, limits, standing)

    right = told(found)
    tally.check(f"a right answer is found wrong: {compare(right)}", not compare(right))
    for name, change in plants.CHANGED_TOGETHER.items():
        tally.plant(f"answer together: {name}", right, plants.changed(right, change), compare)
    for name, misjoined in plants.MISJOINED.items():
        tally.plant(f"joined: {name}", right, told(plants.joined(misjoined(policies))), compare)
    tally.plant("joined: each by itself", right, told(plants.each_by_itself(policies, found)), compare)
    tally.plant("joined: costs are added up", right, told(plants.summed(policies, found)), compare)
    tightened = told(found, plants.tighter(rng, consent))
    same_texts = Answer(tightened.code, {**tightened.json, "together": {**tightened.json["together"]}})
    tally.plant(
        "consent: one unit less than was agreed to",
        right,
        same_texts if tightened.code != right.code else None,
        compare,
    )


def run() -> list[str]:
    """What is wrong with the oracle; nothing, it is to be hoped."""
    tally = Tally()
    rng = Random("self-test")
    check_logs(tally, rng)
    check_extremes(tally, rng)
    for _ in range(POLICIES):
        policy = boundary_policy(rng)
        check_bytes(tally, policy)
        plant_in_policy(tally, policy)
        plant_in_document(tally, mutant_text(rng)[0])
    for _ in range(SEQUENCES):
        plant_in_sequence(tally, rng)
    return tally.problems()
