"""What can go wrong, in the same plain words as the command line's."""

from __future__ import annotations


class Error(ValueError):
    """An input, a document or a request that cannot be used; the message names it and the fix."""


class Refused(Error):
    """A claim that is false.

    Attributes:
        cell: where it fails: ``output``, ``high``, ``low``, ``prior`` (indices or None), and the exact
            ``ratio`` that is attained there.
        attained: the true leakage in nats (for a claim with a delta that fails on delta: the delta needed).
        claimed: what was claimed, in the same unit.
    """

    cell: dict
    attained: float
    claimed: float

    def __init__(self, message: str, cell: dict, attained: float, claimed: float) -> None:
        super().__init__(message)
        self.cell = cell
        self.attained = attained
        self.claimed = claimed

    def __reduce__(self):
        return (type(self), (str(self), self.cell, self.attained, self.claimed))
