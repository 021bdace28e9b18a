"""Undertone: context-aware local privacy with guarantees you can check.

    >>> import undertone
    >>> prior = undertone.Prior.fit(["yes"] * 10 + ["no"] * 90)
    >>> policy = undertone.design(prior=prior, protect="lip:1").policy
    >>> released = policy.randomize(["yes", "no", "no", "yes"])
    >>> undertone.estimate(policy, released).reports
    4

All leakages are in nats. Every name is the Rust crates' and the command line's.
"""

from __future__ import annotations

from typing import Any

from . import _native, fusion, hitters
from ._call import Answer
from ._commands import audit, compose, curve, design, relate, together, transfer, watchdog
from ._compliance import compliance
from ._errors import Error, KeptWarning, Refused, UninformativeWarning
from ._native import Ledger, Report
from ._regress import regress
from ._release import measure_kept, release
from ._survey import correlate, crosstab, perturb
from .plan import Plan
from .plan_tally import PlanTally
from .policy import Policy
from .prior import Prior
from .tally import Tally, estimate

__version__: str = _native.__version__

__all__ = [
    "Answer",
    "Error",
    "KeptWarning",
    "Ledger",
    "Plan",
    "PlanTally",
    "Policy",
    "Prior",
    "PrivateEncoder",
    "Refused",
    "Report",
    "Tally",
    "UninformativeWarning",
    "audit",
    "build",
    "compliance",
    "compose",
    "correlate",
    "crosstab",
    "curve",
    "design",
    "estimate",
    "fusion",
    "hitters",
    "measure_kept",
    "perturb",
    "regress",
    "relate",
    "release",
    "together",
    "transfer",
    "watchdog",
]


def build() -> dict[str, str]:
    """What this module was built from and for.

    >>> sorted(build())
    ['commit', 'profile', 'rustc', 'target', 'version']
    """
    fields = {name: getattr(_native, name) for name in ("commit", "profile", "rustc", "target")}
    return {"version": __version__, **fields}


def __getattr__(name: str) -> Any:
    # Needs scikit-learn, which need not be installed.
    if name == "PrivateEncoder":
        from .sklearn import PrivateEncoder

        return PrivateEncoder
    raise AttributeError(f"module 'undertone' has no attribute {name!r}")
