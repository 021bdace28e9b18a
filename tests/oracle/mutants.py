"""Documents with one odd thing, for the strict reader: types, signs, widths, fields too many, too few or twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from boundary import boundary_policy, document_of


class Raw(str):
    """JSON text that is written as it is."""


class Twice(dict[str, Any]):
    """An object whose last field is written twice."""


def dump(value: Any) -> str:
    """JSON text of a value that may hold `Raw` and `Twice`."""
    match value:
        case Raw():
            return str(value)
        case dict():
            fields = list(value.items())
            if isinstance(value, Twice):
                fields += fields[-1:]
            return "{" + ",".join(f"{json.dumps(name)}:{dump(item)}" for name, item in fields) + "}"
        case list():
            return "[" + ",".join(dump(item) for item in value) + "]"
    return json.dumps(value)


Path = tuple[str | int, ...]


def places(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """Every value inside a document with the way to it."""
    found: list[tuple[Path, Any]] = [(path, value)]
    if isinstance(value, dict):
        for name, item in value.items():
            found += places(item, (*path, name))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            found += places(item, (*path, at))
    return found


def changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A copy of a document with `change` made at one place; None from `change` at a field takes the field away."""
    if not path:
        return change(value)
    if isinstance(value, dict):
        items = {name: changed(item, path[1:], change) if name == path[0] else item for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not GONE}
    items_of_list = [changed(item, path[1:], change) if at == path[0] else item for at, item in enumerate(value)]
    return [item for item in items_of_list if item is not GONE]


GONE = object()


def integer_changes(name: str) -> list[Callable[[int], Any]]:
    """What is tried on an integer; the README leaves open whether `n` may be 2^53 itself."""
    wide = 2**53 + 1 if name == "n" else 2**53
    return [
        lambda value: value + 1,
        lambda value: max(0, value - 1),
        lambda value: Raw(f"{value}.0"),
        lambda value: Raw(f"{value}e0"),
        lambda value: Raw(f"-{value}"),
        lambda value: str(value),
        lambda value: bool(value),
        lambda value: wide,
        lambda value: 2**64,
        lambda value: 2**64 + value,
        lambda value: [value],
    ]


def object_changes(rng: Random) -> list[Callable[[dict[str, Any]], Any]]:
    """What is tried on an object."""
    return [
        lambda value: {**value, "more": 1},
        lambda value: {**value, "": None},
        lambda value: list(value.values()),
        lambda value: Twice(value) if value else value,
        lambda value: [value],
        lambda value: dict(rng.sample(list(value.items()), len(value))),
        lambda value: {name.capitalize(): item for name, item in value.items()},
    ]


def list_changes(rng: Random) -> list[Callable[[list[Any]], Any]]:
    """What is tried on a list."""
    return [
        lambda value: value + value[-1:],
        lambda value: value[:-1],
        lambda value: value[::-1],
        lambda value: rng.sample(value, len(value)),
        lambda value: [],
        lambda value: {str(at): item for at, item in enumerate(value)},
        lambda value: [*value, None],
    ]


def text_changes(rng: Random) -> list[Callable[[str], Any]]:
    """What is tried on text."""
    return [
        lambda value: value + "0",
        lambda value: value + " ",
        lambda value: value[:-1],
        lambda value: value.upper(),
        lambda value: "",
        lambda value: Raw(value) if value.replace(".", "", 1).isdigit() and value.isascii() else value,
        lambda value: [value],
        lambda value: Raw('"\\ud800"'),
        lambda value: "-" + value,
        lambda value: rng.choice(("0.0", "1e-3", ".5", "5.", "-0", "00.50", "1" * 19, "0." + "1" * 19, "٣", "+1")),
    ]


def mutant_text(rng: Random) -> tuple[str, str]:
    """The text of a changed document, and what was changed."""
    value = document_of(rng, boundary_policy(rng))
    path, at = rng.choice(places(value))
    name = next((part for part in reversed(path) if isinstance(part, str)), "document")
    pick = rng.random()
    change: Callable[[Any], Any]
    if pick < 0.1:
        change = lambda _: None  # noqa: E731
    elif pick < 0.2 and path:
        change = lambda _: GONE  # noqa: E731
    elif isinstance(at, int):
        change = rng.choice(integer_changes(name))
    elif isinstance(at, str):
        change = rng.choice(text_changes(rng))
    elif isinstance(at, list):
        change = rng.choice(list_changes(rng))
    elif isinstance(at, dict):
        change = rng.choice(object_changes(rng))
    else:
        change = lambda _: rng.choice(("0.5", 0, False, {}))  # noqa: E731
    text = dump(changed(value, path, change))
    if rng.random() < 0.03:
        text = rng.choice(
            (text[:-1], text + "{}", "\ufeff" + text, text + "\n ", text.replace(":", ":NaN", 1), "[" + text + "]")
        )
    return text, f"mutant_{name}"
