"""For tests alone: randomness that repeats itself protects nobody."""

from __future__ import annotations

from typing import Any

from ._columns import in_kind, plain
from .policy import Policy


def randomize_with_seed(policy: Policy, values: Any, seed: int) -> Any:
    """`Policy.randomize` from a seed, on one thread. Whoever knows the seed knows the answers.

    >>> from undertone import design
    >>> policy = design(prior=[0.5, 0.5], protect="ldp:1").policy
    >>> randomize_with_seed(policy, [0, 1, 1], 7) == randomize_with_seed(policy, [0, 1, 1], 7)
    True
    """
    return in_kind(values, policy._draw_column(plain(values), seed=seed), policy)
