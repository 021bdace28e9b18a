"""Answers a binary could give: right ones, rendered from the oracle, and wrong ones, for the oracle to notice.

Three families: an answer that is changed after the fact; the right answer to a slightly different policy, as a kernel
would give that reads symbols in another order or forgets a prior; and answers by a wrong rule.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import canonical
import document
from boundary import odds_near
from compare import Answer
from exact import Belief, Exact, Levels, Refusal
from logs import UNBOUNDED, UNIT, Nats, Ratio, ln_enclosure, ln_up, print_units
from policy import MASS, WEIGHT, Bits, Claim, Context, Incidence, Keep, Policy, Refused, Table
from sequence import Consent, Release, Standing, cost_of, met, standing
from vectors import print_ratio

Ln = Callable[[Ratio], Nats]


def number(units: Nats | None) -> Any:
    """A number field."""
    return None if units is None else "inf" if units == UNBOUNDED else Fraction(int(units), UNIT)


def level(value: Ratio, ln: Ln) -> dict[str, str]:
    """An exact level."""
    nats = ln(value)
    return {"ratio": print_ratio(value), "nats": "inf" if nats == UNBOUNDED else print_units(nats)}


def levels(found: Levels, ln: Ln) -> dict[str, Any]:
    """What is attained."""
    fields = {"ldp": found.ldp, "max_lift": found.upper, "min_lift": found.lower}
    shown: dict[str, Any] = {name: None if value is None else number(ln(value)) for name, value in fields.items()}
    known = [value for value in (found.upper, found.lower) if value is not None]
    shown["lip"] = number(ln(max(known))) if known else None
    shown["exact"] = {name: level(value, ln) for name, value in fields.items() if value is not None}
    return shown


def cell_of(exact: Exact, refusal: Refusal) -> dict[str, int | None]:
    """A place where the refused value is reached, by trying all."""
    if isinstance(exact.policy.channel, Incidence):
        return {"output": None, "high": None, "low": None, "prior": None}
    claim = exact.policy.claims[refusal.claim]
    columns, _, beliefs = exact.view(claim.about)
    some: list[int | None] = [None, *range(len(columns[0]))]
    outputs: list[int | None] = [
        None,
        *range(len(columns[0]) if isinstance(exact.policy.channel, Bits) else len(columns)),
    ]
    priors: list[int | None] = [None, *range(len(beliefs))]
    for output, high, low, prior in itertools.product(outputs, some, some, priors):
        if refusal.attained in exact.value_at(claim, refusal.side, output, high, low, prior):
            return {"output": output, "high": high, "low": low, "prior": prior}
    raise AssertionError("a refusal without a cell")


def verify_answer(policy: Policy, identity: str, exact: Exact | None = None, ln: Ln = ln_up) -> Answer:
    """What the binary would say about a policy."""
    exact = exact or Exact(policy)
    refusal = exact.refusal()
    found: dict[str, Any] = {"verified": refusal is None, "attained": levels(exact.levels("input"), ln)}
    if policy.context.kind == "secret":
        found["attained"]["secret"] = levels(exact.levels("secret"), ln)
    if refusal is None:
        deltas = [None if one is None else {"delta": one[0], "bound": one[1]} for one in exact.deltas()]
        return Answer(0, found | {"policy_id": identity, "deltas": deltas})
    shown: dict[str, Any] = {"claim": refusal.claim, "side": refusal.side, **cell_of(exact, refusal)}
    shown["attained"], shown["allowed"] = level(refusal.attained, ln), level(refusal.allowed, ln)
    return Answer(1, found | {"refusal": shown})


def read_answer(text: str) -> Answer:
    """What the binary would say about a document."""
    try:
        policy = document.read(text)
    except Refused as refused:
        return Answer(1, {"error": str(refused)})
    return verify_answer(policy, canonical.policy_id(policy))


def together_answer(policies: Sequence[Policy], consent: Consent, found: Standing) -> Answer:
    """What the binary would say about several policies together."""
    answers = met(found, consent)
    limits = {"ldp": consent.ldp, "lip": consent.lip} | {
        f"secret:{name}": limit for name, limit in consent.secrets.items()
    }
    texts = {
        name: f"{name}{'=ldp' if name.startswith('secret:') else ''}:{print_units(limits[name] or 0)}"
        for name in answers
    }
    together = {
        "exact": found.exact,
        "claims": found.claims,
        "attained": {
            "ldp": number(found.ldp),
            "lip": number(found.lip),
            "secret": number(max(found.secrets.values(), default=None)),
            "secrets": {name: number(value) for name, value in found.secrets.items()},
        },
        "consent": [{"claim": texts[name], "met": kept} for name, kept in answers.items()],
    }
    ids = [canonical.policy_id(policy) for policy in policies]
    return Answer(int(not all(answers.values())), {"policies": ids, "verified": True, "together": together})


def changed(answer: Answer, change: Callable[[dict[str, Any]], None]) -> Answer | None:
    """The answer with a change made in a copy; None if there is nothing of the kind to change."""
    found = copy.deepcopy(answer.json)
    try:
        change(found)
    except (AttributeError, KeyError, TypeError, IndexError):
        return None
    return None if found == answer.json else Answer(answer.code, found)


def _bump(holder: Any, name: Any, by: Any) -> None:
    holder[name] = holder[name] + by


def _one_unit(holder: dict[str, Any]) -> None:
    if holder["nats"] == "inf":
        raise KeyError("nats")
    holder["nats"] = print_units(int(Fraction(holder["nats"]) * UNIT) + 1)


def _swap(holder: dict[str, Any], one: str, other: str) -> None:
    holder[one], holder[other] = holder[other], holder[one]


ONE_UNIT = Fraction(1, UNIT)

CHANGED_VERDICTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "the verdict is turned round": lambda j: j.update(verified=not j["verified"]),
    "ldp is one unit too small": lambda j: _bump(j["attained"], "ldp", -ONE_UNIT),
    "max_lift is one unit too large": lambda j: _bump(j["attained"], "max_lift", ONE_UNIT),
    "lip is that of the rising side only": lambda j: j["attained"].update(lip=j["attained"]["max_lift"]),
    "exact nats are one unit too large": lambda j: _one_unit(j["attained"]["exact"]["ldp"]),
    "an exact ratio is left out": lambda j: j["attained"]["exact"].pop("min_lift"),
    "both lifts are exchanged": lambda j: _swap(j["attained"]["exact"], "max_lift", "min_lift"),
    "the secret is left out": lambda j: j["attained"].pop("secret"),
    "the secret's ldp is one unit too small": lambda j: _bump(j["attained"]["secret"], "ldp", -ONE_UNIT),
    "a finite ldp is unbounded": lambda j: j["attained"].update(ldp="inf"),
    "the id ends in another digit": lambda j: j.update(policy_id=j["policy_id"][:-1] + "x"),
    "a delta is too small": lambda j: _bump(j["deltas"][-1], "delta", -Fraction(1, 10**15)),
    "a delta is much too large": lambda j: _bump(j["deltas"][-1], "delta", Fraction(1, 10**6)),
    "a bound is called exact": lambda j: j["deltas"][-1].update(bound=not j["deltas"][-1]["bound"]),
    "the refused claim is the next one": lambda j: _bump(j["refusal"], "claim", 1),
    "the refused side is another": lambda j: j["refusal"].update(
        side="upper" if j["refusal"]["side"] != "upper" else "lower"
    ),
    "the refused value is another": lambda j: j["refusal"]["attained"].update(ratio="7/3"),
    "what is allowed is another": lambda j: j["refusal"]["allowed"].update(ratio="7/3"),
    "high and low of the cell are exchanged": lambda j: _swap(j["refusal"], "high", "low"),
    "the prior of the cell is another": lambda j: _bump(j["refusal"], "prior", 1),
}

CHANGED_TOGETHER: dict[str, Callable[[dict[str, Any]], None]] = {
    "bounds are called exact": lambda j: j["together"].update(exact=True),
    "claims that hold fail": lambda j: j["together"].update(
        claims={True: False, False: True, None: False}[j["together"]["claims"]]
    ),
    "ldp is one unit too small": lambda j: _bump(j["together"]["attained"], "ldp", -ONE_UNIT),
    "lip is one unit too small": lambda j: _bump(j["together"]["attained"], "lip", -ONE_UNIT),
    "lip is missing": lambda j: j["together"]["attained"].update(lip=None),
    "a secret is one unit too small": lambda j: _bump(j["together"]["attained"]["secrets"], "S", -ONE_UNIT),
    "a secret is missing": lambda j: j["together"]["attained"]["secrets"].pop("S"),
    "a limit that is kept is not": lambda j: j["together"]["consent"][-1].update(
        met=not j["together"]["consent"][-1]["met"]
    ),
    "a limit is forgotten": lambda j: j["together"].update(consent=j["together"]["consent"][:-1]),
    "the policies come in another order": lambda j: j["policies"].reverse(),
}


def _looser(policy: Policy) -> Policy:
    last = policy.claims[-1]
    lower, upper = (odds_near(Fraction(*odds), "above") for odds in (last.lower, last.upper))
    return replace(policy, claims=(*policy.claims[:-1], replace(last, lower=lower, upper=upper)))


def _more_delta(policy: Policy) -> Policy:
    last = policy.claims[-1]
    return replace(
        policy, claims=(*policy.claims[:-1], replace(last, delta=min(MASS - 1, last.delta + bool(last.delta))))
    )


def _reversed(policy: Policy) -> Policy:
    context = policy.context
    turned = {name: getattr(context, name)[::-1] for name in ("lower", "upper")}
    priors = tuple(prior[::-1] for prior in context.priors)
    return replace(policy, context=replace(context, priors=priors, **turned))


def _middle(policy: Policy) -> Policy:
    context = policy.context
    if context.kind != "box":
        return policy
    belief = Belief(context.lower, context.upper, WEIGHT)
    corner = belief.vertices[0]
    return replace(policy, context=replace(context, lower=corner, upper=corner))


def _first_prior(policy: Policy) -> Policy:
    context = policy.context
    return replace(policy, context=replace(context, priors=context.priors[:1])) if context.kind == "priors" else policy


def _transposed(policy: Policy) -> Policy:
    match policy.channel:
        case Table(masses) if len(masses) == len(masses[0]):
            return replace(policy, channel=Table(tuple(zip(*masses))))
        case Keep(keep, base):
            return replace(policy, channel=Keep(keep[::-1], base))
        case Bits(symbols, own, other):
            return replace(policy, channel=Bits(symbols, other, own))
        case Incidence(symbols, coin, family):
            return replace(policy, channel=Incidence(symbols, MASS - coin, family))
    return policy


def _sides_exchanged(policy: Policy) -> Policy:
    return replace(
        policy, claims=tuple(replace(claim, lower=claim.upper, upper=claim.lower) for claim in policy.claims)
    )


MISREAD: dict[str, Callable[[Policy], Policy]] = {
    "the claim is one step of its odds too loose": _looser,
    "the claim has one unit of delta more": _more_delta,
    "weights belong to the symbols in another order": _reversed,
    "one prior of a box stands for all": _middle,
    "only the first of several priors is looked at": _first_prior,
    "inputs and outputs are exchanged": _transposed,
    "the levels of alip are exchanged": _sides_exchanged,
    "the last claim is forgotten": lambda policy: replace(policy, claims=policy.claims[:-1] or policy.claims),
    "claims about the secret are made of the input": lambda policy: replace(
        policy, claims=tuple(replace(claim, about="input") for claim in policy.claims)
    ),
}


class OnlyLoneBits(Exact):
    """A wrong rule: of bits, only patterns with at most one set are looked at."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        channel = policy.channel
        if isinstance(channel, Bits):
            few = [at for at in range(len(self.columns)) if at.bit_count() <= 1]
            self.columns = [self.columns[at] for at in few]
            if policy.context.kind == "secret":
                self.secret_columns = [self.secret_columns[at] for at in few]

    def value_at(self, claim: Claim, side: str, *cell: int | None) -> set[Ratio]:
        return {self.refusal().attained} if self.refusal() else set()  # type: ignore[union-attr]


