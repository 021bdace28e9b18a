"""Plans: several data of one person under one promise."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Sequence

from . import _native
from ._call import Answer, answered, number, numbers
from ._errors import Error, Refused


class Plan:
    """What is asked of one person, how every answer is randomised, and what is promised about the person as a whole.

    There is no other way to a plan than to be verified: `Plan(text)` raises `Refused` if a policy or a claim is false.

    >>> questions = [{"name": "smokes", "answers": ["no", "yes"]}, {"name": "commute", "answers": ["car", "bus", "bike"]}]
    >>> plan = Plan.design(questions, person="ldp:2").plan
    >>> plan.claims
    ['person: ldp:2']
    >>> Plan(plan.to_json()) == plan
    True
    """

    def __init__(self, document: str | dict[str, Any]) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        self._found = answered(_native.plan_verify(text))
        if not self._found.verified:
            raise Refused(self._found.refusal, {}, None, None)
        self._text = text

    @classmethod
    def design(
        cls,
        questions: Any,
        *,
        person: str,
        joint: Any = None,
        secret: str | Iterable[str] = (),
        question: str | Iterable[str] = (),
        people: int = 1000,
        reports: int | None = None,
        first_report: str | None = None,
        periods: int = 1,
        pairs: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """The plan with the least errors of all shares within a promise about the person; ``plan`` is the verified `Plan`.

        `questions` is a list of ``{"name", "answers", "wording"?, "shares"? or "prior"?, "weight"?}``, or a document with
        ``questions`` and ``pairs``. `joint` is a joint law of the answers and of secrets, as points, a tree or independent
        priors. `secret` and `question` are promises about belief given everything the person sends, as ``"diagnosis=lip:0.5"``.

        >>> found = Plan.design([{"name": "a", "answers": 2}, {"name": "b", "answers": 3}], person="ldp:1", people=500)
        >>> found.person["ldp"] <= 1, sorted(found.half_widths)
        (True, ['a', 'b'])
        """
        listed = questions if isinstance(questions, (str, dict)) else {"questions": list(questions)}
        answer, plan = _native.plan_design(
            _text(listed),
            person=person,
            joint=None if joint is None else _text(joint),
            secrets=_several(secret),
            beliefs=_several(question),
            people=people,
            reports=reports,
            first_report=first_report,
            periods=periods,
            pairs=[(one, other) for one, other in pairs],
        )
        found = answered(answer)
        found["plan"] = cls(plan)
        return found

    @staticmethod
    def size(
        policy: _native.Policy | None = None,
        *,
        shares: Any,
        protect: str | Iterable[str] = (),
        half_width: float | None = None,
        difference: float | None = None,
        slope: float | None = None,
        symbol: str | None = None,
        with_policy: _native.Policy | None = None,
        with_protect: str | Iterable[str] = (),
        with_shares: Any = None,
        level: float = 0.95,
        power: float = 0.8,
    ) -> Answer:
        """How many people are needed: ``needed_n``, what other numbers reach (``curve``), and ``in_the_clear``.

        `shares` are the expected shares of the answers, in the policy's order; without a `policy` the best for shares that
        keeps `protect` is reckoned with. The goal is the `half_width` of every share's interval (with `with_shares` of every
        cell of the table with a second question), or to find a `difference` in the share of `symbol` between two groups, or a
        `slope` of the log-odds per standard deviation of a clear covariate, with the chance `power`.

        >>> from undertone import Policy
        >>> Plan.size(Policy.make("warner:0.75"), shares=[0.8, 0.2], half_width=0.02).needed_n
        8740
        """
        return answered(
            _native.plan_size(
                policy,
                numbers("shares", shares),
                protect=_several(protect),
                half_width=number("half_width", half_width),
                difference=number("difference", difference),
                slope=number("slope", slope),
                symbol=symbol,
                with_policy=with_policy,
                with_protect=_several(with_protect),
                with_shares=None if with_shares is None else numbers("with_shares", with_shares),
                level=number("level", level),
                power=number("power", power),
            )
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
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
            file.write(self._text)

    def to_json(self) -> str:
        """The plan document."""
        return self._text

    def verify(self) -> Answer:
        """What the plan promises and attains: items, the person's LDP, and how far belief moves."""
        return Answer(self._found)

    @property
    def id(self) -> str:
        """The plan's identity: 64 hexadecimal digits."""
        return self._found.plan_id

    @property
    def claims(self) -> list[str]:
        """What is promised, every promise checked exactly."""
        return list(self._found.claims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Plan {' and '.join(self.claims)}, {self.id[:12]}>"


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document)


def _several(promises: str | Iterable[str]) -> list[str]:
    return [promises] if isinstance(promises, str) else list(promises)
