"""Asks the command line about policies and sequences, and holds its answers against the oracle's.

The binary's JSON is read with its numbers as exact decimals. A number field without bound may be null or text.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import canonical
import document
from exact import Exact, Levels, Refusal, denominator_of
from logs import UNBOUNDED, UNIT, Nats, Ratio, ln_up, print_units
from policy import Bits, Incidence, Policy, Refused
from sequence import Consent, Release, Standing, cost_of, met, standing
from vectors import print_ratio

TIMEOUT_SECONDS = 60
EXACT_BITS = 160
"""A reader may round likelihoods outward to this many bits."""
MIXTURE_BITS = 64
"""The prior of a secret's inputs is a product of two weights of 32 bits."""
DELTA_SLACK = Fraction(1, 10**9)
"""A printed delta is at least the exact one and at most this above it."""


@dataclass(frozen=True)
class Answer:
    """What the binary said: its exit code and its JSON, None if it printed none."""

    code: int
    json: Any


def parse_answer(code: int, text: str) -> Answer:
    """Reads the binary's output."""
    try:
        return Answer(code, json.loads(text, parse_float=Fraction))
    except ValueError:
        return Answer(code, None)


def ask(binary: str, arguments: Sequence[str], given: str | None = None) -> Answer:
    """Runs the binary once."""
    done = subprocess.run(
        [binary, "policy", "verify", "--json", *arguments],
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_SECONDS,
    )
    return parse_answer(done.returncode, done.stdout)


class Differences:
    """What an answer should have said and did not."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def same(self, what: str, ours: Any, theirs: Any) -> None:
        """Notes a difference unless both are equal."""
        if ours != theirs:
            self.found.append(f"{what}: the oracle says {ours!r}, the binary {theirs!r}")

    def note(self, text: str) -> None:
        self.found.append(text)

    def number(self, what: str, ours: Nats | None, theirs: Any) -> None:
        """Compares nats with a number field."""
        if ours == UNBOUNDED:
            if theirs is not None and not isinstance(theirs, str):
                self.same(what, "unbounded", theirs)
        elif ours is None or theirs is None or isinstance(theirs, str | bool):
            self.same(what, ours if ours is None else print_units(ours), theirs)
        elif Fraction(theirs) != Fraction(int(ours), UNIT):
            self.same(what, print_units(ours), str(theirs))

    def level(self, what: str, ours: Ratio, theirs: Any) -> None:
        """Compares a ratio with an exact level, `{"nats", "ratio"}`."""
        if not isinstance(theirs, dict):
            self.same(what, print_ratio(ours), theirs)
            return
        self.same(f"{what}, ratio", print_ratio(ours), theirs.get("ratio"))
        if ours == UNBOUNDED:
            self.number(f"{what}, nats", UNBOUNDED, theirs.get("nats"))
        else:
            self.same(f"{what}, nats", print_units(ln_up(ours)), theirs.get("nats"))

    def levels(self, what: str, ours: Levels, theirs: Any) -> None:
        """Compares everything that is attained about the input or the secret."""
        if not isinstance(theirs, dict) or not isinstance(theirs.get("exact"), dict):
            self.same(what, "levels", theirs)
            return
        fields = {"ldp": ours.ldp, "max_lift": ours.upper, "min_lift": ours.lower}
        for name, value in fields.items():
            self.number(f"{what}.{name}", None if value is None else ln_up(value), theirs.get(name, "missing"))
            if value is None:
                self.same(f"{what}.exact.{name}", None, theirs["exact"].get(name))
            else:
                self.level(f"{what}.exact.{name}", value, theirs["exact"].get(name))
        lip = None if ours.upper is None or ours.lower is None else ln_up(max(ours.upper, ours.lower))
        self.number(f"{what}.lip", lip, theirs.get("lip", "missing"))


def truth_of(text: str) -> Exact | Refused:
    """The policy of a document with everything listed, or why it cannot be read."""
    try:
        return Exact(document.read(text))
    except Refused as refused:
        return refused


def compare_policy(truth: Exact | Refused, answer: Answer) -> list[str]:
    """The differences between the binary's answer about one document and the truth."""
    differences = Differences()
    if isinstance(truth, Refused):
        said = answer.json if isinstance(answer.json, dict) else {}
        if answer.code == 0 or "error" not in said or "verified" in said:
            differences.note(
                f"the oracle cannot read it ({truth}), the binary answers {answer.code} {_short(answer.json)}"
            )
        return differences.found
    if not isinstance(answer.json, dict) or "verified" not in answer.json:
        differences.note(f"the oracle reads it, the binary answers {answer.code} {_short(answer.json)}")
        return differences.found
    exact, policy = truth, truth.policy
    refusal = exact.refusal()
    differences.same("verified", refusal is None, answer.json["verified"])
    differences.same("exit code", int(refusal is not None), answer.code)
    attained = answer.json.get("attained")
    differences.levels("attained", exact.levels("input"), attained)
    secret = attained.get("secret") if isinstance(attained, dict) else None
    if policy.context.kind == "secret":
        differences.levels("attained.secret", exact.levels("secret"), secret)
    else:
        differences.same("attained.secret", None, secret)
    if refusal is None:
        differences.same("policy_id", canonical.policy_id(policy), answer.json.get("policy_id"))
        _compare_deltas(differences, exact, answer.json.get("deltas"))
        differences.same("refusal", None, answer.json.get("refusal"))
    else:
        _compare_refusal(differences, exact, refusal, answer.json.get("refusal"))
    return differences.found


