"""What all measurements of bench/peers share: the clock, the people, and how much work is done."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

BINARIES, FOLDER = sys.argv[1], sys.argv[2]
LARGE_ALONE = sys.argv[3:] == ["large"]
# BENCH_QUICK=1 does a hundredth of the work: to see that everything runs, not to measure.
QUICK = bool(os.environ.get("BENCH_QUICK"))
TURNS = 1 if QUICK else 5


def timed(work, values):
    """Nanoseconds of processor time per value."""
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1e9 / values


def measure(candidates, turns=TURNS):
    """The median of every candidate (name: (work, values)), which take turns."""
    for work, values in candidates.values():
        work() if values > 50_000 else None
    times = {name: [] for name in candidates}
    for _ in range(turns):
        for name, (work, values) in candidates.items():
            times[name].append(timed(work, values))
    return {name: statistics.median(found) for name, found in times.items()}


def rust(policy, count, binary="draws"):
    """The bulk sampler alone, or what makes unbiased shares of blocks (`shares`), without Python."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(policy.to_json())
        file.flush()
        done = subprocess.run([os.path.join(BINARIES, binary), str(count), file.name], capture_output=True, text=True, check=True)
    return float(done.stdout)


def less(count):
    return max(count // 100, 3) if QUICK else count


def zipf(k):
    weights = 1 / np.arange(1, k + 1)
    return weights / weights.sum()


def people(k, n, seed=1):
    return np.random.default_rng(seed).choice(k, n, p=zipf(k))
