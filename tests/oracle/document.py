"""The strict reader of a policy document in JSON, and its writer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import canonical
import rules
from logs import ODDS_MAX, ln_up, print_units
from policy import (
    INTEGER_END,
    Alphabet,
    Bits,
    Channel,
    Claim,
    Context,
    Decimal,
    Geometry,
    Incidence,
    Keep,
    Listed,
    Policy,
    Provenance,
    Refused,
    Subsets,
    Table,
)

T = TypeVar("T")

DECIMAL = re.compile(r"(-?)([0-9]{0,18})(?:\.([0-9]{1,18}))?", re.ASCII)


class _NotAnInteger:
    """Stands for a number with a fraction, an exponent or a sign, which no field of a document may have."""

    def __init__(self, text: str) -> None:
        self.text = text


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refused("json", "a repeated field")
    return found


def _constant(text: str) -> Any:
    raise Refused("json", f"{text} is no JSON")


def parse_json(text: str) -> Any:
    """JSON without repeated fields, in which only unsigned integers become numbers."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_float=_NotAnInteger,
            parse_int=lambda digits: _NotAnInteger(digits) if digits.startswith("-") else int(digits),
            parse_constant=_constant,
        )
    except (ValueError, RecursionError) as error:
        raise Refused("json", str(error)) from error


class _Fields:
    """The fields of one object; each is taken once, and `end` refuses what is left."""

    def __init__(self, value: Any, what: str) -> None:
        if not isinstance(value, dict):
            raise Refused("json", f"{what} is not an object")
        self.left = dict(value)
        self.what = what

    def take(self, name: str, read: Callable[[Any, str], T]) -> T:
        if name not in self.left:
            raise Refused("json", f"{self.what} has no field {name}")
        return read(self.left.pop(name), name)

    def take_or(self, name: str, read: Callable[[Any, str], T], default: T) -> T:
        return self.take(name, read) if name in self.left else default

    def without_nulls(self, *names: str) -> None:
        """For these fields null is as if they were missing."""
        for name in names:
            if self.left.get(name, 0) is None:
                del self.left[name]

    def end(self) -> None:
        if self.left:
            raise Refused("json", f"{self.what} has a field too many: {sorted(self.left)[0]}")


def _integer(value: Any, what: str, end: int = INTEGER_END) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refused("json", f"{what} is not an unsigned integer")
    if value >= end:
        raise Refused("too_wide" if end == INTEGER_END else "json", f"{what} is not below {end}")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise Refused("json", f"{what} is not text")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refused("json", f"{what} is not Unicode") from error
    return value


def _list(read: Callable[[Any, str], T]) -> Callable[[Any, str], list[T]]:
    def read_list(value: Any, what: str) -> list[T]:
        if not isinstance(value, list):
            raise Refused("json", f"{what} is not a list")
        return [read(item, what) for item in value]

    return read_list


def _decimal(value: Any, what: str) -> Decimal:
    found = DECIMAL.fullmatch(_text(value, what))
    if not found or not (found[2] or found[3]):
        raise Refused("decimal", f"{what} is not a decimal")
    sign, whole, fraction = found[1], found[2], found[3] or ""
    digits = int(whole + fraction)
    return rules.decimal(-digits if sign else digits, len(fraction))


_integers = _list(_integer)
_rows = _list(_integers)


def _alphabet(value: Any, what: str) -> Alphabet:
    fields = _Fields(value, what)
    fields.without_nulls("indices", "names", "points", "edges", "values")
    kinds = [kind for kind in ("indices", "names", "points", "edges") if kind in fields.left]
    if len(kinds) != 1:
        raise Refused("json", f"{what} has not exactly one kind of symbols")
    match kinds[0]:
        case "indices":
            found = rules.indices(fields.take("indices", _integer))
        case "names":
            found = rules.names(fields.take("names", _list(_text)))
        case "points":
            found = rules.points(fields.take("points", _list(_decimal)))
        case _:
            found = rules.bins(fields.take("edges", _list(_decimal)), fields.take("values", _list(_decimal)))
    fields.end()
    return found


def _level(value: Any, what: str) -> tuple[int, int]:
    fields = _Fields(value, what)
    nats = fields.take("nats", _text)
    pair = fields.take("odds", _list(lambda item, name: _integer(item, name, ODDS_MAX + 1)))
    fields.end()
    if len(pair) != 2:
        raise Refused("json", "odds are two integers")
    odds = rules.odds(*pair)
    if nats != print_units(ln_up(Fraction(*odds))):
        raise Refused("nats", f"{nats} is not the logarithm of {odds[0]}/{odds[1]}")
    return odds


