"""Commands of the command line, called in place.

Documents (priors, channels, policies) travel as JSON in memory; nothing touches the disk. What comes back
is what ``--json`` prints.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any, Iterable

from . import _native
from ._errors import Error, Refused

# Under these keys a text is a name, and "inf" may be one.
_NAMES = {"symbols", "symbol", "outputs", "output", "label", "labels", "source", "sensors", "words", "about"}


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


def _numbers(value: Any, key: str | None = None) -> Any:
    """JSON has no infinity; the command line writes it as a text."""
    if isinstance(value, dict):
        return {name: _numbers(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item, key) for item in value]
    if value in ("inf", "-inf") and key not in _NAMES:
        return float(value)
    return value


def in_python(message: str) -> str:
    """A message of the command line, whose options are keyword arguments here."""
    return re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), message)


class Call:
    """One call being put together: words, and the documents they name."""

    def __init__(self, *words: str) -> None:
        self.words: list[str] = [*words]
        self.documents: dict[str, str] = {}

    def option(self, name: str, value: Any) -> None:
        """``--name value``; nothing for None or False, once for each item of a list of texts."""
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            return
        if value is True:
            self.words.append(flag)
        else:
            # In one word, so that negative numbers are not taken for options.
            self.words.append(f"{flag}={_written(value)}")

    def options(self, **given: Any) -> None:
        for name, value in given.items():
            self.option(name, value)

    def document(self, name: str, content: Any) -> str:
        """Keeps a document and returns the name to refer to it by."""
        name = f"{name}{len(self.documents) or ''}"
        self.documents[name] = content if isinstance(content, str) else json.dumps(content)
        return name

    def run(self) -> tuple[Answer, dict[str, str]]:
        """The answer and the documents written. Raises `Refused` for a refused claim."""
        try:
            text, good, written = _native.call(self.words, self.documents)
        except Refused as refusal:
            raise Refused(in_python(str(refusal)), refusal.cell, None, None, refusal.code) from None
        except Error as error:
            raise Error(in_python(str(error))) from None
        answer = Answer(_numbers(json.loads(text)))
        if not good:
            _raise_refusal(answer)
        return answer, written


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
        return ",".join(_written(item) for item in value)
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    # NumPy's floats print as numbers, not as np.float64(..).
    if hasattr(value, "item"):
        value = value.item()
    return str(value)


def _raise_refusal(answer: Answer) -> None:
    refusal = answer.get("refusal")
    level = answer.get("published") or answer.get("density")
    if refusal is None and level is None:
        # Not good news, but an answer: something is needed that was not given.
        return
    if refusal is None:
        claimed, attained = level["claimed"], level["attained"]
        raise Refused(f"the formula claims {claimed} and leaks {attained} nats", {}, attained, claimed)
    names = ("claim", "side", "output", "high", "low", "prior")
    cell = {name: refusal[name] for name in names if name in refusal}
    cell["ratio"], cell["allowed"] = refusal["attained"]["ratio"], refusal["allowed"]["ratio"]
    if level is not None:
        attained, claimed = level["attained"], level["claimed"]
    elif refusal.get("delta") is not None:
        attained, claimed = refusal["delta"], float(Fraction(cell["allowed"]))
    else:
        attained, claimed = float(refusal["attained"]["nats"]), float(refusal["allowed"]["nats"])
    raise Refused(refusal["message"], cell, attained, claimed)


def matrix(value: Any) -> list[list[float]]:
    """Rows of numbers from nested lists, an array or a frame."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    rows = value.tolist() if hasattr(value, "tolist") else value
    try:
        return [[float(item) for item in row] for row in rows]
    except (TypeError, ValueError):
        raise TypeError("a matrix is a list of rows of numbers") from None


def numbers(value: Any) -> list[float]:
    """A list of numbers from a list, an array or a series."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    items = value.tolist() if hasattr(value, "tolist") else value
    try:
        return [float(item) for item in items]
    except (TypeError, ValueError):
        raise TypeError("a list of numbers is needed") from None
