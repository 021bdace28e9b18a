"""What is believed before any answer is seen."""

from __future__ import annotations

import collections
import decimal
import json
import math
import os
from typing import Any, Sequence

from . import _native
from ._call import answered, listed, numbers, series_names, shown
from ._columns import plain
from ._errors import Error

_MAX_FOUND = 100_000


class Prior:
    """A distribution over symbols, with where it came from and how well it is known.

    >>> prior = Prior([0.5, 0.3, 0.2], symbols=["yes", "no", "maybe"])
    >>> prior.p
    [0.5, 0.3, 0.2]
    >>> len(prior)
    3

    Without `symbols` the entries have no names, and match only as many without names; a pandas series has its
    index for names.
    """

    def __init__(
        self,
        p: Any,
        *,
        symbols: Sequence[str] | None = None,
        values: Any = None,
        source: str | None = None,
        date: str | None = None,
    ) -> None:
        self._document: dict[str, Any] = {"p": numbers("p", p)}
        symbols = series_names(p) if symbols is None else symbols
        if symbols is not None:
            self._document["symbols"] = [str(symbol) for symbol in listed("symbols", symbols, "a list of names")]
        given = {"values": None if values is None else numbers("values", values), "source": source, "date": date}
        self._document.update({name: value for name, value in given.items() if value is not None})
        self._check()

    def _check(self) -> None:
        # The library's own reader says what is wrong with it.
        _native.check_prior("prior", json.dumps(self._content()))

    @classmethod
    def _of(cls, document: dict[str, Any]) -> Prior:
        prior = cls.__new__(cls)
        prior._document = {name: value for name, value in document.items() if value is not None}
        return prior

    @classmethod
    def of(cls, prior: Any) -> Prior:
        """A prior from a prior, a list of probabilities, ``{symbol: probability}``, or a document."""
        if isinstance(prior, cls):
            return prior
        if isinstance(prior, dict) and hasattr(prior.get("p"), "__len__"):
            made = cls._of(prior)
            made._check()
            return made
        if isinstance(prior, dict):
            return cls(list(prior.values()), symbols=list(prior))
        return cls(prior)

    @classmethod
    def fit(
        cls,
        values: Any,
        *,
        column: str | None = None,
        symbols: Sequence[str] | None = None,
        points: Sequence[float] | None = None,
        range: tuple[float, float] | None = None,
        bins: int | None = None,
        categories: bool = False,
        smoothing: float = 0.0,
        beta: float = 0.05,
        mixture: int | str | None = None,
        unknown: str = "error",
        source: str | None = None,
        date: str | None = None,
    ) -> Prior:
        """Fits a prior to data, with the box that holds the truth with probability 1 - `beta`.

        Without `symbols`, `points` or `range` and `bins`, the symbols are those found; many different
        numbers are refused then, because the prior is public and would hold the data. `categories` says that
        numbers are codes, such as postcodes, of which more than 64 may be symbols. Numbers outside a
        range are counted in its end bins. `mixture` smooths bins by a mixture of so many normal laws
        (or ``"auto"``). `unknown` is ``"error"`` or ``"skip"``.

        >>> prior = Prior.fit(["a", "b", "a", "a"], symbols=["a", "b"])
        >>> prior.p, prior.n
        ([0.75, 0.25], 4)
        >>> Prior.fit([1.5, 2.5, 9.0], range=(0, 4), bins=2)["clipped"]
        [0, 1]
        """
        if unknown not in ("error", "skip"):
            raise Error(f"unknown is {unknown!r}: use 'error' or 'skip'")
        if column is not None:
            values = values[column]
        if (range is None) != (bins is None):
            raise Error("range and bins go together: give both or neither")
        if sum(given is not None for given in (symbols, points, range)) > 1:
            raise Error("give one of symbols, points, and range with bins")
        if mixture is not None and range is None:
            raise Error("mixture is for numbers: give range and bins")
        if categories and not (symbols is None and points is None and range is None):
            raise Error("categories is about symbols found in the data: leave it out, or symbols, points and range")
        data = plain(values)
        skip = unknown == "skip"
        if symbols is None and points is None and range is None:
            counted = _found(data, skip, categories)
        else:
            counted = _native.count(
                data,
                symbols=None if symbols is None else [*map(str, listed("symbols", symbols, "a list of names"))],
                points=None if points is None else decimals("points", points, "a list of numbers"),
                range=None if range is None else decimals("range", range, "two numbers, (low, high)"),
                bins=bins,
                skip=skip,
            )
        if mixture is None:
            fitted = _native.fit_counts(counted["counts"], smoothing, beta)
        else:
            components = None if mixture == "auto" else int(mixture)
            real = [number for number in _floats(values) if not math.isnan(number)]
            fitted, parts = _native.fit_mixture(real, counted["edges"], counted["counts"], beta, components)
            names = ("weight", "mean", "deviation")
            fitted["density"] = {"kind": "mixture", "components": [dict(zip(names, part)) for part in parts]}
        names = counted["symbols"]
        fitted["floored"] = [{"symbol": names[x], "to": fitted["p"][x]} for x in fitted["floored"]]
        fitted["source"] = source if source is not None else _told(values, column)
        fitted["date"] = date
        return cls._of({**counted, **fitted})

    @classmethod
    def mixture(cls, priors: Sequence[Any], weights: Any) -> Prior:
        """The prior of a population made of several, in known shares.

        >>> Prior.mixture([[0.5, 0.5], [0.9, 0.1]], [0.75, 0.25]).p
        [0.6, 0.4]
        """
        given = listed("priors", priors, "a list of priors")
        documents = [json.dumps(cls.of(prior)._content()) for prior in given]
        return cls._of(answered(_native.mix(documents, numbers("weights", weights))))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Prior:
        """Reads a prior's file, as the command line writes it."""
        # A byte-order mark is no part of a document.
        with open(path, encoding="utf-8-sig") as file:
            try:
                return cls.of(json.load(file))
            except json.JSONDecodeError as error:
                raise Error(f"{os.fspath(path)}: this is not JSON: {error}") from None
            except UnicodeDecodeError:
                raise Error(f"{os.fspath(path)}: it is not UTF-8 text: save it as UTF-8") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a prior's file, which the command line reads."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self._content(), file, indent=2)
            file.write("\n")

    def _content(self) -> Any:
        return self._document if len(self._document) > 1 else self._document["p"]

    @property
    def p(self) -> list[float]:
        """The probability of every symbol."""
        return list(self._document["p"])

    @property
    def symbols(self) -> list[str]:
        """What the symbols are called."""
        return list(self._document.get("symbols") or [str(x) for x in range(len(self.p))])

    def __getattr__(self, name: str) -> Any:
        # What a fit adds: n, counts, lower, upper, radius, beta, edges, values, density, source, date.
        if name.startswith("_"):
            # Also while a copy is being made and there is no document yet.
            raise AttributeError(name)
        if name in self._document:
            return self._document[name]
        raise AttributeError(f"this prior has no {name!r}: it has {', '.join(self._document)}")

    def __getitem__(self, name: str) -> Any:
        return self._document[name]

    def __len__(self) -> int:
        return len(self._document["p"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prior) and self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}: {p:.4g}" for name, p in list(zip(self.symbols, self.p))[:6])
        more = f", {len(self) - 6} more" if len(self) > 6 else ""
        return f"Prior({{{shown}{more}}})"


