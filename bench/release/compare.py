"""Releases nine columns at once and one by one, in turns, and prints medians. Needs nothing but the standard library."""

import json
import os
import statistics
import subprocess
import sys
import time

undertone, rewrite, folder, rows, turns = sys.argv[1:]
rows, turns = int(rows), int(turns)
os.makedirs(folder, exist_ok=True)
ANSWERS, SALARIES = ["q1", "q2", "q3", "q4", "q5", "q6"], ["s1", "s2", "s3"]
COLUMNS = ANSWERS + SALARIES


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


def made(count):
    file = path(f"frame-{count}.parquet")
    if not os.path.exists(file):
        subprocess.run([rewrite, "make", file + ".new", str(count), "frame"], check=True)
        os.rename(file + ".new", file)
    return file


def text(count):
    """The same columns as CSV."""
    file = path(f"frame-{count}.csv")
    if not os.path.exists(file):
        with open(file + ".new", "w") as out:
            out.write(",".join(COLUMNS) + "\n")
            for at in range(count):
                cells = [f"a{(at * 7919 + 31 * one * at // 3) % 16:02}" for one in range(6)]
                cells += [f"{(at * 104729 + 7 * one * at) % 160000}.{at % 100:02}" for one in range(3)]
                out.write(",".join(cells) + "\n")
        os.rename(file + ".new", file)
    return file


def policies():
    """One for answers and one for salaries, each without a prior: a plan assumes nothing about people here."""
    sample = made(1 << 18)
    tell("prior", "fit", "--column", "q1", sample, "-o", path("q-prior.json"))
    tell("design", "--prior", path("q-prior.json"), "--protect", "ldp:1", "--method", "krr", "-o", path("q.json"))
    tell("prior", "fit", "--column", "s1", sample, "--range", "0,160000", "--bins", "64", "-o", path("s-prior.json"))
    tell("design", "--prior", path("s-prior.json"), "--protect", "ldp:2", "--method", "laplace", "-o", path("s.json"))


def plans():
    documents = [json.load(open(path(name))) for name in ("q.json", "s.json")]
    questions = [{"name": name, "answers": documents[name in SALARIES]["inputs"]} for name in COLUMNS]

    def save(name, items, **more):
        plan = {
            "undertone": "plan/1",
            "claims": [{"about": "person", "notion": "ldp", "nats": "100"}],
            "questions": questions,
            "law": {"kind": "unknown"},
            "items": items,
            "policies": documents,
            **more,
        }
        with open(path(name), "w") as file:
            json.dump(plan, file)

    everybody = [{"questions": [name], "policy": int(name in SALARIES)} for name in COLUMNS]
    save("all.json", everybody)
    save("split.json", [{**item, "weight": 1} for item in everybody], asked=3)


def compare(file, end):
    once = lambda plan: [undertone, "release", "--plan", path(plan), file, "-o", path("released" + end)]
    one = lambda name: [undertone, "perturb", "--policy", path(f"{name[0]}.json"), "--column", name, file, "-o", path("one" + end)]

    def each():
        parts = [run(*one(name)) for name in COLUMNS]
        return sum(part[0] for part in parts), sum(part[1] for part in parts), max(part[2] for part in parts)

    run(*once("all.json")), each()
    taken = [(each(), run(*once("all.json")), run(*once("split.json"))) for _ in range(turns)]
    middle = lambda who, what: statistics.median(turn[who][what] for turn in taken)
    for who, name in [(1, "all nine"), (2, "three of nine")]:
        ratios = sorted(turn[who][1] / turn[0][1] for turn in taken)
        walls = sorted(turn[who][0] / turn[0][0] for turn in taken)
        print(
            f"| {end[1:]}, {name} | {rows:,} | {middle(0, 0):.2f} | {middle(who, 0):.2f} | {statistics.median(walls):.2f} ({walls[0]:.2f} to {walls[-1]:.2f}) "
            f"| {middle(0, 1):.2f} | {middle(who, 1):.2f} | {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) | {middle(0, 2):.0f} | {middle(who, 2):.0f} |"
        )


policies()
plans()
print("| file, answered | rows | one by one, s | release, s | ratio | one by one, CPU s | release, CPU s | ratio | one by one, MiB | release, MiB |")
print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
compare(made(rows), ".parquet")
rows //= 10
compare(text(rows), ".csv")
