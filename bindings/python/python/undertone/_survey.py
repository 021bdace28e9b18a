"""Frames of people: cross-tables, and shares with a sample's design."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Sequence

from . import _native
from ._call import Answer, answered, listed, number, policy_argument, shown, whole
from ._columns import plain
from ._errors import Error
from ._release import _column, _known, _module
from .policy import Policy

# What every share has.
_NUMBERS = ("value", "low", "high", "std_error", "design_effect")


def _frame(rows: list[dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise Error("to_frame needs pandas: pip install pandas, or read the answer's fields") from None
    return pandas.DataFrame(rows)


def _numbers(share: Mapping[str, Any]) -> dict[str, Any]:
    return {name: share[name] for name in _NUMBERS if name in share}


class CrosstabAnswer(Answer):
    """Joint shares: ``cells``, ``margins``, ``conditional``, ``differences``, ``independence``."""

    def to_frame(self, of: str = "cells") -> Any:
        """One row per share, as a pandas frame.

        `of` is cells, margins, conditional (shares of the first column in groups of the others) or differences
        (from the first group).
        """
        first, *_ = self.columns
        if of == "cells":
            return _frame([{**dict(zip(self.columns, cell["symbols"])), **_numbers(cell)} for cell in self.cells])
        if of == "margins":
            return _frame(
                [
                    {"column": margin["column"], "symbol": share["symbols"][0], **_numbers(share)}
                    for margin in self.margins
                    for share in margin["shares"]
                ]
            )
        if of in ("conditional", "differences"):
            return _frame([{**row["given"], first: row["symbol"], **_numbers(row)} for row in self[of]])
        raise Error(f"of is {shown(of)}: give cells, margins, conditional or differences")


class CorrelateAnswer(Answer):
    """Correlations of columns, two by two: ``correlations``."""

    def to_frame(self) -> Any:
        """One row per pair of columns, as a pandas frame."""
        order = ("one", "other", "value", "low", "high", "std_error", "beyond")
        return _frame([{name: one[name] for name in order} for one in self.correlations])


class SharesAnswer(Answer):
    """Shares of a column, and in groups: ``shares``, ``groups``, ``differences``."""

    def to_frame(self) -> Any:
        """One row per share: in every group where there are groups, else of all rows."""
        if not self.get("by"):
            return _frame([{"symbol": share["symbol"], **_numbers(share)} for share in self.shares])
        return _frame(
            [
                {self.by: group["group"], "symbol": share["symbol"], **_numbers(share)}
                for group in self.groups
                for share in group["shares"]
            ]
        )


class EstimateAnswer(Answer):
    """What reports say about the population; ``headline`` is what to read first."""

    def to_frame(self) -> Any:
        """The headline's shares, one row each."""
        shares = self.headline["shares"]
        return _frame([{"symbol": share["symbol"], **_numbers(share)} for share in shares])


def people(frame: Any, names: Sequence[str]) -> dict[str, Any]:
    """The named columns of a frame, or of a dict of columns, as the native module takes them."""
    if isinstance(frame, Mapping):
        known, column = list(frame), frame.__getitem__
    else:
        known, column = _known(frame), lambda name: _column(frame, name)
    chosen: dict[str, Any] = {}
    for name in names:
        if name not in known:
            raise Error(f"there is no column {name!r}: the columns are {', '.join(map(str, known))}")
        if name not in chosen:
            chosen[name] = column(name)
    lengths = {name: len(values) for name, values in chosen.items()}
    if len(set(lengths.values())) > 1:
        raise Error(f"columns of different lengths: {lengths}")
    return {"rows": max(lengths.values(), default=0), "columns": {name: plain(one) for name, one in chosen.items()}}


