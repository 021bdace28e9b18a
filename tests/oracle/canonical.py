"""The canonical bytes of a policy and its id: a writer, and a reader that takes only what the writer writes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import rules
from policy import (
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

MAGIC = b"undertone/policy"
ALPHABETS = ("indices", "names", "points", "bins")
CONTEXTS = ("unknown", "prior", "priors", "box", "secret")


def _number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "big")


def _text(value: str) -> bytes:
    encoded = value.encode()
    return _number(len(encoded), 4) + encoded


def _decimal(value: Decimal) -> bytes:
    return value.digits.to_bytes(8, "big", signed=True) + _number(value.scale, 1)


def _list(values: Sequence[T], write: Callable[[T], bytes]) -> bytes:
    return _number(len(values), 4) + b"".join(write(value) for value in values)


def _wide(values: Sequence[int]) -> bytes:
    return b"".join(_number(value, 8) for value in values)


def _prior(values: Sequence[int]) -> bytes:
    return _number(len(values), 4) + _wide(values)


def _alphabet(alphabet: Alphabet) -> bytes:
    tag = _number(ALPHABETS.index(alphabet.kind), 1)
    match alphabet.kind:
        case "indices":
            return tag + _number(alphabet.size, 4)
        case "names":
            return tag + _list(alphabet.names, _text)
        case "points":
            return tag + _list(alphabet.points, _decimal)
    return tag + _list(alphabet.edges, _decimal) + _list(alphabet.points, _decimal)


def _channel(channel: Channel) -> bytes:
    match channel:
        case Table(masses):
            rows, columns = len(masses), len(masses[0])
            return b"\0" + _number(rows, 4) + _number(columns, 4) + b"".join(_wide(row) for row in masses)
        case Keep(keep, base):
            return b"\1" + _number(len(keep), 4) + _wide(keep) + _wide(base)
        case Bits(symbols, own, other):
            return b"\2" + _number(symbols, 4) + _wide((own, other))
        case Incidence(symbols, coin, family):
            return b"\3" + _number(symbols, 4) + _wide((coin,)) + _family(family)


def _family(family: Subsets | Geometry | Listed) -> bytes:
    def numbers(*values: int) -> bytes:
        return b"".join(_number(value, 4) for value in values)

    match family:
        case Subsets(size):
            return b"\0" + numbers(size)
        case Geometry(order, dimension, _, _, _, True):
            return b"\2" + numbers(order, dimension - 1)
        case Geometry(order, dimension, classes, cosets, zero, _):
            return b"\1" + numbers(order, dimension, classes, cosets) + _number(int(zero), 1)
        case Listed(blocks):
            return b"\3" + _list(blocks, lambda block: _list(block, numbers))


def _context(context: Context) -> bytes:
    tag = _number(CONTEXTS.index(context.kind), 1)
    match context.kind:
        case "unknown":
            return tag
        case "prior":
            return tag + _prior(context.priors[0])
        case "priors":
            return tag + _list(context.priors, _prior)
        case "box":
            return tag + _prior(context.lower) + _wide(context.upper)
    return tag + _text(context.name) + _prior(context.priors[0]) + _list(context.rows, _prior)


def _claim(claim: Claim) -> bytes:
    about = _number(("input", "secret").index(claim.about), 1)
    match claim.notion:
        case "ldp":
            levels = b"\0" + _odds(claim.lower)
        case "di":
            levels = b"\2" + _odds(claim.lower)
        case _:
            levels = b"\1" + _odds(claim.lower) + _odds(claim.upper)
    return about + levels + _number(claim.delta, 8)


def _odds(odds: tuple[int, int]) -> bytes:
    return _number(odds[0], 4) + _number(odds[1], 4)


def _provenance(origin: Provenance) -> bytes:
    confidence = b"\0" if origin.confidence is None else b"\1" + _decimal(origin.confidence)
    return _text(origin.source) + _number(origin.n, 8) + _text(origin.date) + confidence + _number(origin.rounding, 8)


def write(policy: Policy) -> bytes:
    """The canonical bytes of a policy."""
    outputs = b"\0" if policy.outputs is None else b"\1" + _alphabet(policy.outputs)
    claims = _number(len(policy.claims), 1) + b"".join(_claim(claim) for claim in policy.claims)
    parts = (_alphabet(policy.inputs), outputs, _channel(policy.channel), _context(policy.context), claims)
    return MAGIC + b"\1" + b"".join(parts) + _provenance(policy.provenance)


def policy_id(policy: Policy) -> str:
    """The SHA-256 of the canonical bytes, in hex."""
    return hashlib.sha256(write(policy)).hexdigest()


class _Bytes:
    """Bytes that are read from the front; the end is `truncated`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if len(self.data) - self.at < size:
            raise Refused("truncated", f"{size} bytes are missing at {self.at}")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def tag(self, count: int) -> int:
        found = self.number(1)
        if found >= count:
            raise Refused("tag", f"{found} at {self.at - 1}")
        return found

    def text(self) -> str:
        try:
            return self.take(self.number(4)).decode()
        except UnicodeDecodeError as error:
            raise Refused("not_text", str(error)) from error

    def decimal(self) -> Decimal:
        digits = int.from_bytes(self.take(8), "big", signed=True)
        scale = self.number(1)
        if abs(digits) >= 10**18 or scale > 18:
            raise Refused("decimal", "too long")
        return rules.decimal(digits, scale)

    def wide(self, count: int) -> list[int]:
        data = self.take(8 * count)
        return [int.from_bytes(data[at : at + 8], "big") for at in range(0, 8 * count, 8)]

    def prior(self) -> list[int]:
        return self.wide(self.number(4))

    def list(self, read: Callable[[], T]) -> list[T]:
        return [read() for _ in range(self.number(4))]

    def alphabet(self) -> Alphabet:
        match ALPHABETS[self.tag(4)]:
            case "indices":
                return rules.indices(self.number(4))
            case "names":
                return rules.names(self.list(self.text))
            case "points":
                return rules.points(self.list(self.decimal))
        return rules.bins(self.list(self.decimal), self.list(self.decimal))

    def channel(self) -> Channel:
        match self.tag(4):
            case 3:
                symbols, coin = self.number(4), self.number(8)
                return rules.incidence(symbols, coin, self.family(symbols))
            case 0:
                rows, columns = self.number(4), self.number(4)
                if rows and not columns and rows > len(self.data):
                    raise Refused("truncated", "more rows than bytes")
                return rules.table([self.wide(columns) for _ in range(rows)])
            case 1:
                size = self.number(4)
                return rules.keep(self.wide(size), self.wide(size))
        return rules.bits(self.number(4), self.number(8), self.number(8))

    def family(self, symbols: int) -> Subsets | Geometry | Listed:
        match self.tag(4):
            case 0:
                return Subsets(self.number(4))
            case 1:
                order, dimension, classes, cosets = (self.number(4) for _ in range(4))
                return rules.geometry(order, dimension, classes, cosets, bool(self.tag(2)))
            case 2:
                return rules.geometry(self.number(4), self.number(4) + 1, 1, 0, True, hashing=True)
        return rules.listed(symbols, self.list(lambda: self.list(lambda: self.number(4))))

    def context(self) -> Context:
        match CONTEXTS[self.tag(5)]:
            case "unknown":
                return Context("unknown")
            case "prior":
                return rules.context_prior(self.prior())
            case "priors":
                return rules.context_priors(self.list(self.prior))
            case "box":
                lower = self.prior()
                return rules.context_box(lower, self.wide(len(lower)))
        return rules.context_secret(self.text(), self.prior(), self.list(self.prior))

    def odds(self) -> tuple[int, int]:
        return rules.odds(self.number(4), self.number(4))

    def claim(self) -> Claim:
        about = ("input", "secret")[self.tag(2)]
        notion = ("ldp", "lip", "di")[self.tag(3)]
        lower = self.odds()
        upper = self.odds() if notion == "lip" else lower
        delta = rules.delta(self.number(8))
        return Claim("alip" if notion == "lip" and lower != upper else notion, about, lower, upper, delta)

    def provenance(self) -> Provenance:
        source, n, date = self.text(), self.number(8), self.text()
        confidence = self.decimal() if self.tag(2) else None
        return rules.provenance(source, n, date, confidence, self.number(8))


def read(data: bytes) -> Policy:
    """The policy of canonical bytes, or `Refused`."""
    if not data.startswith(MAGIC[: len(data)]):
        raise Refused("not_a_policy", "the first bytes")
    source = _Bytes(data)
    source.take(len(MAGIC))
    if source.number(1) != 1:
        raise Refused("version", "not version 1")
    inputs = source.alphabet()
    outputs = source.alphabet() if source.tag(2) else None
    channel = source.channel()
    context = source.context()
    claims = [source.claim() for _ in range(source.number(1))]
    origin = source.provenance()
    if source.at < len(data):
        raise Refused("trailing", f"{len(data) - source.at} bytes too many")
    found = rules.policy(inputs, outputs, channel, context, claims, origin)
    if write(found) != data:
        raise Refused("not_canonical", "the same policy has other bytes")
    return found
