"""Random sequences of policies about one datum, and consents on, one unit below and one unit above what they attain."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from random import Random

import draw
import rules
from boundary import Odds, legal_claims, loose, odds_near, placed, placed_delta
from exact import Column, Exact, fall, ldp, rise, secret_column
from logs import ODDS_MAX, UNBOUNDED, UNIT, Nats, ln_up, print_units
from policy import Alphabet, Bits, Claim, Policy, Provenance, outputs_of
from sequence import Consent, Frame, Release, Standing, aligned, frames_of

TRANSCRIPTS_MAX = 600
MAPS_TRIED = 12
SECRETS = ("S", "T", "a=b", "é:1")


def shape_of(policy: Policy) -> str:
    """The shape of a policy's channel by its name."""
    return type(policy.channel).__name__.lower()


def shared_alphabets(rng: Random, size: int, count: int) -> list[Alphabet]:
    """Alphabets of the same symbols; names come in any order."""
    kind = rng.choice(("names", "names", "indices", "points", "bins"))
    first = draw.alphabet(rng, size, kind)
    if kind != "names":
        return [first] * count
    return [rules.names(rng.sample(first.names, size)) for _ in range(count)]


def alphabets(rng: Random, count: int) -> list[Alphabet]:
    """One alphabet for each of `count` policies: of one frame, or of several."""
    if rng.random() < 0.7:
        return shared_alphabets(rng, rng.randrange(1, 5), count)
    small = [draw.alphabet(rng, rng.randrange(1, 4)) for _ in range(count)]
    if count > 2 and rng.random() < 0.5:
        small[:2] = shared_alphabets(rng, small[0].size, 2)
        rng.shuffle(small)
    return small


def draft(rng: Random, symbols: Alphabet, shape: str, outputs: int) -> Policy:
    """A policy over the given symbols that claims nothing yet."""
    named = draw.alphabet(rng, outputs) if outputs != symbols.size else None
    channel = draw.channel(rng, shape, symbols.size, outputs)
    context = draw.context(rng, rng.choice(draw.CONTEXTS), symbols.size, rng.choice(SECRETS))
    return Policy(symbols, named, channel, context, (), Provenance())


def drafts(rng: Random) -> list[Policy]:
    """Policies that claim nothing yet: mostly a few small ones, some of many bits, some of many releases."""
    style = rng.random()
    if style < 0.04:
        first, last = shared_alphabets(rng, rng.randrange(6, 10), 2)
        return [draft(rng, first, "bits", first.size), draft(rng, last, "table", rng.randrange(1, 3))]
    if style < 0.08:
        many = shared_alphabets(rng, rng.randrange(2, 4), rng.randrange(5, 9))
        return [draft(rng, symbols, "table", 2) for symbols in many]
    found = []
    for symbols in alphabets(rng, rng.choice((1, 2, 2, 2, 2, 2, 3, 3, 3, 4))):
        shape = rng.choice(draw.SHAPES)
        found.append(draft(rng, symbols, shape, rng.randrange(1, 5) if shape == "table" else symbols.size))
    if prod(outputs_of(policy.channel) for policy in found) > TRANSCRIPTS_MAX:
        return drafts(rng)
    return found


def joint_claim(rng: Random, policy: Policy, exact: Exact, frame: Frame) -> Claim:
    """A claim that the policy may try to make, placed where all answers together bring it to its boundary."""
    notion, about, has_delta = rng.choice(legal_claims(shape_of(policy), policy.context))
    if has_delta and rng.random() < 0.2:
        return placed(exact, rng, (notion, about, True), "on")
    if notion == "di":
        if rng.random() < 0.2:
            return placed(exact, rng, (notion, about, False), "on")
        notion = "ldp"
    alone = {side: value for side, value, _ in exact.sides(Claim(notion, about, (ODDS_MAX, 1), (ODDS_MAX, 1)))}
    tight = rng.choice(list(alone))
    odds: dict[str, Odds] = {}
    for side, attained in frame.sides(policy, notion, about).items():
        place = rng.choice(("on", "below")) if side == tight and rng.random() < 0.7 else rng.choice(("on", "loose"))
        odds[side] = loose(rng, attained) if place == "loose" else odds_near(attained, place)
        if odds[side][0] < alone[side] * odds[side][1]:
            odds[side] = odds_near(alone[side], "on")
    if notion == "ldp":
        return Claim(notion, about, odds["ldp"], odds["ldp"])
    if notion == "lip":
        larger = max(odds.values(), key=lambda pair: pair[0] / pair[1])
        return Claim(notion, about, larger, larger)
    return Claim(notion, about, odds["lower"], odds["upper"])


