"""Frames of people released under a plan, and what columns kept in the clear tell."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Iterable, Iterator, Mapping, Sequence

from . import _native
from ._call import Answer, answered
from ._columns import _bare, _module, is_categorical, names_of, plain
from ._errors import Error, KeptWarning
from .policy import Policy


def plan_text(plan: Any) -> str:
    """A plan document as text: from text, bytes, a dictionary, a path, or anything with ``to_json()``."""
    if hasattr(plan, "to_json"):
        return plan.to_json()
    if isinstance(plan, dict):
        return json.dumps(plan)
    if isinstance(plan, str) and plan.lstrip().startswith("{"):
        return plan
    if isinstance(plan, (str, os.PathLike)):
        with open(plan, encoding="utf-8-sig") as file:
            return file.read()
    if isinstance(plan, bytes):
        try:
            return plan.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Error("plan: these bytes are no plan document: give its JSON") from None
    raise Error(f"plan is of type {type(plan).__name__}: give a plan document, or the path of one")


def names(argument: str, given: Any) -> list[str]:
    """An argument that must be a list of names."""
    if isinstance(given, str):
        raise TypeError(f"{argument} is {given!r}: give a list of names, {argument}=[{given!r}]")
    return list(given)


class Chosen:
    """Which columns of a frame are read, which are kept, and in which order the output has them."""

    def __init__(
        self, engine: _native.Release, all_columns: Sequence[str], columns: Mapping[str, str] | None, keep: Sequence[str]
    ) -> None:
        columns = dict(columns or {})
        for question in columns:
            if question not in engine.questions:
                known = ", ".join(engine.questions)
                raise Error(f"columns: the plan asks no {question!r}; its questions are {known}")
        self.asked = [columns.get(question, question) for question in engine.questions]
        for at, (question, column) in enumerate(zip(engine.questions, self.asked)):
            if column in self.asked[:at]:
                other = engine.questions[self.asked.index(column)]
                raise Error(f"columns: {question!r} and {other!r} are both read from {column!r}: give each its own")
            if column not in all_columns:
                found = ", ".join(map(str, all_columns))
                raise Error(
                    f"there is no column {column!r} for the question {question!r}; the columns are {found}: "
                    f"rename one, or say which with columns={{{question!r}: ...}}"
                )
        self.items = [name for name, _, _ in engine.items]
        self.keep = names("keep", keep)
        for name in self.keep:
            if name in self.asked:
                raise ValueError(f"keep names {name!r}: that column is randomised, and cannot also be kept as it is")
            if name in self.items:
                raise ValueError(f"keep names {name!r}: a released column is called that too: rename one")
            if name not in all_columns:
                raise ValueError(f"there is no column {name!r}: the columns are {', '.join(map(str, all_columns))}")
        for name in [*self.asked, *self.keep]:
            if list(all_columns).count(name) > 1:
                raise ValueError(f"two columns are called {name!r}: rename one")
        places = {name: at for at, name in enumerate(all_columns)}
        order = [(places[name], 0, name) for name in self.keep]
        order += [(places[self.asked[questions[0]]], 1, name) for name, questions, _ in engine.items]
        self.outputs = [name for _, _, name in sorted(order, key=lambda one: one[:2])]


def release(
    frame: Any,
    plan: Any,
    *,
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    unknown: str = "error",
    threads: int | None = None,
) -> Any:
    """Releases a frame of people under a plan: every row is one person, and one answer to the plan.

    `frame` is a table of pandas, polars or pyarrow, and one of the same kind comes back; a stream
    (``RecordBatchReader``) is read lazily. `plan` is a plan document (text, bytes, a dictionary, a path, or anything with
    ``to_json()``), which is verified. Every question is the column of its name, unless `columns` says otherwise.

    Which items a row answers is drawn as a device draws it, whatever its cells say. An item with one question is a column of
    that name; a combined item is a column such as ``smokes × drinks`` with cells such as ``yes × no`` (`\\\\` stands before such a sign
    within an answer); a cell is null where the row does not answer. Nothing else leaves: neither other columns nor an index
    nor what the frame says about itself, except columns and index levels that `keep` names. What those tell about the questions
    is measured on the data: a `KeptWarning` says what to be warned of, and `measure_kept` gives the numbers.

    A value that its question does not know, or a missing one, raises `Error` naming row and column; with
    ``unknown="other"`` it counts as the answer "other" of questions that have it.
    """
    engine = engine_of(plan, unknown)
    if _module(frame) != "pandas" and not hasattr(frame, "columns") and hasattr(frame, "__arrow_c_stream__"):
        return _stream(frame, engine, columns, names("keep", keep), threads)
    chosen = Chosen(engine, _known(frame), columns, keep)
    _warn_of_kept(frame, engine, chosen)
    return _released(frame, engine, chosen, threads)


def measure_kept(
    frame: Any, plan: Any, keep: Sequence[str], *, column: str | None = None, columns: Mapping[str, str] | None = None
) -> list[Answer]:
    """How well columns kept in the clear predict each question of a plan, or a `column` that a `Policy` randomises.

    Measured on the data, each row from other rows: ``accuracy`` beside the ``majority``'s share, ``accuracy_upper``, the
    ``log_loss_reduction`` as a share of what is uncertain, the share of rows that are ``unique`` in what is kept, and a ``warning`` or
    None. It can warn, never clear, and is no part of a release.
    """
    if isinstance(plan, Policy):
        if column is None:
            raise Error("column: name the column that the policy randomises")
        return kept_beside(plan, frame, column, names("keep", keep))
    engine = engine_of(plan, "error")
    return _kept(frame, engine, Chosen(engine, _known(frame), columns, keep))


def kept_beside(policy: Policy, frame: Any, column: str, keep: Sequence[str]) -> list[Answer]:
    """What kept columns tell about a column that a policy randomises."""
    kept = [_said(_column(frame, name)) for name in keep]
    return _answers(_native.kept_beside(policy, column, plain(_column(frame, column)), list(map(str, keep)), kept))


def warn_of(found: Iterable[Answer], level: int = 4) -> None:
    """Warns of what was measured."""
    for kept in found:
        if kept.warning is not None:
            warnings.warn(kept.warning, KeptWarning, stacklevel=level)


_ENGINES: dict[tuple[str, str], _native.Release] = {}


def released_rows(batch: Any, document: str, columns: Mapping[str, str] | None, keep: list[str], unknown: str) -> Any:
    """One batch of a larger frame; the plan is verified once for each worker process."""
    if (document, unknown) not in _ENGINES:
        _ENGINES.clear()
        _ENGINES[document, unknown] = engine_of(document, unknown)
    engine = _ENGINES[document, unknown]
    return _released(batch, engine, Chosen(engine, batch.schema.names, columns, keep), None)


def engine_of(plan: Any, unknown: str) -> _native.Release:
    """A plan, verified and ready for frames."""
    if unknown not in ("error", "other"):
        raise Error(f"unknown is {unknown!r}: use 'error' or 'other'")
    return _native.Release(plan_text(plan), other=unknown == "other")


def _answers(text: str) -> list[Answer]:
    return [Answer(kept) for kept in answered(text).kept]


def _known(frame: Any) -> list[str]:
    """The names of a frame's columns and, in pandas, of its index."""
    if type(frame).__name__ == "LazyFrame":
        raise TypeError("a LazyFrame has no data yet: collect() it, or stream its batches")
    if not hasattr(frame, "columns"):
        raise TypeError(f"a frame of type {type(frame).__name__}: use pandas, polars, pyarrow, or an Arrow stream")
    levels = [name for name in frame.index.names if name is not None] if _module(frame) == "pandas" else []
    return [*names_of(frame), *(name for name in levels if name not in names_of(frame))]


