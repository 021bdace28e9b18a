"""Arithmetic in marks, and what it means that a printed number agrees."""

import ast
import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, InvalidOperation

FUNCTIONS = {name: getattr(math, name) for name in ("exp", "log", "sqrt")} | {
    "abs": abs, "len": len, "max": max, "min": min, "round": round, "sum": sum, "sorted": sorted, "float": float,
}
ALLOWED = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.Load, ast.Subscript, ast.Call, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.Pow, ast.USub, ast.GeneratorExp, ast.ListComp, ast.comprehension, ast.Store, ast.Compare, ast.Eq, ast.Lt, ast.Gt,
    ast.LtE, ast.GtE, ast.Slice, ast.Tuple, ast.List, ast.IfExp,
)


def number(cell: str):
    """A cell of an experiment's table: a number where it is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def evaluate(text: str, answer, files):
    """The value of an expression over `j` (what a command answered), `f` (files it wrote) and `t` (tables of experiments it wrote)."""

    def table(folder: str, name: str) -> list[dict]:
        [found] = [one for one in files(f"{folder}/outcome.json")["outcome"]["tables"] if one["name"] == name]
        return [dict(zip(found["columns"], map(number, row))) for row in found["rows"]]

    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise ValueError(f"{type(node).__name__} has no place in a mark")
    return eval(compile(tree, "mark", "eval"), {"__builtins__": {}, "j": answer, "f": files, "t": table, **FUNCTIONS})


def agrees(printed: str, value, rounding: str | None) -> bool:
    """Whether a number, as printed, is the value rounded to the digits shown."""
    shown = Decimal(printed.replace(",", ""))
    places = max(0, -shown.as_tuple().exponent)
    unit = Decimal(1).scaleb(-places)
    # Texts are exact; floats carry an error in their last digits, which must not decide a tie.
    try:
        exact = Decimal(str(value))
    except InvalidOperation:
        return False
    mode = {"up": ROUND_CEILING, "down": ROUND_FLOOR, None: ROUND_HALF_EVEN}[rounding]
    slack = abs(exact) * Decimal("1e-12")
    return any(candidate.quantize(unit, mode) == shown for candidate in (exact, exact - slack, exact + slack))
