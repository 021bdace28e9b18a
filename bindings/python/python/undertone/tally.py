"""Counting reports, and what the counts say about the population."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Mapping, Sequence

from . import _native
from ._call import Answer, answered, listed, number, numbers, policy_argument, whole
from ._columns import is_table, known, names_of, plain
from ._errors import Error
from ._survey import EstimateAnswer, drawn, estimate_groups, estimate_sample
from .plan import Plan
from .plan_tally import PlanTally
from .policy import Policy


class Tally(_native.Tally):
    """How often each output of one policy was seen.

    Counts are integers, so any split of the reports merges to the same tally.

    >>> from undertone import design
    >>> policy = design(prior={"yes": 0.1, "no": 0.9}, protect="ldp:1", method="krr").policy
    >>> tally = Tally(policy).add(["yes", "no", "no"])
    >>> tally.reports, tally.counts
    (3, [1, 2])
    >>> (tally + tally).counts
    [2, 4]
    >>> Tally.from_json(tally.to_json(), policy) == tally
    True
    """

    def add(self, tokens: Any, column: str | None = None) -> Tally:
        """Counts released values (of a table's `column`) and returns the tally.

        Streams are counted batch by batch. A value that the policy does not release raises `Error`; of a column in
        one piece either everything is counted or nothing.
        """
        if column is not None:
            for part in _parts(tokens, column):
                self._add_column(plain(part))
            return self
        if is_table(tokens):
            raise TypeError("a table, where one column is needed: name it with column=")
        self._add_column(_bits(tokens))
        return self

    def merge(self, *others: _native.Tally) -> Tally:
        """Adds the reports of other tallies of the same policy and returns the tally."""
        for other in others:
            self._merge_tally(other)
        return self

    @classmethod
    def from_json(cls, text: str, policy: Policy | None = None) -> Tally:
        """Reads a tally; with its policy, tokens can be added to it."""
        return cls(policy, text)

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | None = None) -> Tally:
        """Reads a tally's file, as the command line writes it."""
        with open(path, "rb") as file:
            content = file.read()
        try:
            # A byte-order mark is no part of a document.
            return cls.from_json(content.decode("utf-8-sig"), policy)
        except UnicodeDecodeError:
            raise Error(f"{os.fspath(path)}: it is not UTF-8 text: save it as UTF-8") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tally to a file, which the command line reads."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, _native.Tally):
            return NotImplemented
        return type(self).from_json(self.to_json()).merge(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _native.Tally) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return (type(self), (None, self.to_json()))

    def __repr__(self) -> str:
        return f"Tally({self.reports} reports, policy {self.policy_id[:16]})"


def _bits(tokens: Any) -> Any:
    """Two-dimensional arrays are rows of bits; all else is a column."""
    if hasattr(tokens, "__array_interface__") and getattr(tokens, "ndim", 1) == 2:
        return tokens
    return plain(tokens)


def _parts(table: Any, column: str) -> Iterable[Any]:
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        known([column], names_of(table))
        yield table[column]
    elif type(table).__module__.startswith("pyarrow") and hasattr(table, "schema"):
        known([column], names_of(table))
        for batch in table:
            yield batch.column(batch.schema.get_field_index(column))
    elif hasattr(table, "__arrow_c_stream__"):
        import pyarrow

        yield from _parts(pyarrow.RecordBatchReader.from_stream(table), column)
    else:
        raise TypeError(f"a table of type {type(table).__name__}: use pandas, polars, pyarrow, or an Arrow stream")


def estimate(
    policy: Policy | Plan | Sequence[Policy] | None = None,
    reports: Any = None,
    column: str | None = None,
    *,
    plan: Any = None,
    policy_by: Mapping[str, Mapping[Any, Any]] | None = None,
    by: str | None = None,
    weights: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    margins: Mapping[str, Mapping[str, float]] | None = None,
    level: float = 0.95,
    all: bool = False,
    respondents: bool = False,
    above: float | None = None,
    quantiles: Sequence[float] | None = None,
    population: int | None = None,
    top: int | None = None,
) -> Answer:
    """What perturbed values, or tallies of them, say about the population.

    `reports` is a `Tally`, a list of them (of one policy or of several over the same symbols), or a
    column of released values. ``headline`` is maximum likelihood or unbiased and converges to the
    truth whatever the prior says; ``mmse`` is right only if the prior is; ``drift`` says whether the two
    agree. For numbers there are ``mean``, ``variance``, ``quantiles`` and ``histogram``. Of more than 10,000 symbols the largest
    10,000 shares are listed, or the `top` largest, in the policy's order, and ``shares_left_out`` says how many are not.

    `reports` may also be a frame, with the released `column`. `by` adds the shares in each group of another column;
    `weights`, `strata` and `cluster` name columns, `margins` are known shares, ``{column: {category: share}}``, to which weights
    are raked. With any of these the answer has ``shares``, ``groups`` and ``differences``, unbiased and with the errors of the
    sample's design. ``to_frame()`` makes a pandas frame of the shares.

    With `policy_by`, ``{column: {value: policy}}``, in place of a policy every row is read under the policy of its group and every
    group has shares of its own: ``estimate(reports=frame, column="answer", policy_by={"group": {"1": one, "2": two}})``.

    With a plan in place of a policy (``estimate(plan, released)``) `reports` is a `PlanTally`, a released frame or a list of
    responses, and the answer has ``questions``, each with the number of people who ``answered`` it and its ``headline``, and
    ``together``, the joint shares of combined items.

    >>> from undertone import design
    >>> policy = design(prior={"yes": 0.1, "no": 0.9}, protect="ldp:1", method="krr").policy
    >>> told = estimate(policy, ["yes"] * 400 + ["no"] * 600)
    >>> [(share["symbol"], round(share["value"], 3)) for share in told.headline["shares"]]
    [('yes', 0.284), ('no', 0.716)]
    >>> people = {"answer": ["yes", "no"] * 50, "sex": ["f"] * 50 + ["m"] * 50}
    >>> [group["group"] for group in estimate(policy, people, "answer", by="sex").groups]
    ['f', 'm']
    """
    if policy_by is not None:
        others = (policy, plan, by, weights, strata, cluster, margins, above, quantiles, population, top)
        if any(other is not None for other in others) or not isinstance(column, str):
            raise Error("policy_by needs a frame and its column, and goes with level, all and respondents alone")
        asked_level = number("level", level)
        return estimate_groups(reports, column, policy_by, level=asked_level, all=all, respondents=respondents)
    if by is not None or weights is not None or strata is not None or cluster is not None or margins is not None:
        if not isinstance(policy, _native.Policy) or plan is not None or not isinstance(column, str):
            raise Error("by, weights, strata, cluster and margins need one policy, a frame and its column")
        if all or respondents or above is not None or quantiles is not None:
            raise Error("by, weights, strata, cluster and margins do not go with all, respondents, above and quantiles")
        sampling = drawn(weights, strata, cluster, population, margins)
        asked_level = number("level", level)
        return estimate_sample(policy, reports, column, by=by, sampling=sampling, margins=margins, level=asked_level)
    asked: dict[str, Any] = dict(
        level=number("level", level),
        all=all,
        respondents=respondents,
        above=number("above", above),
        quantiles=None if quantiles is None else numbers("quantiles", quantiles),
        population=whole("population", population),
    )
    if isinstance(policy, Plan) and plan is None:
        policy, plan = None, policy
    if (policy is None) == (plan is None):
        raise TypeError("give a policy or a plan, and one of them")
    if reports is None:
        raise TypeError("reports: give a tally, or what was released")
    if plan is not None:
        tally = reports if isinstance(reports, _native.PlanTally) else PlanTally(plan).add(reports)
        answer = answered(_native.estimate_plan(tally, **asked))
        for field in ("rows", "unknown"):
            # About files; a tally has none.
            answer.pop(field, None)
        return answer
    policies = [policy] if isinstance(policy, _native.Policy) else listed("policy", policy, "a Policy or several")
    for one in policies:
        policy_argument("policy", one)
    tallies = _tallies(policies, reports, column)
    answer = EstimateAnswer(answered(_native.estimate(policies, tallies, top=whole("top", top), **asked)))
    for field in ("rows", "skipped", "unknown", "missing", "column"):
        # About files; a tally has none.
        answer.pop(field, None)
    return answer


def _tallies(policies: list[Policy], reports: Any, column: str | None) -> list[_native.Tally]:
    if isinstance(reports, _native.Tally):
        return [reports]
    if isinstance(reports, (list, tuple)) and reports and isinstance(reports[0], _native.Tally):
        return list(reports)
    if len(policies) != 1:
        raise Error("with several policies, give a list of tallies, one or more for each")
    if column is not None and isinstance(reports, Mapping):
        known([column], list(reports))
        reports, column = reports[column], None
    return [Tally(policies[0]).add(reports, column)]


def tally_documents(text: str) -> list[Tally]:
    """The tallies of a file the command line's ``--save-tally`` wrote: one, or a list."""
    content = json.loads(text)
    return [Tally.from_json(json.dumps(one)) for one in (content if isinstance(content, list) else [content])]
