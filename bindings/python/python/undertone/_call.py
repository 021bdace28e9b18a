"""Arguments as documents, and answers as dictionaries.

Documents (priors, channels, policies) travel as JSON in memory; nothing touches the disk. Use cases of the library are
functions of the native module. What comes back is the same JSON that ``--json`` prints.
"""

from __future__ import annotations

import json
import math
import operator
from fractions import Fraction
from typing import Any, Iterable

from . import _native
from ._errors import Error, Refused


class Answer(dict):
    """What a command found: a dictionary whose fields can also be read as attributes.

    >>> answer = Answer(lip=1.0)
    >>> answer.lip, answer["lip"]
    (1.0, 1.0)
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no field {name!r}: the fields are {', '.join(self)}") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self]


def _with_infinities(answer: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: the field ``unbounded`` lists, as JSON pointers, which nulls stand for one.

    >>> _with_infinities({"ldp": None, "each": [1.0, None], "unbounded": ["/ldp", "/each/1"]})
    {'ldp': inf, 'each': [1.0, inf]}
    """
    for pointer in answer.pop("unbounded", []):
        *path, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        at: Any = answer
        for step in path:
            at = at[int(step)] if isinstance(at, list) else at[step]
        at[int(last) if isinstance(at, list) else last] = math.inf
    return answer


def answered(text: str) -> Answer:
    """The answer of a native function.

    >>> answered('{"ldp": null, "unbounded": ["/ldp"]}').ldp
    inf
    """
    return Answer(_with_infinities(json.loads(text)))


def refused(answer: Answer) -> Refused:
    """The exception for a design whose printed formula misses its claim."""
    refusal = answer.get("refusal")
    level = answer.get("published") or answer.get("density")
    if refusal is None:
        claimed, attained = level["claimed"], level["attained"]
        return Refused(f"the formula claims {claimed} and leaks {attained} nats", {}, attained, claimed)
    names = ("claim", "side", "output", "high", "low", "prior")
    cell = {name: refusal[name] for name in names if name in refusal}
    cell["ratio"], cell["allowed"] = refusal["attained"]["ratio"], refusal["allowed"]["ratio"]
    if level is not None:
        attained, claimed = level["attained"], level["claimed"]
    elif refusal.get("delta") is not None:
        attained, claimed = refusal["delta"], float(Fraction(cell["allowed"]))
    else:
        nats = lambda level: math.inf if level["nats"] is None else float(level["nats"])
        attained, claimed = nats(refusal["attained"]), nats(refusal["allowed"])
    return Refused(refusal["message"], cell, attained, claimed)


def shown(value: Any) -> str:
    """A value for a message: its beginning, where it is long.

    >>> shown(1.0), len(shown([0.5] * 1000))
    ('1.0', 83)
    """
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def listed(name: str, value: Any, wanted: str) -> list[Any]:
    """The items of an argument that must be a list, or an error that names it.

    >>> listed("sensors", ("heat", "lamp"), "a list of columns")
    ['heat', 'lamp']
    >>> listed("sensors", 3, "a list of columns")
    Traceback (most recent call last):
    ...
    undertone._errors.Error: sensors is 3: give a list of columns
    """
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise Error(f"{name} is {shown(value)}: give {wanted}")
    return list(value)


def policy_argument(name: str, value: Any) -> _native.Policy:
    """An argument that must be a policy, or an error that names it."""
    if not isinstance(value, _native.Policy):
        raise Error(f"{name} is {shown(value)}: give a Policy, such as Policy.load(path)")
    return value


def number(name: str, value: Any) -> float | None:
    """An argument that must be a number, if it is given, or an error that names it.

    >>> number("level", "high")
    Traceback (most recent call last):
    ...
    undertone._errors.Error: level is 'high': give a number
    """
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{name} is {shown(value)}: give a number") from None


def word_or_number(name: str, value: Any) -> str | float | None:
    """An argument that may be a word; a number in words is one."""
    if not isinstance(value, str):
        return number(name, value)
    try:
        return float(value)
    except ValueError:
        return value