def _short(value: Any) -> str:
    return repr(value)[:300]


def _compare_deltas(differences: Differences, exact: Exact, theirs: Any) -> None:
    ours = exact.deltas()
    if not isinstance(theirs, list) or len(theirs) != len(ours):
        differences.same("deltas", ours, theirs)
        return
    for at, (one, said) in enumerate(zip(ours, theirs)):
        if one is None or not isinstance(said, dict):
            differences.same(f"deltas[{at}]", one, said)
            continue
        least, bound = one
        differences.same(f"deltas[{at}].bound", bound, said.get("bound"))
        printed = Fraction(said["delta"])
        # A program reads the number as a double, which may be above the decimal that stands for it.
        if not least <= max(printed, Fraction(float(printed))) <= least + DELTA_SLACK:
            above = float(printed - least)
            differences.note(
                f"deltas[{at}]: the least delta is {least}, the binary prints {float(printed)!r}, {above:+.1e} from it"
            )


def _compare_refusal(differences: Differences, exact: Exact, ours: Refusal, theirs: Any) -> None:
    if not isinstance(theirs, dict):
        differences.same("refusal", ours, theirs)
        return
    differences.same("refusal.claim", ours.claim, theirs.get("claim"))
    differences.same("refusal.side", ours.side, theirs.get("side"))
    for name, value in (("attained", ours.attained), ("allowed", ours.allowed)):
        if ours.side == "delta":
            said = theirs.get(name)
            differences.same(
                f"refusal.{name}", print_ratio(value), said.get("ratio") if isinstance(said, dict) else said
            )
        else:
            differences.level(f"refusal.{name}", value, theirs.get(name))
    # Cells of blocks are held against the vectors by Rust and JavaScript.
    if differences.found or isinstance(exact.policy.channel, Incidence):
        return
    cell = {key: theirs.get(key) for key in ("output", "high", "low", "prior")}
    try:
        reached = exact.value_at(exact.policy.claims[ours.claim], ours.side, **cell)
    except (IndexError, TypeError, ValueError):
        reached = set()
    if ours.attained not in reached:
        differences.note(f"refusal: {cell} is no cell that reaches {print_ratio(ours.attained)}")


def consent_arguments(consent: Consent) -> list[str]:
    """A consent as arguments of the command line."""
    limits = [(name, limit) for name, limit in (("ldp", consent.ldp), ("lip", consent.lip)) if limit is not None]
    texts = [f"{name}:{print_units(limit)}" for name, limit in limits]
    texts += [f"secret:{name}=ldp:{print_units(limit)}" for name, limit in consent.secrets.items()]
    return [argument for text in texts for argument in ("--consent", text)]


def width_of(policies: Sequence[Policy]) -> int:
    """Bits that hold every likelihood of a transcript and its mixture under a prior exactly."""
    return sum(denominator_of(policy.channel).bit_length() - 1 for policy in policies) + MIXTURE_BITS


