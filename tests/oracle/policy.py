"""What a policy says, as plain data in the integer units of the format."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

MASS = 2**48
"""One, in the unit of masses and of delta."""
WEIGHT = 2**32
"""One, in the unit of weights of inputs and of the two probabilities of bits."""
KEEP = 2**40
"""One, in the unit of the probability of keeping."""
SYMBOLS_MAX = 2**24
INTEGER_END = 2**53
"""Every integer of a document is below this."""


class Refused(Exception):
    """A document or bytes that a reader must not accept; `reason` is a word of the vectors' README."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


@dataclass(frozen=True)
class Decimal:
    """digits * 10^-scale with no trailing zero behind the point."""

    digits: int
    scale: int

    def value(self) -> Fraction:
        return Fraction(self.digits, 10**self.scale)


@dataclass(frozen=True)
class Alphabet:
    """Bare indices, names, points, or bins with a value each; `kind` says which of the fields is used."""

    kind: str
    size: int
    names: tuple[str, ...] = ()
    points: tuple[Decimal, ...] = ()
    edges: tuple[Decimal, ...] = ()

    def frame(self) -> object:
        """Two alphabets speak of the same symbols iff their frames are equal."""
        if self.kind == "names":
            return ("names", frozenset(self.names))
        return (self.kind, self.size, self.points, self.edges)

    def labels(self) -> tuple[object, ...]:
        """One label per symbol, by which the symbols of two alphabets of one frame are matched."""
        if self.kind == "names":
            return self.names
        return tuple(range(self.size))


@dataclass(frozen=True)
class Table:
    """`masses[x][y]` in the unit of masses."""

    masses: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Keep:
    """Keeps x with probability `keep[x]`, else draws from `base`."""

    keep: tuple[int, ...]
    base: tuple[int, ...]


@dataclass(frozen=True)
class Bits:
    """`symbols` independent bits: the one of the input is set with probability `own`, each other with `other`."""

    symbols: int
    own: int
    other: int


@dataclass(frozen=True)
class Subsets:
    """All sets of `size` symbols."""

    size: int


@dataclass(frozen=True)
class Geometry:
    """Vectors over a field; `dimension` counts the fixed coordinate of hashing too."""

    order: int
    dimension: int
    classes: int
    cosets: int
    zero: bool
    hashing: bool


@dataclass(frozen=True)
class Listed:
    """Blocks that are written out."""

    blocks: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Incidence:
    """A block that contains the input with probability `coin`, in the unit of masses."""

    symbols: int
    coin: int
    family: Subsets | Geometry | Listed


Channel = Table | Keep | Bits | Incidence


@dataclass(frozen=True)
class Context:
    """What is assumed. `kind` is `unknown`, `prior`, `priors`, `box` or `secret`.

    `priors` holds the weights of one or several priors, or P(s) for a secret; `rows` the P(x|s).
    """

    kind: str
    priors: tuple[tuple[int, ...], ...] = ()
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    name: str = ""
    rows: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Claim:
    """A promise. `lower` and `upper` are its odds; the notions with one level have the same pair in both."""

    notion: str
    about: str
    lower: tuple[int, int]
    upper: tuple[int, int]
    delta: int = 0


@dataclass(frozen=True)
class Provenance:
    source: str = ""
    n: int = 0
    date: str = ""
    confidence: Decimal | None = None
    rounding: int = 0


@dataclass(frozen=True)
class Policy:
    inputs: Alphabet
    outputs: Alphabet | None
    channel: Channel
    context: Context
    claims: tuple[Claim, ...]
    provenance: Provenance


def outputs_of(channel: Channel) -> int:
    """How many outputs a channel has."""
    match channel:
        case Table(masses):
            return len(masses[0])
        case Keep(keep, _):
            return len(keep)
        case Bits(symbols, _, _):
            return 1 << symbols
        case Incidence():
            raise ValueError("blocks are counted elsewhere")


def inputs_of(channel: Channel) -> int:
    """How many inputs a channel has."""
    match channel:
        case Table(masses):
            return len(masses)
        case Keep(keep, _):
            return len(keep)
        case Bits(symbols, _, _) | Incidence(symbols, _, _):
            return symbols