def drawn(
    weights: str | None,
    strata: str | None,
    cluster: str | None,
    population: int | None,
    margins: Mapping[str, Mapping[str, float]] | None,
) -> dict[str, Any]:
    """How rows were drawn, as the native module takes it."""
    for name, value in (("weights", weights), ("strata", strata), ("cluster", cluster)):
        if value is not None and not isinstance(value, str):
            raise Error(f"{name} is {shown(value)}: give the name of a column")
    if margins is not None and not isinstance(margins, Mapping):
        raise Error(f"margins is {shown(margins)}: give {{column: {{category: share}}}}")
    text = None
    if margins is not None:
        named = {
            str(column): {str(category): number(f"margins[{column!r}]", share) for category, share in shares.items()}
            for column, shares in margins.items()
        }
        text = json.dumps(named)
    return {
        "weights": weights,
        "strata": strata,
        "cluster": cluster,
        "population": whole("population", population),
        "margins": text,
    }


def designs_by(policy_by: Mapping[str, Mapping[Any, Any]] | None) -> tuple[str, list[tuple[str, Policy | None]]] | None:
    """``{column: {value: policy or "clear"}}`` as the native module takes it."""
    if policy_by is None:
        return None
    if not isinstance(policy_by, Mapping) or len(policy_by) != 1:
        raise Error(f'policy_by is {shown(policy_by)}: give {{column: {{value: policy or "clear"}}}}')
    [(column, designs)] = policy_by.items()
    given = [
        (str(value), None if one == "clear" else policy_argument(f"policy_by[{column!r}][{value!r}]", one))
        for value, one in designs.items()
    ]
    return str(column), given


def reported_under(
    randomised: Mapping[str, Policy] | None, policy_by: Mapping[str, Mapping[Any, Any]] | None
) -> tuple[list[tuple[str, Policy]], tuple[str, list[tuple[str, Policy | None]]] | None]:
    """Which columns are randomised, and under what, as the native module takes it."""
    if randomised is not None and not isinstance(randomised, Mapping):
        raise Error(f"randomised is {shown(randomised)}: give {{column: policy}}")
    policies = [
        (str(name), policy_argument(f"randomised[{name!r}]", policy)) for name, policy in (randomised or {}).items()
    ]
    by = designs_by(policy_by)
    if by is not None and len(policies) != 1:
        raise Error("policy_by says how one column was reported: give randomised with that column alone")
    return policies, by


def drawn_columns(sampling: Mapping[str, Any], margins: Mapping[str, Any] | None) -> list[str]:
    """The columns that a sample's design needs."""
    named = [sampling[name] for name in ("weights", "strata", "cluster") if sampling[name] is not None]
    return [*named, *map(str, margins or ())]


def crosstab(
    frame: Any,
    columns: Sequence[str],
    *,
    randomised: Mapping[str, Policy] | None = None,
    policy_by: Mapping[str, Mapping[Any, Any]] | None = None,
    weights: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    population: int | None = None,
    margins: Mapping[str, Mapping[str, float]] | None = None,
    method: str = "mle",
    level: float = 0.95,
) -> CrosstabAnswer:
    """Joint shares of two or three columns, each randomised (with its policy) or clear.

    `frame` is a table of pandas, polars or pyarrow, or a dict of columns. `randomised` has the policy of each randomised
    column; with `policy_by`, ``{column: {value: policy or "clear"}}``, the design of a row is what that column says. `weights`,
    `strata` and `cluster` name columns, `margins` known shares to which weights are raked. The answer has ``cells``,
    ``margins``, ``conditional`` (shares of the first column in groups of the others), ``differences`` from the first group, and
    ``independence``, tested on the reports themselves; ``to_frame()`` makes a pandas frame of any of them. What the reports do not
    determine is None.

    >>> from undertone import design
    >>> policy = design({"no": 0.5, "yes": 0.5}, any_prior=True, protect="ldp:1", method="krr").policy
    >>> people = {"answer": ["yes"] * 40 + ["no"] * 60, "sex": ["f", "m"] * 50}
    >>> found = crosstab(people, ["answer", "sex"], randomised={"answer": policy})
    >>> found.n, len(found.cells), found.independence[0]["test"]
    (100, 4, 'pearson')
    """
    tabulated = [str(name) for name in listed("columns", columns, "a list of two or three columns")]
    policies, by = reported_under(randomised, policy_by)
    sampling = drawn(weights, strata, cluster, population, margins)
    names = [*tabulated, *([] if by is None else [by[0]]), *drawn_columns(sampling, margins)]
    answer = _native.crosstab(
        people(frame, names),
        tabulated,
        randomised=policies,
        drawn=sampling,
        method=method,
        level=number("level", level),
        policy_by=by,
    )
    return CrosstabAnswer(answered(answer))


