"""A scikit-learn transformer that releases columns privately."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._commands import design
from .policy import Policy
from .prior import Prior
from .tally import Tally, estimate


class PrivateEncoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fits a prior to every column, designs a policy for it, and releases columns through the policies.

    Numbers are cut into `bins` between the least and the greatest value seen while fitting; the released
    number is the bin's middle. The prior is fitted to the data in the clear: fit on data that may be
    seen, and transform data that may not.

    `transform` is random on purpose and takes no seed: two calls differ. Every value is one release under
    `protect`; releasing the same person's value again spends the promise again.

    Parameters:
        protect: what must hold for every value, as in `design`.
        bins: how many bins numbers are cut into.
        method: as in `design`; the default is Laplace noise, which releases every level. The optimum for single numbers
            answers alike for neighbouring levels, and `design` refuses that.
        objective: as in `design`.

    Attributes:
        priors_, policies_: one of each per column.

    >>> import numpy as np
    >>> ages = np.array([[30.0], [40.0], [50.0], [60.0]] * 50)
    >>> encoder = PrivateEncoder(protect="ldp:2", bins=4).fit(ages)
    >>> released = encoder.transform(ages)
    >>> released.shape, bool(released.min() >= 30), bool(released.max() <= 60)
    ((200, 1), True, True)
    """

    def __init__(
        self, protect: str = "lip:1", bins: int = 16, method: str = "laplace", objective: str = "squared"
    ) -> None:
        self.protect = protect
        self.bins = bins
        self.method = method
        self.objective = objective

    def fit(self, X: Any, y: Any = None) -> PrivateEncoder:
        """Fits one prior and designs one policy per column."""
        X = validate_data(self, X, dtype="numeric", ensure_all_finite=True)
        self.priors_: list[Prior] = []
        self.policies_: list[Policy] = []
        for column in np.asarray(X, dtype=np.float64).T:
            low, high = float(column.min()), float(column.max())
            if not high > low:
                # One value says nothing, but a range must have a width.
                low, high = low - 0.5 * max(1.0, abs(low)), high + 0.5 * max(1.0, abs(high))
            low, high = _outwards(low, high)
            prior = Prior.fit(column, range=(low, high), bins=self.bins)
            found = design(prior, protect=self.protect, method=self.method, objective=self.objective)
            self.priors_.append(prior)
            self.policies_.append(found.policy)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Releases every value once."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype="numeric", reset=False, ensure_all_finite=True)
        X = np.asarray(X, dtype=np.float64)
        released = [policy.randomize(np.ascontiguousarray(column)) for policy, column in zip(self.policies_, X.T)]
        return np.column_stack(released)

    def estimate(self, released: Any) -> list:
        """What released columns say about the population, column by column."""
        check_is_fitted(self)
        columns = np.asarray(released, dtype=np.float64).T
        return [
            estimate(policy, Tally(policy).add(np.ascontiguousarray(column)))
            for policy, column in zip(self.policies_, columns)
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The noise is the point; there is no seed to fix it by.
        tags.non_deterministic = True
        return tags


def _outwards(low: float, high: float) -> tuple[float, float]:
    """The range in six digits, rounded outwards: a policy's edges are short decimals."""
    step = 10.0 ** np.floor(np.log10(high - low) - 5)
    digits = max(0, int(-np.floor(np.log10(step))))
    return round(float(np.floor(low / step) * step), digits), round(float(np.ceil(high / step) * step), digits)
