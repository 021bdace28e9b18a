"""What can go wrong, in the same plain words as the command line's."""

from __future__ import annotations


class Error(ValueError):
    """An input, a document or a request that cannot be used; the message names it and the fix."""


class Refused(Error):
    """A policy that is not made: a claim is false, or the policy could not tell its symbols apart.

    Attributes:
        code: ``"false_claim"``, or ``"uninformative"`` (then there is no cell, and no level).
        cell: where a claim fails: ``output``, ``high``, ``low``, ``prior`` (indices or None), and the exact
            ``ratio`` that is attained there.
        attained: the true leakage in nats (for a claim with a delta that fails on delta: the delta needed).
        claimed: what was claimed, in the same unit.
    """

    code: str
    cell: dict
    attained: float | None
    claimed: float | None

    def __init__(
        self, message: str, cell: dict, attained: float | None, claimed: float | None, code: str = "false_claim"
    ) -> None:
        super().__init__(message)
        self.code = code
        self.cell = cell
        self.attained = attained
        self.claimed = claimed

    def __reduce__(self):
        return (type(self), (str(self), self.cell, self.attained, self.claimed, self.code))


class UninformativeWarning(UserWarning):
    """A policy whose reports do not determine the shares of all its symbols, however many people answer."""


class KeptWarning(UserWarning):
    """Columns kept in the clear that tell what is randomised beside them, or single people out."""