def _claim(value: Any, what: str) -> Claim:
    fields = _Fields(value, what)
    notion = fields.take("notion", _text)
    about = fields.take("about", _text)
    if notion not in ("ldp", "lip", "alip", "di") or about not in ("input", "secret"):
        raise Refused("json", f"a claim of {notion} about {about}")
    if notion == "alip":
        lower, upper = fields.take("lower", _level), fields.take("upper", _level)
    else:
        lower = upper = fields.take("epsilon", _level)
    delta = rules.delta(fields.take_or("delta", _integer, 0))
    fields.end()
    return Claim(notion, about, lower, upper, delta)


def _context(value: Any, what: str) -> Context:
    fields = _Fields(value, what)
    match fields.take("kind", _text):
        case "unknown":
            found = Context("unknown")
        case "prior":
            found = rules.context_prior(fields.take("weights", _integers))
        case "priors":
            found = rules.context_priors(fields.take("list", _rows))
        case "box":
            found = rules.context_box(fields.take("lower", _integers), fields.take("upper", _integers))
        case "secret":
            name, prior, rows = (
                fields.take("name", _text),
                fields.take("weights", _integers),
                fields.take("rows", _rows),
            )
            found = rules.context_secret(name, prior, rows)
        case other:
            raise Refused("json", f"a context of the kind {other}")
    fields.end()
    return found


def _channel(value: Any, what: str) -> Channel:
    fields = _Fields(value, what)
    found: Channel
    match fields.take("shape", _text):
        case "table":
            found = rules.table(fields.take("masses", _rows))
        case "keep":
            found = rules.keep(fields.take("keep", _integers), fields.take("base", _integers))
        case "bits":
            found = rules.bits(*(fields.take(name, _integer) for name in ("symbols", "own", "other")))
        case "incidence":
            symbols, coin = fields.take("symbols", _narrow), fields.take("coin", _integer)
            family = fields.take("family", _family)
            fields.end()
            return rules.incidence(symbols, coin, family(symbols))
        case other:
            raise Refused("json", f"a channel of the shape {other}")
    fields.end()
    return found


def _narrow(value: Any, what: str) -> int:
    return _integer(value, what, 2**32)


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise Refused("json", f"{what} is neither true nor false")
    return value


def _family(value: Any, what: str) -> Callable[[int], Subsets | Geometry | Listed]:
    """The fields of a family, which is made when the number of symbols is known."""
    fields = _Fields(value, what)
    made: Callable[[int], Subsets | Geometry | Listed]
    match fields.take("kind", _text):
        case "subsets":
            size = fields.take("size", _narrow)
            made = lambda _: Subsets(size)  # noqa: E731
        case "geometry":
            parts = [fields.take(name, _narrow) for name in ("order", "dimension", "classes", "cosets")]
            zero = fields.take("zero", _flag)
            made = lambda _: rules.geometry(*parts, zero)  # noqa: E731
        case "hashing":
            buckets, dimension = fields.take("buckets", _narrow), fields.take("dimension", _narrow)
            made = lambda _: rules.geometry(buckets, dimension + 1, 1, 0, True, hashing=True)  # noqa: E731
        case "listed":
            lists = fields.take("blocks", _list(_list(_narrow)))
            made = lambda symbols: rules.listed(symbols, lists)  # noqa: E731
        case other:
            raise Refused("json", f"a family of the kind {other}")
    fields.end()
    return made


def _provenance(value: Any, what: str) -> Provenance:
    fields = _Fields(value, what)
    fields.without_nulls("confidence")
    found = rules.provenance(
        fields.take_or("source", _text, ""),
        fields.take_or("n", _integer, 0),
        fields.take_or("date", _text, ""),
        fields.take_or("confidence", _decimal, None),
        fields.take_or("rounding", _integer, 0),
    )
    fields.end()
    return found


def read_value(value: Any) -> Policy:
    """Reads a parsed document, or raises `Refused`."""
    fields = _Fields(value, "a policy")
    fields.without_nulls("id", "outputs")
    if fields.take("undertone", _text) != "policy/1":
        raise Refused("version", "not policy/1")
    given_id = fields.take_or("id", _text, None)
    claims = fields.take("claims", _list(_claim))
    context = fields.take("context", _context)
    origin = fields.take_or("provenance", _provenance, Provenance())
    inputs = fields.take("inputs", _alphabet)
    outputs = fields.take_or("outputs", _alphabet, None)
    channel = fields.take("channel", _channel)
    fields.end()
    found = rules.policy(inputs, outputs, channel, context, claims, origin)
    if given_id is not None and given_id != canonical.policy_id(found):
        raise Refused("id", "the id is that of another policy")
    return found


