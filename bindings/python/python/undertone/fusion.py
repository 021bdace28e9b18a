"""Sensor networks: the fusion centre learns a public hypothesis and not a private one."""

from __future__ import annotations

import json
import math
from typing import Any, Sequence

from . import _native
from ._call import Answer, answered, listed, matrix
from ._errors import Error
from .policy import Policy


def design(
    model: Any = None,
    *,
    information: float | None = None,
    ldp: float | None = None,
    outputs: int | Sequence[int] = 2,
    method: str = "joint",
    epochs: int = 1,
    restarts: int | None = None,
    seed: int = 1,
    time_limit: float | None = None,
    objective: str | Sequence[Sequence[float]] | None = None,
    begin: Any = (),
) -> Answer:
    """Maps for every sensor within budgets, certified.

    `model` is a dictionary as ``undertone fusion design --model`` reads it. `objective` is what maps and the centre's rule
    are for: ``"error"``, ``"balanced"``, ``"information"``, ``"detection:0.05"`` (that rate of false alarms), or a matrix of
    costs, one row per decision and one column per value; by default the error or, where the best rule for that would
    always decide the same, the balanced error. Read ``warnings``. `begin` is a network, or a list of them, whose maps the
    search begins from as well. `seed` starts the search for
    good maps and has nothing to do with the noise. The result has ``network``, the document that
    sensors and centre share, and ``policies``, one verified `Policy` per sensor.
    """
    answer, network = _native.fusion_design(
        _model(model),
        information=information,
        ldp=ldp,
        outputs=listed("outputs", outputs, "a list") if hasattr(outputs, "__iter__") else [outputs],
        method=method,
        epochs=epochs,
        restarts=restarts,
        seed=seed,
        time_limit=time_limit,
        objective=objective if isinstance(objective, str) else None,
        costs=None if objective is None or isinstance(objective, str) else matrix("objective", objective),
        begin=[_text(one) for one in ([begin] if isinstance(begin, (str, dict)) else begin)],
    )
    found = answered(answer)
    found["policy_ids"] = found["policies"]
    return _with_network(found, network)


def _with_network(answer: Answer, text: str | None) -> Answer:
    """The answer with the network's document and its policies."""
    answer["network"] = None if text is None else json.loads(text)
    documents = answer["network"]["plan"]["policies"] if answer["network"] else []
    answer["policies"] = [Policy(json.dumps(document)) for document in documents]
    return answer


def evaluate(network: Any = None, *, maps: Sequence[Any] | None = None, model: Any = None) -> Answer:
    """What the centre learns under a network's maps, or under given ones and a model."""
    return answered(
        _native.fusion_evaluate(
            network=None if network is None else _text(network),
            maps=None if maps is None else json.dumps(_maps(maps)),
            model=None if model is None else _model(model),
        )
    )


def train(
    samples: Any,
    *,
    public: str,
    private: str | Sequence[str],
    sensors: Sequence[str],
    methods: str | Sequence[str] = "epic",
    ldp: float = 1.0,
    outputs: int = 2,
    levels: int | None = None,
    cut: str | None = None,
    keep: int | None = None,
    sequence: str | Sequence[str] | None = None,
    hold_out: float | None = None,
    train: int | None = None,
    test: int | None = None,
    balance: bool = False,
    confidence: float | None = None,
    ratio: float | None = None,
    slack: float | None = None,
    ridge: float | None = None,
    kernel: str = "count",
    loss: str = "logistic",
    restarts: int | None = None,
    seed: int = 1,
    time_limit: float | None = None,
) -> Answer:
    """Maps learned from labelled samples, judged on samples held out.

    `samples` is a table (pandas, polars, pyarrow, or a dictionary of columns) with a column for the public label,
    one or more for the private one, and one for each sensor. `methods` are epic, npo and e-ldp, whose maps ship as
    ``network`` and ``policies``, and raw, dca, mdr and ruca to compare with, which cannot be shipped (``ships`` says which can).
    `kernel` is count or pairs, `loss` logistic, exponential or hinge. `seed` splits the samples and starts the
    search; it has nothing to do with the noise.
    """
    chosen = {
        "public": public,
        "private": _names("private", private),
        "sensors": listed("sensors", sensors, "a list of columns"),
        "sequence": [] if sequence is None else _names("sequence", sequence),
    }
    # What is not given is as on the command line.
    usual = {
        "levels": (levels, 10),
        "cut": (cut, "equal"),
        "hold_out": (hold_out, 0.5),
        "confidence": (confidence, 0.95),
        "ratio": (ratio, 0.99),
        "slack": (slack, 0.5),
        "ridge": (ridge, 0.01),
        "restarts": (restarts, 3),
    }
    answer, network = _native.fusion_train(
        _cells(samples, _native.fusion_columns(*chosen.values())),
        **chosen,
        **{name: default if given is None else given for name, (given, default) in usual.items()},
        methods=_names("methods", methods),
        ldp=ldp,
        outputs=outputs,
        keep=keep,
        train_most=train,
        test_most=test,
        balance=balance,
        kernel=kernel,
        loss=loss,
        seed=seed,
        time_limit=time_limit,
    )
    return _with_network(answered(answer), network)


def _names(name: str, value: str | Sequence[str]) -> list[str]:
    """Names in one text, separated by commas, or in a list."""
    given = [value] if isinstance(value, str) else listed(name, value, "a text, or a list of texts")
    return [part for one in given for part in str(one).split(",")]


def _cells(samples: Any, names: Sequence[str]) -> list[list[str]]:
    """The cells of a table's columns, as texts."""
    if not (isinstance(samples, dict) or hasattr(samples, "columns") or hasattr(samples, "column_names")):
        # What it holds are samples: only its type is named.
        raise Error(f"samples is of type {type(samples).__name__}: give a table, or a dictionary of columns")
    columns = [str(name) for name in getattr(samples, "column_names", None) or getattr(samples, "columns", samples)]
    cells = []
    for name in names:
        if name not in columns:
            raise Error(f"samples has no column {name!r}: the columns are {', '.join(columns[:20])}")
        cells.append([_cell(name, row, cell) for row, cell in enumerate(_plain(samples[name]))])
    for name, column in zip(names, cells):
        if len(column) != len(cells[0]):
            raise Error(f"samples: column {name!r} has {len(column)} rows and {names[0]!r} has {len(cells[0])}")
    return cells


def _plain(column: Any) -> list[Any]:
    """The cells of one column, as Python's own values."""
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, way):
            return getattr(column, way)()
    return list(column)


def _cell(name: str, row: int, cell: Any) -> str:
    """A cell as text; one that is missing is refused."""
    if hasattr(cell, "item"):
        cell = cell.item()
    missing = cell is None or type(cell).__name__ in ("NAType", "NaTType")
    if missing or (isinstance(cell, float) and math.isnan(cell)) or cell == "":
        raise Error(f"samples: row {row}: column {name!r} is empty: fill it in or leave the row out")
    return str(cell)


def _maps(maps: Any) -> list[Any]:
    wanted = "a list of matrices, one per sensor"
    return [matrix(f"maps[{at}]", one) for at, one in enumerate(listed("maps", maps, wanted))]


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


def _model(model: Any) -> str:
    if model is None:
        raise Error("give a model, as a dictionary or as JSON")
    return _text(model)
