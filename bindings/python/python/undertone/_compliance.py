"""Data people randomised themselves."""

from __future__ import annotations

import csv
import io
from typing import Any

from . import _native
from ._call import Answer, answered, number
from ._columns import names_of
from ._errors import Error


def compliance(
    data: Any,
    *,
    design: str,
    response: str,
    group: str | None = None,
    first_group: Any = 1,
    attention: str | None = None,
    weights: str | None = None,
    yes: str | None = None,
    level: float = 0.95,
) -> Answer:
    """A share from data people randomised themselves, and how many followed the design.

    `data` is a table (pandas, polars, pyarrow) or a dict of columns. `design` is ``lie-detector:P1,P2`` or ``cheaters:P1,P2``
    with the column `group`, or ``crosswise:P,Q`` with the column `attention` of a question whose sensitive statement is true of
    nobody. ``assumptions`` says what is supposed.

    >>> data = {"y": [1] * 34 + [0] * 66 + [1] * 62 + [0] * 38, "g": [1] * 100 + [2] * 100}
    >>> found = compliance(data, design="cheaters:0.2,0.6", response="y", group="g")
    >>> [(one["name"], round(one["estimate"], 3)) for one in found.estimates]
    [('honest_yes', 0.2), ('honest_no', 0.7), ('cheaters', 0.1)]
    """
    if (group is None) == (attention is None):
        raise Error("give group, for a design with two groups, or attention, for crosswise: one of them")
    second = group if group is not None else attention
    wanted = [response, second, *([] if weights is None else [weights])]
    columns = {name: _column(data, name) for name in wanted}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values()))
    return answered(
        _native.compliance(
            text.getvalue(),
            design=design,
            response=response,
            second=second,
            weights=weights,
            yes=yes,
            first_group=None if group is None else str(first_group),
            level=number("level", level),
        )
    )


def _column(data: Any, name: str) -> list[Any]:
    """The cells of a column; a missing one is empty."""
    names = list(data) if isinstance(data, dict) else names_of(data)
    if name not in names:
        raise Error(f"there is no column {name!r}; the columns are {', '.join(map(str, names))}")
    column = data[name]
    cells = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return ["" if cell is None or cell != cell else cell for cell in cells]