class DeltaOfBothSides(Exact):
    """A wrong rule: one delta pays for the rising and the falling sum together."""

    def least_delta(self, claim: Claim) -> Fraction:
        columns, _, beliefs = self.view(claim.about)
        if claim.notion == "ldp":
            return super().least_delta(claim)
        inputs = range(len(columns[0]))
        return max(self.rising_sum(claim, one, x) + self.falling_sum(claim, one, x) for one in beliefs for x in inputs)

    def value_at(self, claim: Claim, side: str, *cell: int | None) -> set[Ratio]:
        return {self.refusal().attained} if self.refusal() else set()  # type: ignore[union-attr]


def ln_nearest(value: Ratio) -> Nats:
    """A wrong rule: the logarithm rounded to the nearest unit."""
    if value == UNBOUNDED or value <= 1:
        return ln_up(value)
    low, _ = ln_enclosure(Fraction(value), 128)
    return (2 * low * UNIT + (1 << 128)) >> 129


def by_index(policies: Sequence[Policy]) -> list[Policy]:
    """A wrong rule: the symbols of two policies are paired by their index."""
    first = policies[0].inputs
    return [replace(policy, inputs=first) if policy.inputs.frame() == first.frame() else policy for policy in policies]


def any_alphabet(policies: Sequence[Policy]) -> list[Policy]:
    """A wrong rule: alphabets of the same size are the same."""
    first = policies[0].inputs
    return [replace(policy, inputs=first) if policy.inputs.size == first.size else policy for policy in policies]