def _decimal(value: Any) -> str:
    """A number as plain decimal text."""
    if isinstance(value, (int, str)):
        return str(value)
    # Without an exponent.
    return format(decimal.Decimal(repr(float(value))), "f").removesuffix(".0")


def decimals(name: str, values: Any, wanted: str) -> list[str]:
    """Numbers as plain decimal texts, for the argument `name`."""
    items = listed(name, values, wanted)
    try:
        return [_decimal(item) for item in items]
    except (TypeError, ValueError, decimal.InvalidOperation):
        raise Error(f"{name} is {shown(values)}: give {wanted}") from None


def _floats(values: Any) -> list[float]:
    """The numbers of a column; what is none has been counted as skipped, and is not repeated in a message."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    found = []
    for value in values.tolist() if hasattr(values, "tolist") else values:
        try:
            found.append(float(value))
        except (TypeError, ValueError):
            continue
    return found


def _told(values: Any, column: str | None) -> str:
    name = column if column is not None else getattr(values, "name", None)
    kind = type(values).__module__.split(".")[0]
    kind = "Python" if kind == "builtins" else kind
    return f"column {name} from {kind}" if isinstance(name, str) else f"a column from {kind}"


def _text(value: Any) -> str | None:
    """A value as the symbol it names; None where it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return None if math.isnan(value) else _decimal(value)
    if hasattr(value, "item"):
        return _text(value.item())
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"a value of type {type(value).__name__}: a column holds texts, integers, floats or truth values")


def _found(data: Any, skip: bool, categories: bool) -> dict[str, Any]:
    """The symbols of a column and how often they occur: numbers by value, else by name."""
    if isinstance(data, tuple):
        import numpy as np

        entries, positions = data
        # Position -1 is a missing value.
        counts = np.bincount(positions.astype(np.int64) + 1, minlength=len(entries) + 1).tolist()
        seen = [(value, count) for value, count in zip([None, *entries], counts) if count]
    elif hasattr(data, "__array_interface__"):
        import numpy as np

        values, counts = np.unique(data, return_counts=True)
        seen = zip(values.tolist(), counts.tolist())
    else:
        if hasattr(data, "to_pylist"):
            data = data.to_pylist()
        elif hasattr(data, "to_list"):
            data = data.to_list()
        seen = collections.Counter(data).items()
    found: dict[str, int] = {}
    skipped = 0
    for value, count in seen:
        text = _text(value)
        if text is None and not skip:
            raise Error("the column has missing values: fill them in, leave them out, or use unknown=\"skip\"")
        if text is None:
            skipped += count
        else:
            found[text] = found.get(text, 0) + count
    if len(found) > _MAX_FOUND:
        raise Error(f"the column has more than {_MAX_FOUND} different values: give symbols, or range and bins for numbers")
    if not found:
        raise Error("there are no values to fit a prior to")
    _native.check_found(list(found), sum(found.values()), categories)
    order: dict[str, float] | None = {}
    for text in found:
        try:
            order[text] = float(text)
        except ValueError:
            order = None
            break
    names = sorted(found, key=lambda text: (order[text] if order else 0, text))
    counted: dict[str, Any] = {"symbols": names, "counts": [found[name] for name in names], "skipped": skipped}
    if order:
        values = [order[name] for name in names]
        if all(a < b for a, b in zip(values, values[1:])) and all(map(math.isfinite, values)):
            counted["values"] = values
    return counted
