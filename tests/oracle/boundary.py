"""Policies on, just inside and just outside the boundary of their claims.

The oracle finds the exact ratio or delta that a random channel attains; the claim is then placed at it, at the next
odds below or above that two 32-bit integers can express, or one unit of delta or of mass away. What the verdict must be
is computed afterwards, from the finished document alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import canonical
import document
import draw
from exact import Exact
from logs import ODDS_MAX, UNBOUNDED, Ratio, ceil_div, neighbours
from policy import MASS, Bits, Claim, Context, Policy

Odds = tuple[int, int]


def legal_claims(shape: str, context: Context) -> list[tuple[str, str, bool]]:
    """Every notion, subject and use of a delta that a policy of this shape and context may claim."""
    found = []
    for about in ("input", "secret") if context.kind == "secret" else ("input",):
        for notion in ("ldp",) if context.kind == "unknown" else ("ldp", "lip", "alip"):
            found.append((notion, about, False))
            if shape not in ("bits", "incidence"):
                found.append((notion, about, True))
    if context.kind in ("prior", "priors"):
        found.append(("di", "input", False))
    return found


def odds_near(attained: Ratio, place: str) -> Odds:
    """Legal odds: `on` (the least that allow `attained`), `below` (the next smaller) or `above` (the next larger)."""
    if attained == UNBOUNDED or attained > ODDS_MAX:
        return (ODDS_MAX, 1)
    exactly = Fraction(attained)
    below, on = neighbours(lambda n, d: n * exactly.denominator < exactly.numerator * d)
    if place == "below":
        return below if below[0] >= below[1] else (1, 1)
    if place == "on":
        return on
    above = neighbours(lambda n, d: n * exactly.denominator <= exactly.numerator * d)[1]
    return above if above[1] else (ODDS_MAX, 1)


def loose(rng: Random, attained: Ratio) -> Odds:
    """Odds that allow `attained` with room to spare."""
    if attained == UNBOUNDED or 2 * attained > ODDS_MAX:
        return (ODDS_MAX, 1)
    return odds_near(Fraction(attained) * Fraction(rng.randrange(17, 32), 16), "on")


def unreduced(rng: Random, odds: Odds) -> Odds:
    """The same odds, sometimes not in lowest terms."""
    room = ODDS_MAX // odds[0]
    factor = rng.randrange(1, min(room, 9) + 1) if room and rng.random() < 0.1 else 1
    return odds[0] * factor, odds[1] * factor


def placed_delta(exact: Exact, rng: Random, claim: Claim, inside: bool) -> Claim:
    """The claim at smaller odds than it attains, with the least delta that makes up for it, or one unit less."""
    lower, upper = (
        odds_near(1 + (Fraction(*odds) - 1) * Fraction(rng.randrange(16), 16), "on")
        for odds in (claim.lower, claim.upper)
    )
    weakened = replace(claim, lower=lower if claim.notion == "alip" else upper, upper=upper)
    least = exact.least_delta(weakened)
    units = ceil_div(least.numerator * MASS, least.denominator) - (0 if inside else 1)
    return replace(weakened, delta=min(MASS - 1, max(1, units)))


def placed(exact: Exact, rng: Random, kind: tuple[str, str, bool], place: str) -> Claim:
    """A claim of the given kind at the given place."""
    notion, about, has_delta = kind
    sides = exact.sides(Claim(notion, about, (ODDS_MAX, 1), (ODDS_MAX, 1)))
    attained = {side: value for side, value, _ in sides}
    worst = max(attained.values())
    if has_delta:
        on = odds_near(worst, "on")
        return placed_delta(exact, rng, Claim(notion, about, on, on), place != "below")
    if notion != "alip":
        odds = unreduced(rng, odds_near(worst, place))
        return Claim(notion, about, odds, odds)
    tight = rng.choice(("lower", "upper"))
    pair = {
        side: loose(rng, attained[side]) if rng.random() < 0.5 else odds_near(attained[side], "on") for side in attained
    }
    pair[tight] = odds_near(attained[tight], place)
    return Claim(notion, about, unreduced(rng, pair["lower"]), unreduced(rng, pair["upper"]))


def boundary_policy(rng: Random) -> Policy:
    """A random policy whose claims lie at the boundary of the truth."""
    shape, context = rng.choice(draw.ALL_SHAPES), rng.choice(draw.CONTEXTS)
    size = rng.randrange(1, 9) if shape == "bits" and rng.random() < 0.3 else rng.randrange(1, 6)
    if shape == "incidence":
        size += 1
    policy = draw.draft(rng, shape, context, size)
    exact = Exact(policy)
    kinds = legal_claims(shape, policy.context)
    claims = [placed(exact, rng, rng.choice(kinds), rng.choice(("on", "above"))) for _ in range(_earlier(rng))]
    claims.append(placed(exact, rng, rng.choice(kinds), rng.choice(("on", "on", "below", "below", "above"))))
    policy = replace(policy, claims=tuple(claims))
    return draw.nudged(rng, policy) if rng.random() < 0.3 else policy


def _earlier(rng: Random) -> int:
    """How many claims come before the one that is placed."""
    return rng.choice((0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 15))


def document_of(rng: Random, policy: Policy) -> dict[str, Any]:
    """The document of a policy, sometimes with its id."""
    found = document.write(policy)
    if rng.random() < 0.3:
        found["id"] = canonical.policy_id(policy)
    return found


def label(policy: Policy) -> str:
    """Shape, context and last claim, to see what has been covered."""
    shape = "bits" if isinstance(policy.channel, Bits) else type(policy.channel).__name__.lower()
    claim = policy.claims[-1]
    about = "_of_secret" if claim.about == "secret" else ""
    return f"{shape}_{policy.context.kind}_{claim.notion}{'_delta' if claim.delta else ''}{about}"


def boundary_text(rng: Random) -> tuple[str, str]:
    """The text of a document, and what it covers."""
    policy = boundary_policy(rng)
    return json.dumps(document_of(rng, policy), ensure_ascii=rng.random() < 0.5), label(policy)
