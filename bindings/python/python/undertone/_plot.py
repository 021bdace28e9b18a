"""Pictures with matplotlib, where it is installed."""

from __future__ import annotations

from typing import Any


def _axes(ax: Any, **size: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("drawing needs matplotlib; Policy.plot('file.svg') does not") from None
    return plt.subplots(**size)[1]


def risk(policy: Any, ax: Any = None) -> Any:
    """Belief before one answer, and how far the answer can move it."""
    beliefs = policy.risk()["beliefs"][:40]
    axes = _axes(ax, figsize=(7, 1.2 + 0.3 * len(beliefs)))
    for row, belief in enumerate(beliefs):
        axes.plot([belief["least"], belief["most"]], [row, row], color="tab:blue", linewidth=6, alpha=0.5)
        axes.plot([belief["before_least"], belief["before_most"]], [row, row], "k|", markersize=12)
    axes.set_yticks(range(len(beliefs)), [belief["symbol"] for belief in beliefs])
    axes.invert_yaxis()
    axes.set_xlabel("belief before one answer (mark) and after it (bar)")
    axes.set_title(" and ".join(policy.claims))
    return axes


def shares(answer: Any, ax: Any = None) -> Any:
    """The estimated share of every symbol, with its interval."""
    symbols = answer["headline"]["shares"][:60]
    axes = _axes(ax, figsize=(7, 1.2 + 0.3 * len(symbols)))
    for row, share in enumerate(symbols):
        axes.plot([share["low"], share["high"]], [row, row], color="tab:blue")
        axes.plot([share["value"]], [row], "o", color="tab:blue")
    axes.set_yticks(range(len(symbols)), [share["symbol"] for share in symbols])
    axes.invert_yaxis()
    axes.set_xlabel(f"share, with {100 * answer['level']:g} % intervals")
    return axes
