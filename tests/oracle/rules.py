"""What makes a policy legal, for both readers: each rule refuses with the README's word for the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from logs import ODDS_MAX
import blocks
from policy import (
    KEEP,
    MASS,
    SYMBOLS_MAX,
    WEIGHT,
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
    inputs_of,
    outputs_of,
)

DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def decimal(digits: int, scale: int) -> Decimal:
    """digits * 10^-scale without trailing zeros behind the point, and then of at most 18 digits."""
    while scale > 0 and digits % 10 == 0:
        digits //= 10
        scale -= 1
    if abs(digits) >= 10**18 or scale > 18:
        raise Refused("decimal", "more than 18 digits")
    return Decimal(digits, scale)


def _increasing(values: Sequence[Decimal]) -> None:
    if any(a.value() >= b.value() for a, b in zip(values, values[1:])):
        raise Refused("alphabet", "the numbers do not increase")


def indices(size: int) -> Alphabet:
    if not 1 <= size <= SYMBOLS_MAX:
        raise Refused("alphabet", f"{size} symbols")
    return Alphabet("indices", size)


def names(texts: Sequence[str]) -> Alphabet:
    if not 1 <= len(texts) <= SYMBOLS_MAX:
        raise Refused("alphabet", f"{len(texts)} names")
    if "" in texts or len(set(texts)) < len(texts):
        raise Refused("alphabet", "a name is empty or there twice")
    return Alphabet("names", len(texts), names=tuple(texts))


def points(values: Sequence[Decimal]) -> Alphabet:
    if not 1 <= len(values) <= SYMBOLS_MAX:
        raise Refused("alphabet", f"{len(values)} points")
    _increasing(values)
    return Alphabet("points", len(values), points=tuple(values))


def bins(edges: Sequence[Decimal], values: Sequence[Decimal]) -> Alphabet:
    if not 1 <= len(values) <= SYMBOLS_MAX or len(edges) != len(values) + 1:
        raise Refused("alphabet", f"{len(edges)} edges and {len(values)} values")
    _increasing(edges)
    for low, value, high in zip(edges, values, edges[1:]):
        if not low.value() <= value.value() <= high.value():
            raise Refused("alphabet", "a value outside its bin")
    return Alphabet("bins", len(values), points=tuple(values), edges=tuple(edges))


def weights(values: Sequence[int]) -> tuple[int, ...]:
    if not values or sum(values) != WEIGHT:
        raise Refused("prior", f"weights sum to {sum(values)}")
    return tuple(values)


def context_prior(values: Sequence[int]) -> Context:
    return Context("prior", priors=(weights(values),))


def context_priors(listed: Sequence[Sequence[int]]) -> Context:
    if not listed or any(len(one) != len(listed[0]) for one in listed):
        raise Refused("context", "no prior, or priors of several sizes")
    return Context("priors", priors=tuple(weights(one) for one in listed))


def context_box(lower: Sequence[int], upper: Sequence[int]) -> Context:
    cut = tuple(min(end, WEIGHT) for end in upper)
    if not lower or len(lower) != len(upper):
        raise Refused("context", "the ends of a box are not as many")
    if any(low > high for low, high in zip(lower, upper)):
        raise Refused("context", "a lower end above its upper end")
    if sum(lower) > WEIGHT or sum(cut) < WEIGHT or any(low > WEIGHT for low in lower):
        raise Refused("context", "no prior in the box")
    return Context("box", lower=tuple(lower), upper=cut)


def context_secret(name: str, values: Sequence[int], rows: Sequence[Sequence[int]]) -> Context:
    if not 1 <= len(name.encode()) <= 200:
        raise Refused("context", "the name of the secret")
    prior = weights(values)
    if len(rows) != len(prior) or any(len(row) != len(rows[0]) for row in rows):
        raise Refused("context", "one row of P(x|s) for each value of the secret is needed")
    return Context("secret", priors=(prior,), name=name, rows=tuple(weights(row) for row in rows))


def context_size(context: Context) -> int | None:
    """How many inputs a context speaks of; None if it assumes nothing."""
    if context.kind == "unknown":
        return None
    if context.kind == "box":
        return len(context.lower)
    return len(context.rows[0] if context.kind == "secret" else context.priors[0])


def table(masses: Sequence[Sequence[int]]) -> Table:
    if not masses or any(len(row) != len(masses[0]) for row in masses):
        raise Refused("channel", "no rows, or rows of several sizes")
    if any(sum(row) != MASS for row in masses):
        raise Refused("channel", "a row does not sum to one")
    return Table(tuple(tuple(row) for row in masses))


def keep(probabilities: Sequence[int], base: Sequence[int]) -> Keep:
    if not base or len(probabilities) != len(base) or sum(base) != MASS:
        raise Refused("channel", "the base")
    if any(probability > KEEP for probability in probabilities):
        raise Refused("channel", "a probability of keeping above one")
    return Keep(tuple(probabilities), tuple(base))


def bits(symbols: int, own: int, other: int) -> Bits:
    if not 1 <= symbols <= SYMBOLS_MAX or own > WEIGHT or other > WEIGHT:
        raise Refused("channel", "bits")
    return Bits(symbols, own, other)


def geometry(order: int, dimension: int, classes: int, cosets: int, zero: bool, hashing: bool = False) -> Geometry:
    """Blocks over a field; `dimension` counts the fixed coordinate of hashing too."""
    if order > blocks.FIELD_MAX or blocks.prime_of(order) is None:
        raise Refused("channel", "no such field")
    if classes == 0 or (order - 1) % classes:
        raise Refused("channel", "the classes")
    if cosets > classes or (cosets == 0 and not zero) or (cosets == classes and zero):
        raise Refused("channel", "nothing or everything is inside")
    found = Geometry(order, dimension, classes, cosets, zero, hashing)
    if not 2 <= dimension <= 24 or order ** (dimension - 1) > blocks.BLOCKS_MAX:
        raise Refused("channel", "the coordinates")
    if blocks.block_count(found) > blocks.BLOCKS_MAX or blocks.sum_steps(found) > blocks.STEPS_MAX:
        raise Refused("channel", "too many blocks")
    return found


def listed(symbols: int, lists: Sequence[Sequence[int]]) -> Listed:
    members = sum(len(block) for block in lists)
    if not 2 <= len(lists) <= blocks.BLOCKS_MAX or not symbols <= members <= 2**26:
        raise Refused("channel", "the number of blocks or members")
    for block in lists:
        if any(x >= symbols for x in block) or any(a >= b for a, b in zip(block, block[1:])):
            raise Refused("channel", "the members of a block")
    counts = {sum(x in block for block in lists) for x in range(symbols)}
    if len(counts) != 1 or counts <= {0, len(lists)} or all(len(block) in (0, symbols) for block in lists):
        raise Refused("channel", "symbols in different numbers of blocks, or blocks that tell nothing")
    return Listed(tuple(tuple(block) for block in lists))


def incidence(symbols: int, coin: int, family: Subsets | Geometry | Listed) -> Incidence:
    if not 2 <= symbols <= SYMBOLS_MAX or coin > MASS:
        raise Refused("channel", "the symbols or the coin")
    match family:
        case Subsets(size) if not 1 <= size < symbols:
            raise Refused("channel", "the size of a subset")
        case Geometry() if blocks.point_count(family) < symbols:
            raise Refused("channel", "fewer points than symbols")
    return Incidence(symbols, coin, family)


def odds(n: int, d: int) -> tuple[int, int]:
    if not 1 <= d <= n <= ODDS_MAX:
        raise Refused("epsilon", f"odds {n}/{d}")
    return n, d


def delta(value: int) -> int:
    if value >= MASS:
        raise Refused("delta", "a delta of one or more")
    return value


def provenance(source: str, n: int, date: str, confidence: Decimal | None, rounding: int) -> Provenance:
    if len(source.encode()) > 500:
        raise Refused("draft", "the source has more than 500 bytes")
    if max(n, rounding) >= 2**53:
        raise Refused("draft", "n or rounding is not below 2^53")
    if date and not DATE.fullmatch(date):
        raise Refused("draft", "the date is not YYYY-MM-DD")
    if confidence is not None and not 0 <= confidence.value() <= 1:
        raise Refused("draft", "the confidence does not lie between 0 and 1")
    return Provenance(source, n, date, confidence, rounding)


def policy(
    inputs: Alphabet,
    outputs: Alphabet | None,
    channel: Channel,
    context: Context,
    claims: Sequence[Claim],
    origin: Provenance,
) -> Policy:
    """Puts good parts together, or refuses them as a draft if they do not fit."""
    if inputs_of(channel) != inputs.size:
        raise Refused("draft", "the channel has another number of inputs")
    if outputs is not None and (not isinstance(channel, Table) or outputs.size != outputs_of(channel)):
        raise Refused("draft", "the output alphabet does not fit")
    if outputs is None and isinstance(channel, Table) and outputs_of(channel) != inputs.size:
        raise Refused("draft", "the outputs are not the inputs and have no alphabet")
    if context_size(context) not in (None, inputs.size):
        raise Refused("draft", "the context is about another number of inputs")
    laws = {"unknown": 0, "secret": len(context.rows), "priors": len(context.priors)}.get(context.kind, 1)
    if isinstance(channel, Incidence) and blocks.check_steps(channel, laws, context.kind == "secret") > 2**33:
        raise Refused("draft", "blocks that take too long to check")
    if not 1 <= len(claims) <= 16:
        raise Refused("draft", f"{len(claims)} claims")
    for claim in claims:
        if claim.about == "secret" and context.kind != "secret":
            raise Refused("draft", "a claim about a secret without one")
        if claim.notion in ("lip", "alip") and context.kind == "unknown":
            raise Refused("draft", "a claim about belief that assumes no context")
        if claim.delta and isinstance(channel, Bits | Incidence):
            raise Refused("draft", "a delta for bits or blocks")
        if claim.notion == "di" and (claim.about != "input" or claim.delta or context.kind not in ("prior", "priors")):
            raise Refused("draft", "di needs one or several priors of the input, and has no delta")
    return Policy(inputs, outputs, channel, context, tuple(claims), origin)
