"""Times undertone-estimate's maximum likelihood against multi-freq-ldpy's IBU.

k-ary randomised response over 1024 symbols, a million reports from a Zipf population, one set of counts
for all. IBU gets its own defaults: at most 10,000 steps, until no share moves by 1e-12. "plain" is our
iterative Bayes with the same start, the same rule and so the same steps; "exact" and "climbed" are what
`fit` does. Seconds are processor time, one thread each. "short by" is how far the log-likelihood is below the
exact maximum, in nats over all reports; "distance" is the total variation distance to the exact
maximum's shares.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np
from multi_freq_ldpy.estimators.Histogram_estimator import IBU

# BENCH_QUICK=1: to see that it runs, not to measure.
QUICK = bool(os.environ.get("BENCH_QUICK"))
SIZE = 32 if QUICK else 1024
REPORTS = 10**6
TOLERANCE = 1e-12
STEPS = 100 if QUICK else 10_000


def counted(matrix):
    truth = 1 / np.arange(1, SIZE + 1)
    truth /= truth.sum()
    return np.random.default_rng(1).multinomial(REPORTS, matrix @ truth)


def channel(epsilon):
    own = np.exp(epsilon) / (np.exp(epsilon) + SIZE - 1)
    matrix = np.full((SIZE, SIZE), (1 - own) / (SIZE - 1))
    np.fill_diagonal(matrix, own)
    return matrix


def theirs(matrix, counts):
    shares = counts / counts.sum()
    started = time.process_time()
    found = IBU(SIZE, matrix, shares, STEPS, TOLERANCE, "max_abs")
    return time.process_time() - started, found


def ours(binary, epsilon, counts):
    problem = {
        "epsilon": epsilon,
        "counts": counts.tolist(),
        "tolerance": TOLERANCE,
        "steps": STEPS,
        "dense": True,
    }
    done = subprocess.run(
        [binary], input=json.dumps(problem), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main():
    binary = sys.argv[1]
    # Compiles.
    IBU(2, np.eye(2), np.array([0.5, 0.5]), 2, TOLERANCE, "max_abs")
    print(f"load {os.getloadavg()[0]:.1f}; k = {SIZE}, {REPORTS} reports")
    print(f"{'eps':>4} {'method':<16} {'steps':>6} {'seconds':>10} {'IBU / ours':>10} {'short by':>10} {'distance':>10}")
    for epsilon in (1.0, 3.0, 5.0):
        matrix = channel(epsilon)
        counts = counted(matrix)
        seconds, shares = theirs(matrix, counts)
        runs = ours(binary, epsilon, counts)
        exact = next(run for run in runs if run["name"] == "exact, keep")
        top, best = exact["log_likelihood"], np.array(exact["shares"])

        def row(name, steps, time_taken, likelihood, found):
            distance = np.abs(np.asarray(found) - best).sum() / 2
            # What is too short for the clock (with BENCH_QUICK) has no ratio.
            ratio = seconds / time_taken if time_taken > 0 else float("nan")
            print(
                f"{epsilon:>4g} {name:<16} {steps:>6} {time_taken:>10.6f} {ratio:>10.1f}"
                f" {max(top - likelihood, 0):>10.2e} {distance:>10.1e}"
            )

        row("IBU", f"<={STEPS}", seconds, counts @ np.log(matrix @ shares), shares)
        for run in runs:
            row(run["name"], run["steps"], run["seconds"], run["log_likelihood"], run["shares"])
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
