"""Runs the two programs in turns and prints medians. Needs nothing but the standard library."""

import json
import os
import statistics
import subprocess
import sys
import time

undertone, rewrite, folder, rows, turns = sys.argv[1:]
rows, turns = int(rows), int(turns)
os.makedirs(folder, exist_ok=True)


def path(name):
    return os.path.join(folder, name)


def run(*command):
    """Wall seconds, processor seconds, peak memory in MiB."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def tell(*args):
    return json.loads(subprocess.run([undertone, *args, "--json"], check=True, capture_output=True).stdout)


def made(kind, count):
    file = path(f"{kind}-{count}.parquet")
    if not os.path.exists(file):
        subprocess.run([rewrite, "make", file + ".new", str(count), kind], check=True)
        os.rename(file + ".new", file)
    return file


def policies():
    sample = made("people", 1 << 20)
    tell("prior", "fit", "--column", "answer", sample, "-o", path("answer-prior.json"))
    best = ["--objective", "hamming", "--allow-uninformative"]
    tell("design", "--prior", path("answer-prior.json"), "--protect", "lip:1", *best, "-o", path("answer.json"))
    tell("prior", "fit", "--column", "salary", sample, "--range", "0,160000", "--bins", "64", "-o", path("salary-prior.json"))
    tell("design", "--prior", path("salary-prior.json"), "--protect", "lip:2", "--method", "laplace", "-o", path("salary.json"))


def kept(columns, column):
    """All other columns: whoever rewrites a file writes them too."""
    return [word for name in columns if name != column for word in ("--keep", name)]


def compare(kind, column, count):
    file = made(kind, count)
    copy = [rewrite, "copy", file, path("copy.parquet")]
    noise = [undertone, "perturb", "--policy", path(f"{column}.json"), "--column", column, file, "-o", path("noise.parquet")]
    if kind == "people":
        noise += kept(["id", "answer", "salary", "weight"], column)
    run(*copy), run(*noise)
    pairs = [(run(*copy), run(*noise)) for _ in range(turns)]
    middle = lambda who, what: statistics.median(pair[who][what] for pair in pairs)
    ratio = lambda what: sorted(pair[1][what] / pair[0][what] for pair in pairs)
    wall, used = ratio(0), ratio(1)
    print(
        f"| {kind}, {column} | {count:,} | {middle(0, 0):.2f} | {middle(1, 0):.2f} | {statistics.median(wall):.2f} ({wall[0]:.2f} to {wall[-1]:.2f}) "
        f"| {middle(0, 1):.2f} | {middle(1, 1):.2f} | {statistics.median(used):.2f} ({used[0]:.2f} to {used[-1]:.2f}) | {middle(0, 2):.0f} | {middle(1, 2):.0f} |"
    )


def csv(count):
    """The rate and the memory for text, which there is nothing to compare with."""
    file = path(f"people-{count}.csv")
    if not os.path.exists(file):
        with open(file + ".new", "w") as out:
            out.write("id,answer,salary,note\n")
            for at in range(count):
                out.write(f"{at},a{(at * 7919) % 16:02},{(at * 104729) % 160000}.{at % 100:02},\"text, quoted\"\n")
        os.rename(file + ".new", file)
    noise = ["perturb", "--policy", path("answer.json"), "--column", "answer", file, "-o", path("noise.csv")]
    noise += kept(["id", "answer", "salary", "note"], "answer")
    seen = [run(undertone, *noise) for _ in range(turns)]
    middle = lambda what: statistics.median(one[what] for one in seen)
    size = os.path.getsize(file) / 1e6
    print(f"| {count:,} rows, {size:.0f} MB | {middle(0):.2f} | {middle(1):.2f} | {size / middle(1):.0f} | {middle(2):.0f} |")


policies()
print("| file, column | rows | rewrite, s | perturb, s | ratio | rewrite, CPU s | perturb, CPU s | ratio | rewrite, MiB | perturb, MiB |")
print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
compare("answers", "answer", rows // 10)
for kind, column in [("answers", "answer"), ("salaries", "salary"), ("people", "answer"), ("people", "salary")]:
    compare(kind, column, rows)
print()
print("| CSV | perturb, s | CPU s | MB per CPU second | MiB |")
print("|---|---:|---:|---:|---:|")
csv(rows // 100)
csv(rows // 10)
