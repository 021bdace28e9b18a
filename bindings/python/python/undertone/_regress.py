"""Regressions on frames of people."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from . import _native
from ._call import Answer, answered, number, shown
from ._errors import Error
from ._survey import _frame, drawn, drawn_columns, people, reported_under
from .policy import Policy


class RegressAnswer(Answer):
    """A fitted regression: ``coefficients``, ``log_likelihood``, ``n``, ``family``, ``errors``, ``assumptions``."""

    _again: Callable[[list[Mapping[str, Any]]], "RegressAnswer"]

    def to_frame(self) -> Any:
        """One row per coefficient, as a pandas frame."""
        order = ("symbol", "name", "estimate", "std_error", "low", "high", "p_value", "design_effect")
        return _frame([{name: one[name] for name in order if name in one} for one in self.coefficients])

    def predict(self, *at: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The prevalence of every symbol, or the mean, with its interval, for people with these covariates.

        The model is fitted again, with the same result.
        """
        return list(self._again(list(at)).get("predictions", []))


def _covariates(at: Any) -> list[tuple[str, str]]:
    if not isinstance(at, Mapping):
        raise Error(f"predict: {shown(at)}: give a dict of columns and values")
    return [(str(name), str(int(value) if isinstance(value, bool) else value)) for name, value in at.items()]


def regress(
    frame: Any,
    formula: str,
    *,
    randomised: Mapping[str, Policy] | None = None,
    policy_by: Mapping[str, Mapping[Any, Any]] | None = None,
    family: str | None = None,
    event: str | None = None,
    errors: str | None = None,
    predictors: str = "logit",
    weights: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    population: int | None = None,
    margins: Mapping[str, Mapping[str, float]] | None = None,
    random_intercept: bool = False,
    tests: bool = False,
    level: float = 0.95,
) -> RegressAnswer:
    """A logistic, multinomial or linear regression whose outcome, predictors or both are randomised.

    `frame` is a table of pandas, polars or pyarrow, or a dict of columns; `formula` is such as ``"y ~ age + female +
    age:female"``. `randomised` has the policy of each randomised column; with `policy_by`, ``{column: {value: policy or
    "clear"}}``, the design of a row is what that column says. Standard errors are from the expected information where there is
    one unless `errors` says observed, opg or robust, and robust where rows have weights, strata or clusters. The answer has
    ``coefficients`` and ``to_frame()``; ``predict({"age": 30})`` gives prevalences.

    >>> from undertone import design
    >>> policy = design({"no": 0.5, "yes": 0.5}, any_prior=True, protect="ldp:1", method="krr").policy
    >>> people = {"y": ["yes", "no", "no", "yes", "no"] * 80, "age": [20, 30, 40, 50] * 100}
    >>> found = regress(people, "y ~ age", randomised={"y": policy})
    >>> [one["name"] for one in found.coefficients], found.n, found.errors
    (['(Intercept)', 'age'], 400, 'expected')
    """
    policies, by = reported_under(randomised, policy_by)
    sampling = drawn(weights, strata, cluster, population, margins)
    names = [*_native.formula_columns(formula), *([] if by is None else [by[0]]), *drawn_columns(sampling, margins)]
    columns = people(frame, names)

    def fitted(at: list[Mapping[str, Any]]) -> RegressAnswer:
        answer = _native.regress(
            columns,
            formula,
            randomised=policies,
            drawn=sampling,
            options={
                "family": family,
                "event": event,
                "errors": errors,
                "predictors": predictors,
                "random_intercept": bool(random_intercept),
                "tests": bool(tests),
                "at": [_covariates(one) for one in at],
                "level": number("level", level),
            },
            policy_by=by,
        )
        found = RegressAnswer(answered(answer))
        found._again = fitted
        return found

    return fitted([])