def last_context(policies: Sequence[Policy]) -> list[Policy]:
    """A wrong rule: only the newest policy's context counts."""
    return [*(replace(policy, context=Context("unknown"), claims=()) for policy in policies[:-1]), policies[-1]]


def first_law(policies: Sequence[Policy]) -> list[Policy]:
    """A wrong rule: a secret has the law that the first policy declares."""
    seen: dict[str, Policy] = {}
    found = []
    for policy in policies:
        known = seen.setdefault(policy.context.name, policy) if policy.context.kind == "secret" else policy
        found.append(policy if known is policy else replace(policy, context=Context("unknown"), claims=()))
    return found


MISJOINED: dict[str, Callable[[Sequence[Policy]], list[Policy]]] = {
    "symbols are paired by index": by_index,
    "alphabets of one size are taken for the same": any_alphabet,
    "only the last context counts": last_context,
    "only the first law of a secret counts": first_law,
    "the first release is forgotten": lambda policies: list(policies[1:]) or list(policies),
}


def each_by_itself(policies: Sequence[Policy], found: Standing) -> Standing:
    """A wrong rule: the worst of the policies alone."""
    alone = [standing([], policy) for policy in policies]
    lips = [one.lip for one in alone if one.lip is not None]
    return replace(found, ldp=max(one.ldp for one in alone), lip=max(lips, default=None))


def summed(policies: Sequence[Policy], found: Standing) -> Standing:
    """A wrong rule: the costs are added up where the joint likelihoods are at hand."""
    return replace(found, ldp=sum(cost_of(policy) for policy in policies))


def joined(policies: Sequence[Policy]) -> Standing:
    """What all answers of several policies attain."""
    return standing([Release(policy) for policy in policies[:-1]], policies[-1])


def tighter(rng: Random, consent: Consent) -> Consent:
    """The consent with one limit a unit smaller."""
    if consent.ldp and rng.random() < 0.5:
        return replace(consent, ldp=consent.ldp - 1)
    return replace(consent, lip=consent.lip - 1) if consent.lip else consent
