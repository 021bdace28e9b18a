"""Times `undertone_design::mechanism::linear::design` against SciPy's HiGHS.

Both get the same linear program after the same substitution q(y|x) = m(y)/E + s(x,y):

    minimise   sum P(x) loss(x,y) q(y|x)
    subject to sum_y q(y|x) = 1,  sum_x P(x) s(x,y) = (1 - 1/E) m(y),  0 <= s(x,y) <= (E - 1/E) m(y).

Ours runs from the prior to a policy that the kernel has verified; HiGHS only solves, with its default
tolerances (1e-7) and its own choice of method, then with each method by itself. Times are
seconds of CPU, which other work on the machine disturbs least. "repair" is the share of the loss given up to
rounding and repair, "ratio" HiGHS over ours, "to best" the best of its three runs over ours.
"""

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import scipy
from scipy.optimize import linprog
from scipy.sparse import coo_array, eye_array, hstack, kron

EPSILON = 1.0
# The least processor time that is told from nothing, in seconds.
CLOCK = 1e-3
# BENCH_QUICK=1: to see that it runs, not to measure.
SIZES = (8, 16) if os.environ.get("BENCH_QUICK") else (64, 128, 256)


def problems():
    for size in SIZES:
        zipf = 1.0 / np.arange(1, size + 1)
        dirichlet = np.random.default_rng(size).exponential(size=size)
        for loss in ("absolute", "hamming"):
            for name, weights in (("zipf", zipf), ("dirichlet", dirichlet)):
                yield size, loss, name, weights / weights.sum()


def ours(binary, prior, loss):
    problem = json.dumps({"prior": prior.tolist(), "epsilon": str(EPSILON), "loss": loss})
    before = spent()
    done = subprocess.run([binary], input=problem, capture_output=True, text=True, check=True)
    # A small problem can be over before the clock of the process has moved.
    return max(spent() - before, CLOCK), json.loads(done.stdout)


def spent():
    """Processor time of all children so far, as `time.process_time` counts that of this process."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def highs(prior, loss, method):
    n, e = len(prior), np.exp(EPSILON)
    x, y = np.indices((n, n))
    costs = prior[:, None] * (np.abs(x - y) if loss == "absolute" else (x != y))
    # Variables: s(x,y) by rows, then m(y).
    one = np.ones((1, n))
    rows = hstack([kron(eye_array(n), one), coo_array(np.full((n, n), 1 / e))])
    columns = hstack([kron(prior[None, :], eye_array(n)), -(1 - 1 / e) * eye_array(n)])
    upper = hstack([eye_array(n * n), -(e - 1 / e) * kron(one.T, eye_array(n))])
    equal = scipy.sparse.vstack([rows, columns]).tocsc()
    started = time.process_time()
    found = linprog(
        np.concatenate([costs.ravel(), costs.sum(axis=0) / e]),
        A_ub=upper.tocsc(),
        b_ub=np.zeros(n * n),
        A_eq=equal,
        b_eq=np.concatenate([np.ones(n), np.zeros(n)]),
        bounds=(0, None),
        method=method,
    )
    if not found.success:
        raise SystemExit(f"HiGHS: {found.message}")
    return time.process_time() - started, found.fun


def main():
    binary, largest = sys.argv[1], int(sys.argv[2])
    print(f"LIP, epsilon {EPSILON:g}; CPU seconds; SciPy {scipy.__version__}")
    print(
        f"{'M':>4} {'loss':<9} {'prior':<10} {'ours, verified':>14} {'repair':>8} {'HiGHS':>8}"
        f" {'simplex':>8} {'ipm':>8} {'ratio':>6} {'to best':>7} {'difference':>10}"
    )
    for size, loss, name, prior in problems():
        seconds, found = ours(binary, prior, loss)
        repair = (found["loss"] - found["optimum"]) / found["loss"]
        row = f"{size:>4} {loss:<9} {name:<10} {seconds:>14.3f} {repair:>8.0e}"
        if size <= largest:
            runs = {m: highs(prior, loss, m) for m in ("highs", "highs-ds", "highs-ipm")}
            times = [run[0] for run in runs.values()]
            optimum = runs["highs"][1]
            difference = (found["optimum"] - optimum) / optimum
            row += "".join(f" {time:>8.3f}" for time in times)
            row += f" {times[0] / seconds:>6.1f} {min(times) / seconds:>7.1f} {difference:>10.0e}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