def whole(name: str, value: Any) -> int | None:
    """An argument that must be a whole number, if it is given, or an error that names it.

    >>> whole("bins", 2.5)
    Traceback (most recent call last):
    ...
    undertone._errors.Error: bins is 2.5: give a whole number of at least 0
    """
    if value is None:
        return None
    try:
        found = operator.index(value)
    except TypeError:
        found = -1
    if found < 0:
        raise Error(f"{name} is {shown(value)}: give a whole number of at least 0")
    if found >= 1 << 63:
        raise Error(f"{name} is {shown(value)}: the number is too large")
    return found


def names_of(index: Any) -> list[str] | None:
    """What a pandas index calls its entries; None for one that only counts them."""
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return [str(label) for label in index]


def series_names(value: Any) -> list[str] | None:
    """The names of a pandas series' entries; None for anything else."""
    if hasattr(value, "to_numpy") and not hasattr(value, "columns"):
        return names_of(getattr(value, "index", None))
    return None


def named_matrix(what: str, value: Any, rows: str, columns: str) -> Any:
    """The matrix `what` as the library reads it: rows of numbers, or with names under `rows` and `columns`.

    Names come from a document (a dict with ``rows`` and either list of names) or a pandas frame's index and
    columns.
    """
    if isinstance(value, dict):
        unknown = set(value) - {rows, columns, "rows"}
        if "rows" not in value or unknown:
            fields = shown(sorted(map(str, value)))
            raise Error(f"{what} has the fields {fields}: give {rows!r}, {columns!r} and 'rows'")
        given = {name: value[name] for name in (rows, columns) if value.get(name) is not None}
        named = {
            name: [str(label) for label in listed(f"{what}[{name!r}]", labels, "a list of names")]
            for name, labels in given.items()
        }
        return {**named, "rows": matrix(what, value["rows"])}
    if hasattr(value, "to_numpy") and hasattr(value, "columns") and hasattr(value, "index"):
        found = {rows: names_of(value.index), columns: names_of(value.columns)}
        named = {name: labels for name, labels in found.items() if labels is not None}
        if named:
            return {**named, "rows": matrix(what, value)}
    return matrix(what, value)


def named_numbers(what: str, value: Any) -> Any:
    """The numbers `what` as a list, or a dict by name, from a list, an array, a dict or a pandas series.

    >>> named_numbers("prior", {"a": 0.5, "b": float("nan")})
    Traceback (most recent call last):
    ...
    undertone._errors.Error: prior['b'] is nan: give a number
    """
    if isinstance(value, dict):
        for name, one in value.items():
            if isinstance(one, float) and not math.isfinite(one):
                raise Error(f"{what}[{name!r}] is {one}: give a number")
        return dict(zip(map(str, value), numbers(what, list(value.values()))))
    names = series_names(value)
    if names is None:
        return numbers(what, value)
    if len(set(names)) != len(names):
        raise Error(f"{what}: a name occurs twice in the index: names must differ")
    return dict(zip(names, numbers(what, value)))


def matrix(what: str, value: Any) -> list[list[float]]:
    """Rows of numbers, for the argument `what`, from nested lists, an array or a frame."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    rows = value.tolist() if hasattr(value, "tolist") else value
    try:
        found = [[float(item) for item in row] for row in rows]
    except (TypeError, ValueError):
        raise Error(f"{what} is {shown(value)}: give a matrix, a list of rows of numbers") from None
    for at, row in enumerate(found):
        finite(f"{what}[{at}]", row)
    return found


def numbers(what: str, value: Any) -> list[float]:
    """A list of numbers, for the argument `what`, from a list, an array or a series.

    >>> numbers("prior", [0.5, float("nan")])
    Traceback (most recent call last):
    ...
    undertone._errors.Error: prior[1] is nan: give a number
    """
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    items = value.tolist() if hasattr(value, "tolist") else value
    try:
        found = [float(item) for item in items]
    except (TypeError, ValueError):
        raise Error(f"{what} is {shown(value)}: give a list of numbers") from None
    return finite(what, found)


def finite(what: str, items: list[float]) -> list[float]:
    """The numbers as they are; the first that is none, or has no end, is named."""
    for at, item in enumerate(items):
        if not math.isfinite(item):
            raise Error(f"{what}[{at}] is {item}: give a number")
    return items