def read(text: str) -> Policy:
    """Reads the text of a document, or raises `Refused`."""
    return read_value(parse_json(text))


def write_level(odds: tuple[int, int]) -> dict[str, Any]:
    """A level as a document has it."""
    return {"nats": print_units(ln_up(Fraction(*odds))), "odds": list(odds)}


def write_decimal(value: Decimal) -> str:
    """A decimal as a document has it."""
    digits = str(abs(value.digits)).rjust(value.scale + 1, "0")
    split = len(digits) - value.scale
    return ("-" if value.digits < 0 else "") + digits[:split] + ("." + digits[split:] if value.scale else "")


def write_alphabet(alphabet: Alphabet) -> dict[str, Any]:
    """An alphabet as a document has it."""
    match alphabet.kind:
        case "indices":
            return {"indices": alphabet.size}
        case "names":
            return {"names": list(alphabet.names)}
        case "points":
            return {"points": [write_decimal(point) for point in alphabet.points]}
    edges, values = alphabet.edges, alphabet.points
    return {"edges": [write_decimal(edge) for edge in edges], "values": [write_decimal(value) for value in values]}


def write_claim(claim: Claim) -> dict[str, Any]:
    """A claim as a document has it."""
    found: dict[str, Any] = {"notion": claim.notion, "about": claim.about}
    if claim.notion == "alip":
        found["lower"], found["upper"] = write_level(claim.lower), write_level(claim.upper)
    else:
        found["epsilon"] = write_level(claim.lower)
    if claim.delta:
        found["delta"] = claim.delta
    return found


def write_context(context: Context) -> dict[str, Any]:
    """A context as a document has it."""
    found: dict[str, Any] = {"kind": context.kind}
    match context.kind:
        case "prior":
            found["weights"] = list(context.priors[0])
        case "priors":
            found["list"] = [list(prior) for prior in context.priors]
        case "box":
            found["lower"], found["upper"] = list(context.lower), list(context.upper)
        case "secret":
            found["name"], found["weights"] = context.name, list(context.priors[0])
            found["rows"] = [list(row) for row in context.rows]
    return found


def write_channel(channel: Channel) -> dict[str, Any]:
    """A channel as a document has it."""
    match channel:
        case Table(masses):
            return {"shape": "table", "masses": [list(row) for row in masses]}
        case Keep(keep, base):
            return {"shape": "keep", "keep": list(keep), "base": list(base)}
        case Bits(symbols, own, other):
            return {"shape": "bits", "symbols": symbols, "own": own, "other": other}
        case Incidence(symbols, coin, family):
            return {"shape": "incidence", "symbols": symbols, "coin": coin, "family": write_family(family)}


def write_family(family: Subsets | Geometry | Listed) -> dict[str, Any]:
    """A family as a document has it."""
    match family:
        case Subsets(size):
            return {"kind": "subsets", "size": size}
        case Geometry(order, dimension, _, _, _, True):
            return {"kind": "hashing", "buckets": order, "dimension": dimension - 1}
        case Geometry(order, dimension, classes, cosets, zero, _):
            parts = {"order": order, "dimension": dimension, "classes": classes, "cosets": cosets, "zero": zero}
            return {"kind": "geometry", **parts}
        case Listed(blocks):
            return {"kind": "listed", "blocks": [list(block) for block in blocks]}


def write(policy: Policy) -> dict[str, Any]:
    """The document of a policy, without its id."""
    origin = policy.provenance
    found: dict[str, Any] = {
        "undertone": "policy/1",
        "claims": [write_claim(claim) for claim in policy.claims],
        "context": write_context(policy.context),
        "inputs": write_alphabet(policy.inputs),
        "channel": write_channel(policy.channel),
    }
    if policy.outputs is not None:
        found["outputs"] = write_alphabet(policy.outputs)
    if origin != Provenance():
        found["provenance"] = {
            "source": origin.source,
            "n": origin.n,
            "date": origin.date,
            "confidence": None if origin.confidence is None else write_decimal(origin.confidence),
            "rounding": origin.rounding,
        }
    return found
