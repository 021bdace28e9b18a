"""Verified policies: the only thing that can randomise."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Sequence

from . import _native
from ._call import Answer, answered, refused
from ._columns import in_kind, is_table, names_of, plain, released
from ._errors import Error


class Policy(_native.Policy):
    """A finite channel in integers with the claims it makes, every one of which was checked exactly.

    There is no other way to a policy than to be verified: `Policy(text)` raises `Refused`, with the cell
    and the true leakage, if a claim is false.

    >>> from undertone import design
    >>> policy = design(prior=[0.5, 0.3, 0.2], protect="lip:1").policy
    >>> policy.claims
    ['lip:1']
    >>> Policy(policy.to_json()) == policy
    True
    >>> len(policy.randomize([0, 1, 2, 2]))
    4
    """

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads a policy document, or canonical bytes, and verifies it."""
        with open(path, "rb") as file:
            content = file.read()
        if content.startswith(b"undertone/policy"):
            return cls.from_bytes(content)
        try:
            return cls(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise Error(f"{os.fspath(path)}: neither a policy document nor a policy's bytes") from None

    @classmethod
    def make(
        cls,
        design: str | None = None,
        *,
        channel: Any = None,
        symbols: Sequence[str] | None = None,
        claim: str | Sequence[str] | None = None,
        prior: Any = None,
    ) -> Policy:
        """A policy from a mechanism you have, whoever designed it.

        `design` is ``krr:K,EPS``, ``bits:K,P,Q``, ``channel:FILE``, or a classical survey design, whose last symbol is the
        sensitive one: ``warner:P``, ``forced:P,P1,P0`` (truth, forced yes, forced no), ``unrelated:P,ALPHA``, ``kuk:P1,P2``,
        ``crosswise:P``, ``triangular:P``, ``mangat:P``. `channel` is a matrix instead. What it attains becomes its claims,
        rounded up, unless `claim` asks for others; ``"none"`` is for estimation only. A claim that is false raises `Refused`.

        >>> Policy.make("crosswise:0.25").claims
        ['ldp:1.0986122887']
        >>> Policy.make("warner:0.5")
        Traceback (most recent call last):
        ...
        undertone._errors.Error: design is "warner:0.5": warner: people report "yes" equally often whatever is true, so the channel is singular and reports say nothing: give a P that is not 0.5
        """
        # Imported here: the module builds on this one.
        from ._commands import _matrix_text, _prior_text, _texts

        if (design is None) == (channel is None):
            raise Error("give design, such as 'warner:0.75', or channel, a matrix: one of them")
        answer, policy = _native.policy_make(
            design or "channel",
            channel=_matrix_text("channel", channel, "inputs", "outputs"),
            symbols=None if symbols is None else [str(name) for name in symbols],
            prior=None if prior is None else _prior_text("prior", prior),
            claims=None if claim is None else _texts("claim", claim, "ldp:1"),
        )
        if policy is None:
            raise refused(answered(answer))
        return cls(policy)

    @classmethod
    def from_bytes(cls, content: bytes) -> Policy:
        """Reads a policy's canonical bytes and verifies it."""
        return cls(_native.policy_from_bytes(content).to_json())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy document."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def verify(self) -> Answer:
        """Checks every claim again; returns claims, what is attained, context and provenance.

        >>> from undertone import design
        >>> design(prior=[0.5, 0.3, 0.2], protect="lip:1").policy.verify().verified
        True
        """
        return answered(_native.verify(self))

    def risk(self) -> Answer:
        """What an observer can learn from one answer: ``in_words``, ``beliefs`` before and after, ``readings``.

        >>> from undertone import design
        >>> policy = design(prior={"yes": 0.1, "no": 0.9}, protect="lip:1").policy
        >>> print(policy.risk().in_words[0])
        Seeing "yes" can raise belief in "yes" from 10 % to 27.19 %: by the largest factor for any value of the input.
        """
        return answered(_native.show(self))

    def plot(self, path: str | os.PathLike[str] | None = None, ax: Any = None) -> Any:
        """Draws beliefs before and after one answer.

        With a `path` ending in ``.svg`` the command line's own picture is written, for which nothing
        else is needed. Otherwise matplotlib draws, into `ax` if given, and the axes are returned.
        """
        if path is not None and os.fspath(path).endswith(".svg") and ax is None:
            picture = _native.risk_picture(self)
            with open(path, "w", encoding="utf-8") as file:
                file.write(picture)
            return None
        from ._plot import risk

        axes = risk(self, ax)
        if path is not None:
            axes.figure.savefig(path)
        return axes

    def encode(self, values: Any, *, unknown: str = "error") -> Any:
        """The index of every value's input symbol.

        >>> from undertone import design
        >>> policy = design(prior={"a": 0.5, "b": 0.5}, protect="ldp:1").policy
        >>> policy.encode(["b", "a"])
        [1, 0]
        """
        return self._encode_column(plain(values), other=_other(unknown))

    def randomize(
        self,
        values: Any,
        column: str | None = None,
        *,
        keep: Sequence[str] = (),
        unknown: str = "error",
        threads: int | None = None,
    ) -> Any:
        """Randomises a column of values, one independent answer per row.

        A list, NumPy array, pandas or polars Series, or Arrow array comes back in kind (a pandas Series with
        its index). With a `column`, `values` is a table (pandas, polars, pyarrow), and a table of that column
        alone comes back: other columns, an index, and what the table says about itself (pandas ``attrs``,
        Arrow metadata) stay behind, except columns and index levels that `keep` names, which leave in the clear. What
        those tell about the column is measured: a `KeptWarning` says what to be warned of, `undertone.measure_kept` how much.
        A stream (``RecordBatchReader``, or anything with ``__arrow_c_stream__``) is read lazily, batch by batch.

        Outputs are the policy's own: names, numbers, indices (``uint32``), or rows of packed bits. Numbers
        outside the policy's bins are clipped to the end bins. A value that is no symbol of the policy,
        or is missing, raises `Error` naming its row; with ``unknown="other"`` it counts as the symbol "other".
        Randomness comes from the system's generator, which seeds one ChaCha12 stream for each call
        and thread.

        >>> from undertone import design
        >>> policy = design(prior={"yes": 0.1, "no": 0.9}, protect="lip:1", method="krr").policy
        >>> set(policy.randomize(["yes", "no"] * 50)) <= {"yes", "no"}
        True
        """
        other = _other(unknown)
        if isinstance(keep, str):
            raise TypeError(f"keep is {keep!r}: give a list of names, keep=[{keep!r}]")
        if column is not None:
            if keep and column not in keep:
                self._warn_of_kept(values, column, list(keep))
            return released(
                values,
                column,
                list(keep),
                lambda part: self.randomize(part, unknown=unknown, threads=threads),
                lambda stream: self._draw_stream(stream, column, keep=list(keep), other=other, threads=threads),
            )
        if keep:
            raise TypeError("keep names columns of a table: name the one to randomise with column=")
        if is_table(values):
            raise TypeError("a table, where one column is needed: name it with column=")
        return in_kind(values, self._draw_column(plain(values), other=other, threads=threads), self)

    def _warn_of_kept(self, table: Any, column: str, keep: list[str]) -> None:
        # Imported here: the module builds on this one.
        from ._errors import KeptWarning
        from ._release import kept_beside, warn_of

        if not hasattr(table, "columns"):
            words = "tells is not measured on a stream: measure_kept() does it on a table"
            warnings.warn(f"what {', '.join(keep)} in the clear {words}", KeptWarning, stacklevel=3)
            return
        levels = list(table.index.names) if hasattr(table, "index") else []
        if all(name in names_of(table) or name in levels for name in [column, *keep]):
            warn_of(kept_beside(self, table, column, keep))

    @property
    def document(self) -> dict[str, Any]:
        """The policy document as a dictionary."""
        return json.loads(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self):
        # Unpickling verifies again: a policy from elsewhere is only a draft.
        return (type(self), (self.to_json(),))

    def __repr__(self) -> str:
        size = f"{len(self.inputs)} inputs"
        return f"Policy({' and '.join(self.claims)}; {self.shape}, {size}; {self.id[:16]})"


def _other(unknown: str) -> bool:
    if unknown not in ("error", "other"):
        raise Error(f"unknown is {unknown!r}: use 'error' or 'other'")
    return unknown == "other"
