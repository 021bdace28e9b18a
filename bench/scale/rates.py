"""Processor seconds per billion reports, in Python arrays and on Spark, as docs/scale.md tells them.

Processor time, not time on the clock, so that a busy machine counts for little. Spark's is the difference between many rows and
few, driver, executors and Python workers together, so that its start does not count.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa

# BENCH_QUICK=1: to see that it runs, not to measure.
FEW, MANY, ROWS = (1_000, 9_000, 40_000) if os.environ.get("BENCH_QUICK") else (1_000_000, 9_000_000, 4_000_000)


def policies():
    import undertone

    shares = {f"answer {x}": 1 / 16 for x in range(16)}
    return {
        "16 names, Arrow texts": undertone.design(shares, protect="ldp:1", method="krr").policy,
        "128 indices": undertone.design([1 / 128] * 128, protect="ldp:1", method="krr").policy,
        "128 bits (OUE)": undertone.design([1 / 128] * 128, protect="ldp:1", method="oue").policy,
    }


def here(rows):
    """One thread, from an array in memory to the released array, and from that to a tally."""
    import undertone

    indices = np.arange(rows) % 16
    columns = {
        "16 names, Arrow texts": pa.array([f"answer {x}" for x in range(16)]).take(pa.array(indices)),
        "128 indices": np.arange(rows) % 128,
        "128 bits (OUE)": np.arange(rows // 4) % 128,
    }
    for name, policy in policies().items():
        column, times = columns[name], []
        for _ in range(5):
            marks = [time.process_time()]
            released = policy.randomize(column, threads=1)
            marks.append(time.process_time())
            undertone.Tally(policy).add(released)
            marks.append(time.process_time())
            times.append(np.diff(marks) / len(column) * 1e9)
        draw, count = np.median(times, axis=0)
        print(f"| Python, {name} | {draw:,.1f} | {count:,.1f} |", flush=True)


def spark(rows):
    """Writes released rows to Parquet, reads and tallies them: processor seconds of both."""
    program = f"""
import os, sys, time
from pyspark.sql import SparkSession, functions as F
import undertone, undertone.spark
policy = undertone.design({{f"answer {{x}}": 1 / 16 for x in range(16)}}, protect="ldp:1", method="krr").policy
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
people = spark.range(0, {rows}, numPartitions=8).select(F.concat(F.lit("answer "), (F.col("id") % 16).cast("string")).alias("answer"))
if sys.argv[1] == "plain":
    people.write.parquet("released.parquet")
else:
    released = undertone.spark.randomize(people, policy, "answer", "released.parquet")
if sys.argv[1] == "both":
    tally = undertone.spark.tally(released, policy, "answer")
    assert tally.reports == {rows}

def read(path):
    # A thread or process that ended meanwhile has been counted by whoever waited for it.
    try:
        return open(path).read()
    except (FileNotFoundError, ProcessLookupError):
        return ""

def spent(pid):
    fields = read(f"/proc/{{pid}}/stat").rsplit(")", 1)[-1].split()
    return sum(map(int, fields[11:15]))

def tree(pid):
    # The Java machine's threads each have children of their own.
    found = [pid]
    try:
        tasks = os.listdir(f"/proc/{{pid}}/task")
    except FileNotFoundError:
        return []
    for task in tasks:
        for child in read(f"/proc/{{pid}}/task/{{task}}/children").split():
            found += tree(child)
    return found

print(sum(map(spent, tree(str(os.getpid())))) / os.sysconf("SC_CLK_TCK"))
spark.stop()
"""
    found = []
    for what in ("plain", "perturb", "both"):
        with tempfile.TemporaryDirectory() as folder:
            words = [sys.executable, "-c", program, what]
            done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
            found.append(float(done.stdout.splitlines()[-1]))
    return np.array(found)


def main():
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| | perturb, ns = s per billion | tally |\n|---|---:|---:|")
    here(ROWS)
    plain, perturb, both = (spark(MANY) - spark(FEW)) / (MANY - FEW) * 1e9
    print(f"| Spark, 16 names, from rows to Parquet; from Parquet to a tally | {perturb:,.0f} | {both - perturb:,.0f} |")
    print(f"\nof which writing the same rows without perturbing them: {plain:,.0f}")


if __name__ == "__main__":
    main()