def with_claims(rng: Random, policy: Policy, frame: Frame) -> Policy | None:
    """The policy with one or two true claims; None if none was found."""
    exact = Exact(policy)
    for _ in range(8):
        claims = tuple(joint_claim(rng, policy, exact, frame) for _ in range(rng.choice((1, 1, 2))))
        found = replace(policy, claims=claims)
        if Exact(found).refusal() is None:
            return found
    if isinstance(policy.channel, Bits):
        return None
    everything = placed_delta(exact, rng, Claim("ldp", "input", (2, 1), (2, 1)), True)
    found = replace(policy, claims=(everything,))
    return found if Exact(found).refusal() is None else None


def sequence(rng: Random) -> list[Policy]:
    """Policies whose claims are true, each by itself."""
    while True:
        plain = drafts(rng)
        frames = frames_of([Release(policy) for policy in plain[:-1]], plain[-1])
        found = []
        for policy in plain:
            frame = next(one for one in frames if policy.inputs.frame() == one.policies[0].inputs.frame())
            found.append(with_claims(rng, policy, frame))
        claimed = [policy for policy in found if policy is not None]
        if len(claimed) == len(plain):
            return claimed


def consent_near(rng: Random, found: Standing) -> Consent:
    """Limits on, one unit below and one unit above what is attained, and some at random."""

    def limit(level: Nats) -> int:
        if level == UNBOUNDED or rng.random() < 0.1:
            return rng.choice((0, 1, UNIT, 50 * UNIT))
        return max(0, int(level) + rng.choice((-1, -1, 0, 0, 1)))

    limit_ldp = limit(found.ldp) if rng.random() < 0.5 else None
    limit_lip = limit(found.ldp if found.lip is None else found.lip) if rng.random() < 0.6 else None
    secrets = {name: limit(level) for name, level in found.secrets.items() if rng.random() < 0.7}
    if rng.random() < 0.2:
        secrets["undeclared"] = limit(found.ldp)
    return Consent(limit_ldp, limit_lip, secrets)


def refined(rng: Random, policies: Sequence[Policy], frame: Frame) -> list[list[Column]]:
    """Transcripts of all policies over the symbols of one frame, for several maps from these to the other symbols.

    A map says which symbol of another alphabet goes with each symbol of this one: a datum that is known under both.
    """
    outside = [policy for policy in policies if policy.inputs.frame() != frame.policies[0].inputs.frame()]
    groups = list({policy.inputs.frame(): policy.inputs for policy in outside}.values())
    size = len(frame.labels)
    every = [list(itertools.product(range(group.size), repeat=size)) for group in groups]
    count = prod(len(maps) for maps in every)
    chosen = (
        itertools.product(*every)
        if count <= 4 * MAPS_TRIED
        else ([rng.choice(maps) for maps in every] for _ in range(MAPS_TRIED))
    )
    found = []
    for maps in chosen:
        transcripts: list[Column] = [tuple(1 for _ in frame.labels)]
        for policy in policies:
            if policy in frame.policies:
                columns = aligned(policy, frame.labels)
            else:
                group = next(at for at, one in enumerate(groups) if one.frame() == policy.inputs.frame())
                columns = [tuple(column[z] for z in maps[group]) for column in aligned(policy, groups[group].labels())]
            joint = (tuple(a * b for a, b in zip(left, right)) for left in transcripts for right in columns)
            transcripts = [column for column in dict.fromkeys(joint) if any(column)]
        found.append(transcripts)
    return found


def unsound(rng: Random, policies: Sequence[Policy], bound: Standing) -> list[str]:
    """Where the levels of a standing are below what some datum of several alphabets really tells."""
    problems = []

    def check(what: str, reached: Nats, limit: Nats | None) -> None:
        if limit is None or reached > limit:
            said = "nothing" if limit is None else print_units(limit)
            problems.append(
                f"unsound {what}: a datum of several alphabets reaches {print_units(reached)}, the bound is {said}"
            )

    for frame in frames_of([Release(policy) for policy in policies[:-1]], policies[-1]):
        for transcripts in refined(rng, policies, frame):
            check("ldp", ln_up(ldp(transcripts)), bound.ldp)
            for policy in frame.policies:
                for belief in frame.beliefs(policy):
                    check("lip", ln_up(max(rise(transcripts, belief), fall(transcripts, belief))), bound.lip)
                if policy.context.kind == "secret":
                    columns = [secret_column(frame.laws(policy), column) for column in transcripts]
                    check("secret", ln_up(ldp(columns)), bound.secrets.get(policy.context.name))
    return problems


def label(policies: Sequence[Policy]) -> str:
    """Shapes in order, and whether they are of one frame."""
    frames = {policy.inputs.frame() for policy in policies}
    return "+".join(shape_of(policy) for policy in policies) + ("" if len(frames) == 1 else f" in {len(frames)} frames")