@dataclass(frozen=True)
class Leeway:
    """Where the README lets a reader choose what to say about several policies together."""

    exact: frozenset[bool]
    claims: frozenset[bool | None]
    nought_may_be_a_unit: bool


def leeway(policies: Sequence[Policy], found: Standing, said_exact: Any) -> Leeway:
    """What an answer about these policies may be.

    A reader may round likelihoods outward to 160 bits; then nothing is exact, a claim may fail at its boundary, and a
    ratio of one may be printed as one unit above nought. (Any other logarithm is too far from a multiple of 10^-10 for
    such a rounding to show.) Policies that all cost nought tell nothing, whatever their alphabets: every number is
    attained and every claim that holds for one holds for all, and a reader may say so or not. Together, policies have
    no order, so that a reader may take any of them for the one that is asked for last: if that can be `bits`, whether
    belief in a secret keeps its claims may be left open.
    """
    frames = {policy.inputs.frame() for policy in policies}
    several = len(frames) > 1
    wide = not several and width_of(policies) > EXACT_BITS
    free = several and all(cost_of(policy) == 0 for policy in policies)
    exact = {found.exact} | ({False} if wide else set()) | ({True} if free else set())
    claims = {found.claims, True} if free else {found.claims}
    in_secret = any(claim.about == "secret" and claim.notion != "ldp" for policy in policies for claim in policy.claims)
    bits = any(isinstance(policy.channel, Bits) for policy in policies)
    if len(policies) > 1 and ((in_secret and bits) or said_exact is False):
        claims.add(None)
        if said_exact is False:
            claims.discard(False)
    return Leeway(frozenset(exact), frozenset(claims), wide)


def compare_together(
    policies: Sequence[Policy], consent: Consent, answer: Answer, found: Standing | None = None
) -> list[str]:
    """The differences between the binary's answer about several policies together and the truth."""
    differences = Differences()
    if found is None:
        found = standing([Release(policy) for policy in policies[:-1]], policies[-1])
    if not isinstance(answer.json, dict) or not isinstance(answer.json.get("together"), dict):
        differences.note(f"the binary answers {answer.code} {_short(answer.json)}")
        return differences.found
    said = answer.json["together"]
    allowed = leeway(policies, found, said.get("exact"))
    differences.same("policies", [canonical.policy_id(policy) for policy in policies], answer.json.get("policies"))
    if said.get("exact") not in allowed.exact:
        differences.same("exact", found.exact, said.get("exact"))
    if said.get("claims", "missing") not in allowed.claims:
        differences.same("claims", found.claims, said.get("claims", "missing"))
    attained = said.get("attained") or {}
    if allowed.nought_may_be_a_unit and said.get("exact") is False:
        found = _one_unit_up(found, attained)
    differences.number("attained.ldp", found.ldp, attained.get("ldp", "missing"))
    differences.number("attained.lip", found.lip, attained.get("lip", "missing"))
    secrets = attained.get("secrets") or {}
    differences.same("attained.secrets", sorted(found.secrets), sorted(secrets))
    for name, level in found.secrets.items():
        differences.number(f"attained.secrets.{name}", level, secrets.get(name, "missing"))
    differences.number("attained.secret", max(found.secrets.values(), default=None), attained.get("secret", "missing"))
    # A device judges its limits together; the command line says of each by itself whether it is met.
    answers = met(found, consent) | met(found, replace(consent, ldp=None))
    theirs = {
        str(one.get("claim", "")).rsplit(":", 1)[0].removesuffix("=ldp"): one.get("met")
        for one in said.get("consent", [])
    }
    differences.same("consent", answers, theirs)
    differences.same("exit code", int(not all(answers.values())), answer.code)
    return differences.found


def _one_unit_up(found: Standing, attained: dict[str, Any]) -> Standing:
    """The standing with those noughts replaced by one unit that the binary prints as one unit."""

    def up(level: Nats | None, said: Any) -> Nats | None:
        return 1 if level == 0 and said == Fraction(1, UNIT) else level

    printed = attained.get("secrets") or {}
    secrets = {name: up(level, printed.get(name)) or 0 for name, level in found.secrets.items()}
    ldp, lip = up(found.ldp, attained.get("ldp")), up(found.lip, attained.get("lip"))
    return replace(found, ldp=ldp or 0, lip=lip, secrets=secrets)