def _column(frame: Any, name: str) -> Any:
    module = _module(frame)
    if module == "pandas" and name not in frame.columns:
        return frame.index.get_level_values(name)
    if module == "pyarrow":
        return frame.column(frame.schema.get_field_index(name))
    return frame[name]


def _said(column: Any) -> Any:
    """A kept column as the native module reads it, whatever it holds."""
    if _module(column) != "pandas":
        kind = str(getattr(column, "type", getattr(column, "dtype", ""))).lower()
        if kind.startswith(("struct", "list", "large_list", "map", "array", "object")):
            cells = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
            return [None if cell is None else str(cell) for cell in cells]
        return plain(column)
    if getattr(column.dtype, "kind", "O") in "iufb" and type(column.dtype).__module__.startswith("numpy"):
        return plain(column)
    import pandas

    cells = column.astype(object).tolist()
    return [None if pandas.api.types.is_scalar(cell) and pandas.isna(cell) else str(cell) for cell in cells]


def _kept(frame: Any, engine: _native.Release, chosen: Chosen) -> list[Answer]:
    asked = [plain(_column(frame, name)) for name in chosen.asked]
    kept = [_said(_column(frame, name)) for name in chosen.keep]
    return _answers(engine.kept(asked, list(map(str, chosen.keep)), kept))


