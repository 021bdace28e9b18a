"""Times bounded Laplace draws: a verified policy's bulk sampler against diffprivlib's LaplaceBoundedDomain.

Both draw from the same law: inputs in [0, 3], outputs in [0, 3], LDP at epsilon 1, so the same scale. Ours is binned (1,000
outputs, each released as its representative number), uses a cryptographic generator and samples exactly the table that was
verified; diffprivlib returns floats, one call per value, from the operating system's generator. The two take turns, so that a slow spell
of the machine hits both; what is printed is the median.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import diffprivlib
from diffprivlib.mechanisms import LaplaceBoundedDomain

# BENCH_QUICK=1: to see that it runs, not to measure.
QUICK = bool(os.environ.get("BENCH_QUICK"))
LOW, HIGH, EPSILON = 0.0, 3.0, 1.0
PROBLEM = {
    "low": "0",
    "high": "3",
    "inputs": 13,
    "outputs": 1000,
    "epsilon": "1",
    "draws": 1 << (16 if QUICK else 24),
}
TURNS = 1 if QUICK else 5
CALLS = 200 if QUICK else 8000
AIM = 1000


def ours(binary):
    done = subprocess.run(
        [binary], input=json.dumps(PROBLEM), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def theirs(mechanism):
    inputs = [LOW + (HIGH - LOW) * (i % 13) / 12 for i in range(CALLS)]
    started = time.process_time()
    for value in inputs:
        mechanism.randomise(value)
    return (time.process_time() - started) * 1e9 / CALLS


def main():
    def mechanism(seed=None):
        return LaplaceBoundedDomain(
            epsilon=EPSILON,
            delta=0.0,
            sensitivity=HIGH - LOW,
            lower=LOW,
            upper=HIGH,
            random_state=seed,
        )

    secure, seeded = mechanism(), mechanism(1)
    rounds = [(ours(sys.argv[1]), theirs(secure), theirs(seeded)) for _ in range(TURNS)]
    mine = statistics.median(found["nanoseconds"] for found, _, _ in rounds)
    peer = statistics.median(nanoseconds for _, nanoseconds, _ in rounds)
    insecure = statistics.median(nanoseconds for _, _, nanoseconds in rounds)
    sample = [seeded.randomise(LOW) for _ in range(4 * CALLS)]
    found = rounds[0][0]
    print(f"bounded Laplace on [0, 3], LDP at 1; diffprivlib {diffprivlib.__version__}")
    print(f"{'':<22}{'scale':>10}{'E Y at x = 0':>14}{'E Y squared':>13}{'ns per draw':>13}{'ratio':>8}")

    def row(name, scale, mean, square, nanoseconds):
        print(
            f"{name:<22}{scale:>10.6f}{mean:>14.4f}{square:>13.4f}{nanoseconds:>13.1f}"
            f"{nanoseconds / mine:>8.0f}"
        )

    mean, square = statistics.fmean(sample), statistics.fmean(v * v for v in sample)
    scale = (HIGH - LOW) / seeded.effective_epsilon()
    row("diffprivlib", scale, mean, square, peer)
    row("diffprivlib, seeded", scale, mean, square, insecure)
    row(f"ours, {found['outputs']} outputs", found["scale"], found["mean"], found["mean_square"], mine)
    print(f"ratio {peer / mine:.0f} (aim: at least {AIM})")
    if not QUICK and not peer / mine >= AIM:
        raise SystemExit("below the aim")


if __name__ == "__main__":
    main()
