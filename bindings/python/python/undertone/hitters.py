"""Values that many people have, such as addresses or words, out of a set too large to list.

    >>> from undertone import hitters
    >>> plan = hitters.design("letters:a-z:6", protect="ldp:2").plan
    >>> reports = plan.report(["rain", "snow"] * 10_000)
    >>> sorted(one["value"] for one in hitters.find(plan, reports, error=1e-6).found)
    ['rain', 'snow']

Each person sends one report about one prefix of the value, drawn once whatever the value. A second report of the same person
would tell twice as much, and nothing in the reports shows it: keep what was drawn.
"""

from __future__ import annotations

import json
import os
from typing import Any, Iterable

from . import _native
from ._call import Answer, answered, number, whole
from ._columns import plain
from ._errors import Error

__all__ = ["HittersPlan", "design", "find", "report"]


class HittersPlan(_native.HittersPlan):
    """How one person's value becomes one report; verified when it is read.

    >>> plan = design("integers:24", protect="ldp:1").plan
    >>> HittersPlan(plan.to_json()) == plan, plan.values, plan.rounds
    (True, 'integers:24', 2)
    """

    def __new__(cls, document: str | dict[str, Any]) -> HittersPlan:
        return super().__new__(cls, document if isinstance(document, str) else json.dumps(document))

    def report(self, values: Any, *, unknown: str = "error") -> list[str]:
        """One report for each value of a column: all that leaves a person, as hexadecimal digits.

        A value that is missing or has no code is an error, is left out (``"skip"``), or is reported as the empty text
        (``"empty"``).

        >>> plan = design("text:8", protect="ldp:1").plan
        >>> len(plan.report(["tea", "", "日本"])[0]) == 2 * plan.report_bytes
        True
        """
        return self._report(_texts(values), unknown)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HittersPlan:
        """Reads a plan document and verifies it."""
        with open(path, "rb") as file:
            content = file.read()
        try:
            return cls(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise Error(f"{os.fspath(path)}: not a plan document") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan document."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HittersPlan) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<HittersPlan {self.values}, {self.rounds} rounds, {self.id[:12]}>"


def design(
    values: str,
    *,
    protect: str,
    rounds: int | None = None,
    longer: str = "refuse",
    known: Any = None,
    people: int | None = None,
    share: float | None = None,
    error: float = 0.05,
    power: float = 0.9,
) -> Answer:
    """Plans the rounds and says from which share on a value is found; ``plan`` is the verified `HittersPlan`.

    `values` is ``"text:16"`` (at most 16 bytes), ``"letters:a-z:12"`` or ``"integers:32"`` (bits). `known` are values known to be
    popular, as a list or a dict of shares: they need the last round alone, which then asks more of the people.

    >>> found = design("text:16", protect="ldp:1", people=1_000_000)
    >>> len(found.rounds), 0.02 < found.visible_share < 0.05
    (8, True)
    """
    answer, document = _native.hitters_design(
        values,
        protect,
        rounds=whole("rounds", rounds),
        longer=longer,
        known_values=_known(known),
        people=whole("people", people),
        share=number("share", share),
        error=number("error", error),
        power=number("power", power),
    )
    found = answered(answer)
    found["plan"] = HittersPlan(document)
    return found


def report(plan: Any, values: Any, *, unknown: str = "error") -> list[str]:
    """One report for each value of a column; see `HittersPlan.report`."""
    return _plan(plan).report(values, unknown=unknown)


def find(
    plan: Any,
    reports: Any = (),
    *,
    responses: Iterable[Any] = (),
    known: Any = None,
    threshold: float = 0.0,
    error: float = 0.05,
    power: float = 0.9,
) -> Answer:
    """The values that many people have, with shares, intervals and exact p-values.

    `reports` is a column of reports; `responses` are messages to the plan inside the plan (texts or dicts of ``response/1``), as
    devices send them. The chance that any value is listed that no more than the share `threshold` have is at most `error`.
    """
    collected = _native.HittersReports(_plan(plan))
    collected.add(_texts(reports))
    lines = [one if isinstance(one, str) else json.dumps(one) for one in responses]
    collected.add_responses("\n".join(line.replace("\n", " ") for line in lines))
    return found_in(collected, known=known, threshold=threshold, error=error, power=power)


def found_in(
    collected: _native.HittersReports, *, known: Any, threshold: float, error: float, power: float
) -> Answer:
    """What is found in reports that were collected."""
    limits = {"threshold": threshold, "error": error, "power": power}
    return answered(
        collected.find(
            known_values=_known(known),
            **{name: number(name, value) for name, value in limits.items()},  # type: ignore[arg-type]
        )
    )


def _plan(plan: Any) -> HittersPlan:
    return plan if isinstance(plan, HittersPlan) else HittersPlan(plan)


def _known(known: Any) -> str | None:
    if known is None:
        return None
    return json.dumps(known if isinstance(known, dict) else list(known))


def _texts(column: Any) -> list[str | None]:
    """A column's cells as texts; None where one is missing."""
    values = plain(column)
    if isinstance(values, tuple):
        categories, positions = values
        values = [None if at < 0 else categories[at] for at in positions.tolist()]
    elif hasattr(values, "to_pylist"):
        values = values.to_pylist()
    elif hasattr(values, "to_list"):
        values = values.to_list()
    elif hasattr(values, "tolist"):
        values = values.tolist()
    elif hasattr(values, "__arrow_c_array__"):
        import pyarrow

        values = pyarrow.array(values).to_pylist()
    return [None if _missing(value) else str(value) for value in values]


def _missing(value: Any) -> bool:
    """Whether a cell is None, not a number, or pandas' own mark."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