def _warn_of_kept(frame: Any, engine: _native.Release, chosen: Chosen) -> None:
    if chosen.keep:
        warn_of(_kept(frame, engine, chosen), 5)


def _released(frame: Any, engine: _native.Release, chosen: Chosen, threads: int | None) -> Any:
    module = _module(frame)
    asked = [plain(_column(frame, name)) for name in chosen.asked]
    drawn = engine.draw(chosen.asked, asked, arrow=module != "pandas", threads=threads)
    found = dict(zip(chosen.items, drawn))
    if module == "pandas":
        return _pandas(frame, engine, chosen, found)
    if module == "polars":
        import polars

        # A series made from an Arrow array forgets the name it is given.
        cells = {name: polars.Series(found[name]) if name in found else frame[name] for name in chosen.outputs}
        return polars.DataFrame(cells)
    import pyarrow

    columns, fields = [], []
    for name in chosen.outputs:
        if name in found:
            columns.append(pyarrow.array(found[name]))
            fields.append(pyarrow.field(name, columns[-1].type, nullable=engine.split))
        else:
            at = frame.schema.get_field_index(name)
            columns.append(frame.column(at))
            fields.append(_bare(frame.schema.field(at)))
    return type(frame).from_arrays(columns, schema=pyarrow.schema(fields))


def _pandas(frame: Any, engine: _native.Release, chosen: Chosen, found: dict[str, Any]) -> Any:
    import pandas

    def made(name: str, questions: Sequence[int], kind: str) -> Any:
        cells = found[name]
        source = _column(frame, chosen.asked[questions[0]])
        if kind == "texts" and len(questions) == 1 and is_categorical(source):
            return pandas.Categorical(cells)
        if kind == "indices" and isinstance(cells, list):
            return pandas.array(cells, dtype="UInt32")
        if kind == "numbers":
            return pandas.Series(cells, dtype="float64").array
        return pandas.Series(cells, dtype=None if len(cells) else object).array

    levels = [name for name in chosen.keep if name not in frame.columns]
    drawn = {name: made(name, questions, kind) for name, questions, kind in engine.items}
    # Made anew: a copy would carry attributes, the index and the columns' own name along.
    parts = {name: drawn[name] if name in drawn else frame[name].array for name in chosen.outputs if name not in levels}
    released = pandas.DataFrame(parts)
    if levels:
        released.index = frame.index.droplevel([name for name in frame.index.names if name not in levels])
    return released


def _stream(
    stream: Any, engine: _native.Release, columns: Mapping[str, str] | None, keep: list[str], threads: int | None
) -> Any:
    import pyarrow

    reader = stream if isinstance(stream, pyarrow.RecordBatchReader) else pyarrow.RecordBatchReader.from_stream(stream)
    chosen = Chosen(engine, reader.schema.names, columns, keep)
    if keep:
        warnings.warn(
            f"what {', '.join(keep)} in the clear tells is not measured on a stream: measure_kept() does it on a table",
            KeptWarning,
            stacklevel=3,
        )
    empty = _released(reader.schema.empty_table(), engine, chosen, threads)

    def batches() -> Iterator[Any]:
        for batch in reader:
            yield _released(batch, engine, chosen, threads)

    return pyarrow.RecordBatchReader.from_batches(empty.schema, batches())
