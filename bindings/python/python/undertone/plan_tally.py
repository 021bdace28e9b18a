"""Counting responses to a plan, where one person answers several questions."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import Any, Iterable, Sequence

from . import _native
from ._columns import is_table, known, names_of
from ._errors import Error


class PlanTally(_native.PlanTally):
    """What the responses of one plan say: counts of every item and, for `pairs`, of combinations of answers.

    Counts are integers, so any split of the responses merges to the same tally. `pairs` lists two or three questions by
    name, or several such lists. A row that is added twice is counted twice; of messages, each id counts once in one tally.
    """

    def __new__(cls, plan: Any, pairs: Sequence[Any] = (), document: str | None = None) -> PlanTally:
        return super().__new__(cls, plan_document(plan), _lists(pairs), document)

    def add(self, responses: Any, *, unknown: str = "error") -> PlanTally:
        """Counts a released frame, or messages (texts or dicts of ``response/1``), and returns the tally.

        A frame has one column for every item (`columns`) and one row for every person; empty cells are items that
        were not asked. Either everything is counted or nothing; Arrow streams are counted batch by batch.
        """
        if unknown not in ("error", "skip"):
            raise ValueError(f"unknown is {unknown!r}: use 'error' or 'skip'")
        if is_table(responses):
            for part in _batches(responses):
                self._add_frame(_csv(part, self.columns), unknown == "skip")
            return self
        if isinstance(responses, (str, bytes, dict)):
            raise TypeError("one response is no list of them: put it in a list")
        lines = [one if isinstance(one, str) else json.dumps(one) for one in responses]
        self._add_messages("\n".join(line.replace("\n", " ") for line in lines))
        return self

    def merge(self, *others: _native.PlanTally) -> PlanTally:
        """Adds the responses of other tallies of the same plan and returns the tally."""
        for other in others:
            self._merge_tally(other)
        return self

    @classmethod
    def from_json(cls, text: str, plan: Any) -> PlanTally:
        """Reads a tally of a plan."""
        return cls(plan, (), text)

    @classmethod
    def load(cls, path: str | os.PathLike[str], plan: Any) -> PlanTally:
        """Reads a tally's file, as the command line writes it."""
        with open(path, encoding="utf-8-sig") as file:
            return cls.from_json(file.read(), plan)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tally to a file, which the command line reads."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def __add__(self, other: object) -> PlanTally:
        if not isinstance(other, _native.PlanTally):
            return NotImplemented
        return type(self).from_json(self.to_json(), self._plan()).merge(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _native.PlanTally) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return (type(self), (self._plan(), (), self.to_json()))

    def __repr__(self) -> str:
        return f"PlanTally({self.responses} responses, plan {self.plan_id[:16]})"


def plan_document(plan: Any) -> str:
    """The document of a plan: a plan, its text, or what its JSON holds."""
    if isinstance(plan, str):
        return plan
    if hasattr(plan, "to_json"):
        return plan.to_json()
    if isinstance(plan, dict):
        return json.dumps(plan)
    raise TypeError(f"plan is of type {type(plan).__name__}: give a Plan, its JSON text, or a dict")


def _lists(pairs: Sequence[Any]) -> list[list[str]]:
    if isinstance(pairs, str):
        raise TypeError(f"pairs is {pairs!r}: give lists of names, pairs=[['a', 'b']]")
    pairs = list(pairs)
    if pairs and all(isinstance(name, str) for name in pairs):
        return [pairs]
    return [list(names) for names in pairs]


def _batches(table: Any) -> Iterable[Any]:
    """The table in pieces that fit in memory: streams batch by batch."""
    if type(table).__name__ in ("RecordBatchReader", "ArrowStream"):
        import pyarrow

        yield from pyarrow.RecordBatchReader.from_stream(table)
    elif type(table).__name__ == "LazyFrame":
        yield table.collect()
    else:
        yield table


def _csv(table: Any, columns: list[str]) -> bytes:
    """The columns of the items, as the command line reads them."""
    known(columns, names_of(table))
    cells = [_texts(table, name) for name in columns]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows(zip(*cells))
    return text.getvalue().encode()


def _texts(table: Any, name: str) -> list[Any]:
    module = type(table).__module__.partition(".")[0]
    if module == "pyarrow":
        values = table.column(table.schema.get_field_index(name)).to_pylist()
    elif module == "pandas":
        values = table[name].astype(object).where(table[name].notna(), None).tolist()
    elif hasattr(table, "__getitem__") and hasattr(table[name], "to_list"):
        values = table[name].to_list()
    else:
        raise Error(f"a table of type {type(table).__name__}: use pandas, polars or pyarrow")
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (bytes, bytearray)):
        # Rows of bits, as a report's JSON has them.
        return bytes(value).hex()
    if isinstance(value, float) and value.is_integer():
        # A column of whole numbers with gaps.
        return str(int(value))
    return str(value)
