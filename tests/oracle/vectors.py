"""Reads every policy vector, `epsilon.json` and `ledger.json`, and says where they and the oracle disagree."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import canonical
import document
from exact import Exact, Levels
from logs import ODDS_MAX, UNBOUNDED, UNIT, Nats, Ratio, ln_mixture_up, ln_up, odds_at_most, print_units
from policy import Incidence, Policy, Refused
from sequence import Consent, Release, cost_of, holds_together, outcome, standing

NATS = re.compile(r"([0-9]{0,9})(?:\.([0-9]*))?", re.ASCII)


def print_ratio(value: Ratio) -> str:
    """A ratio as the vectors write it."""
    return "unbounded" if value == UNBOUNDED else f"{Fraction(value).numerator}/{Fraction(value).denominator}"


def print_level(value: Ratio | None) -> dict[str, str] | None:
    """A level as the vectors write it."""
    return None if value is None else {"ratio": print_ratio(value), "nats": print_units(ln_up(value))}


def print_levels(levels: Levels) -> dict[str, Any]:
    """What is attained as the vectors write it."""
    sides = {"ldp": levels.ldp, "upper": levels.upper, "lower": levels.lower}
    return {**{side: print_level(value) for side, value in sides.items()}, "exact": levels.exact}


def parse_nats(text: str) -> int | None:
    """A decimal of nats in units of 10^-10, cut after ten places; None if it is not one."""
    found = NATS.fullmatch(text)
    if not found or not (found[1] or found[2]):
        return None
    return int(found[1] or "0") * UNIT + int((found[2] or "").ljust(10, "0")[:10])


class Problems:
    """Collects disagreements."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.checked = 0

    def same(self, where: str, ours: Any, theirs: Any) -> None:
        """Notes a disagreement unless both are equal."""
        self.checked += 1
        if ours != theirs:
            self.found.append(f"{where}: the oracle says {ours!r}, the vector {theirs!r}")


def load(path: Path) -> Any:
    """The JSON of a vector file."""
    return json.loads(path.read_text(encoding="utf-8"))


def policy_at(root: Path, name: str) -> Policy:
    """The policy of an accepted vector."""
    return document.read_value(load(root / "policy" / name)["document"])