def correlate(
    frame: Any,
    columns: Sequence[str],
    *,
    randomised: Mapping[str, Policy] | None = None,
    policy_by: Mapping[str, Mapping[Any, Any]] | None = None,
    weights: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    margins: Mapping[str, Mapping[str, float]] | None = None,
    level: float = 0.95,
) -> CorrelateAnswer:
    """Correlations between the true numbers of columns, each randomised (with its policy) or clear.

    A column of two symbols counts as 0 and 1. What is randomised is nearer to nought than what is true, and that is corrected. Other
    arguments are those of :func:`crosstab`; the answer has ``correlations`` and ``to_frame()``.

    >>> from undertone import design
    >>> policy = design({"no": 0.5, "yes": 0.5}, any_prior=True, protect="ldp:1", method="krr").policy
    >>> people = {"answer": ["yes", "no", "no", "yes", "no"] * 80, "age": [20, 30, 40, 50] * 100}
    >>> found = correlate(people, ["answer", "age"], randomised={"answer": policy})
    >>> found.n, len(found.correlations)
    (400, 1)
    """
    correlated = [str(name) for name in listed("columns", columns, "a list of two or more columns")]
    policies, by = reported_under(randomised, policy_by)
    sampling = drawn(weights, strata, cluster, None, margins)
    names = [*correlated, *([] if by is None else [by[0]]), *drawn_columns(sampling, margins)]
    answer = _native.correlate(
        people(frame, names),
        correlated,
        randomised=policies,
        drawn=sampling,
        level=number("level", level),
        policy_by=by,
    )
    return CorrelateAnswer(answered(answer))


def estimate_groups(
    frame: Any,
    column: str,
    policy_by: Mapping[str, Mapping[Any, Any]],
    *,
    level: float | None,
    all: bool,
    respondents: bool,
) -> Answer:
    """Shares of a column whose rows have the policies of their groups; every group has shares of its own."""
    by = designs_by(policy_by)
    assert by is not None
    answer = _native.estimate_groups(
        people(frame, [column, by[0]]), column, by, level=level, all=all, respondents=respondents
    )
    return Answer(answered(answer))


def perturb(
    source: Any,
    column: str,
    output: Any,
    *,
    policy_by: Mapping[str, Mapping[Any, Any]],
    keep: Sequence[str] = (),
    unknown: str = "error",
    least_group: int = 100,
) -> Answer:
    """Randomises a column of the CSV or Parquet file `source` into the file `output`, every row under the policy of its group.

    `policy_by` is ``{column: {value: policy}}``: what the column of groups may say, and whose policy that is. A row whose group is
    not among them is refused. The column of groups is released only if `keep` names it, which an estimate needs; a group with fewer
    rows than `least_group` is then refused, because a policy shared by few is a name tag. For one policy see `Policy.randomize`.
    """
    by = designs_by(policy_by)
    if by is None:
        raise Error("policy_by is None: give {column: {value: policy}}")
    kept = listed("keep", keep, "a list of columns")
    least = whole("least_group", least_group)
    paths = [os.fspath(path) for path in (source, output)]
    answer = _native.perturb(
        paths[0], column, paths[1], by, keep=[str(name) for name in kept], unknown=unknown, least_group=least or 0
    )
    return Answer(answered(answer))


def estimate_sample(
    policy: Policy,
    frame: Any,
    column: str,
    *,
    by: str | None,
    sampling: dict[str, Any],
    margins: Mapping[str, Any] | None,
    level: float | None,
) -> SharesAnswer:
    """Shares of a randomised column, with a sample's design and in groups."""
    names = [column, *([] if by is None else [by]), *drawn_columns(sampling, margins)]
    answer = _native.estimate_sample(
        people(frame, names), column, policy_argument("policy", policy), drawn=sampling, level=level, by=by
    )
    return SharesAnswer(answered(answer))