def check_accepted(path: Path, problems: Problems) -> None:
    """An accepted policy: id, bytes in both directions, every prefix of them, what it attains, its deltas."""
    vector = load(path)
    where = path.name
    policy = document.read(json.dumps(vector["document"]))
    data = canonical.write(policy)
    problems.same(f"{where}: bytes", data.hex(), vector["bytes"])
    problems.same(f"{where}: id", canonical.policy_id(policy), vector["id"])
    problems.same(f"{where}: the bytes read back", canonical.write(canonical.read(data)).hex(), vector["bytes"])
    step = max(1, len(data) // 200)
    for end in range(0, len(data), step):
        problems.same(f"{where}: the first {end} bytes", reason_of(data[:end]), "truncated")
    exact = Exact(policy)
    secret = print_levels(exact.levels("secret")) if policy.context.kind == "secret" else None
    deltas = [None if one is None else {"ratio": print_ratio(one[0]), "bound": one[1]} for one in exact.deltas()]
    ours = {"input": print_levels(exact.levels("input")), "secret": secret, "deltas": deltas}
    problems.same(f"{where}: attained", ours, vector["attained"])
    problems.same(f"{where}: refusal", exact.refusal(), None)


def reason_of(source: str | bytes) -> str | None:
    """Why a document or bytes are refused; None if they are not."""
    try:
        canonical.read(source) if isinstance(source, bytes) else document.read(source)
    except Refused as refused:
        return refused.reason
    return None


def check_refused(path: Path, problems: Problems) -> None:
    """A refused policy: stage and reason; for a false claim also which, by how much, and that the cell reaches it."""
    vector = load(path)
    where = path.name
    source: str | bytes
    if "bytes" in vector:
        source = bytes.fromhex(vector["bytes"])
    else:
        source = vector["text"] if "text" in vector else json.dumps(vector["document"])
    if vector["stage"] == "decode":
        # The README does not say which of its words stands for an integer of 2^53 or more.
        reason = reason_of(source)
        problems.same(f"{where}: reason", vector["error"] if reason == "too_wide" else reason, vector["error"])
        return
    policy = canonical.read(source) if isinstance(source, bytes) else document.read(source)
    exact = Exact(policy)
    refusal = exact.refusal()
    theirs = vector["refusal"]
    if refusal is None:
        problems.found.append(f"{where}: the oracle finds every claim true")
        return
    ours = {
        "claim": refusal.claim,
        "side": refusal.side,
        "attained": print_ratio(refusal.attained),
        "allowed": print_ratio(refusal.allowed),
        "cell": theirs["cell"],
    }
    problems.same(f"{where}: refusal", ours, theirs)
    # The two ends of likelihoods are looked at in Rust and JavaScript; the oracle names no cell of blocks.
    if isinstance(policy.channel, Incidence):
        return
    reached = exact.value_at(policy.claims[refusal.claim], refusal.side, **theirs["cell"])
    problems.same(f"{where}: the cell reaches it", refusal.attained in reached, True)


def check_policies(root: Path, problems: Problems) -> None:
    """All of `policy/`."""
    for path in sorted((root / "policy").glob("*.json")):
        (check_refused if path.name.startswith("bad_") else check_accepted)(path, problems)


def check_epsilon(root: Path, problems: Problems) -> None:
    """All of `epsilon.json`."""
    vector = load(root / "epsilon.json")
    largest = ln_up(Fraction(ODDS_MAX))
    for one in vector["parsed"]:
        units = parse_nats(one["text"])
        assert units is not None
        n, d = odds_at_most(units)
        problems.same(f"epsilon {one['text']!r}: odds", [n, d], one["odds"])
        problems.same(f"epsilon {one['text']!r}: nats", print_units(ln_up(Fraction(n, d))), one["nats"])
    for one in vector["written"]:
        problems.same(f"epsilon {one['odds']}", print_units(ln_up(Fraction(*one["odds"]))), one["nats"])
    for one in vector["bad_texts"]:
        units = parse_nats(one["text"])
        error = "not_nats" if units is None else "too_large" if units > largest else None
        problems.same(f"epsilon {one['text']!r}: error", error, one["error"])
    for n, d in vector["bad_odds"]:
        problems.same(f"epsilon odds {n}/{d} are refused", 1 <= d <= n <= ODDS_MAX, False)


def ledger_step(step: dict[str, Any], state: LedgerDatum, policy: Policy, earlier: Policy | None, budget: int) -> str:
    """The outcome of one request by the table of the README; `state` is changed when something is released."""
    name = canonical.policy_id(policy)
    if step["call"] == "request" and name in state.released:
        return "repeat"
    cost = ln_up(Exact(policy).levels("input").ldp)
    if cost != UNBOUNDED and state.spent != UNBOUNDED:
        if state.spent + cost > budget:
            return "budget"
    elif state.released:
        if earlier is None or state.released != [canonical.policy_id(earlier)]:
            return "not_composable"
        if any(claim.delta for claim in (*policy.claims, *earlier.claims)):
            return "not_composable"
        if not holds_together([Release(earlier), Release(policy)]):
            return "not_composable_checked"
    state.released.append(name)
    state.spent = state.spent + cost
    return "fresh"


class LedgerDatum:
    """What was released about one datum, and what it cost."""

    def __init__(self) -> None:
        self.released: list[str] = []
        self.spent: Nats = 0


def check_ledger(root: Path, problems: Problems) -> None:
    """All of `ledger.json`."""
    vector = load(root / "ledger.json")
    for number, one in enumerate(vector["sequences"]):
        data: dict[str, LedgerDatum] = {}
        budget = parse_nats(one["budget"])
        assert budget is not None
        for at, step in enumerate(one["steps"]):
            state = data.setdefault(step["datum"], LedgerDatum())
            policy = policy_at(root, step["policy"])
            earlier = policy_at(root, step["earlier"]) if step["earlier"] else None
            outcome = ledger_step(step, state, policy, earlier, budget)
            cost = print_units(ln_up(Exact(policy).levels("input").ldp))
            ours = {"outcome": outcome, "cost": cost, "spent": print_units(state.spent)}
            problems.same(f"ledger {number} ({one['about']}), step {at}", ours, {key: step[key] for key in ours})
    for one in vector["consequences"]:
        spent = parse_nats(one["spent"])
        assert spent is not None
        lip = print_units(ln_mixture_up(Fraction(min(one["prior"]), sum(one["prior"])), spent))
        problems.same(f"consequence of {one['spent']} under {one['prior']}", lip, one["lip"])


def check_sequences(root: Path, problems: Problems) -> None:
    """All of `sequence/`."""
    for path in sorted((root / "sequence").glob("*.json")):
        vector = load(path)
        past = []
        for one in vector["past"]:
            policy = policy_at(root, one["policy"])
            if "cost" in one:
                problems.same(f"{path.name}: cost", print_units(cost_of(policy)), one["cost"])
                past.append(Release(None, cost=cost_of(policy)))
            elif "bits" in one:
                spare = -policy.inputs.size % 8
                past.append(Release(policy, int(one["bits"], 16) >> spare))
            else:
                past.append(Release(policy, one.get("token")))
        last = policy_at(root, vector["next"])
        if any(isinstance(one.policy.channel, Incidence) for one in (*past, Release(last)) if one.policy):
            continue
        found = standing(past, last)
        ours = {
            "exact": found.exact,
            "ldp": print_units(found.ldp),
            "lip": None if found.lip is None else print_units(found.lip),
            "secrets": {name: print_units(level) for name, level in found.secrets.items()},
            "claims": found.claims,
        }
        problems.same(f"{path.name}: standing", ours, vector["standing"])
        limits = vector["consent"]
        secrets = {name: parse_nats(text) or 0 for name, text in limits["secrets"].items()}
        ldp, lip = (None if limits[key] is None else parse_nats(limits[key]) for key in ("ldp", "lip"))
        consent = Consent(ldp, lip, secrets)
        problems.same(f"{path.name}: outcome", outcome(found, consent, past, last), vector["outcome"])
        problems.same(f"{path.name}: named bad iff refused", path.name.startswith("bad_"), vector["outcome"] != "fresh")
