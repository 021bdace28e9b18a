"""Holds vectors and the command line against the oracle. See README.md; `tests/oracle/run` calls this."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import document
import selftest
import vectors
from boundary import boundary_text
from compare import ask, compare_policy, compare_together, consent_arguments, truth_of
from mutants import mutant_text
from policy import Policy
from sequence import Release, standing
from together import consent_near, label, sequence, unsound

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "vectors" / "v1"
CHUNK = 25
SHOWN = 2
SUMMARY = (
    ("accepted", "refused", "unreadable")
    + ("claims hold", "claims fail", "claims left open")
    + ("consent met", "consent not met", "only bounded")
)
"""What is counted beside the kinds of policies and sequences."""


@dataclass
class Found:
    """What one piece of work found out: how many cases, what they cover, and the documents of those that disagree."""

    part: str
    cases: int = 0
    covers: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[str, list[str], list[str]]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Work:
    """Some cases of one part. Each case has its own generator, so that it is the same however work is split."""

    part: str
    binary: str
    seed: str
    first: int = 0
    end: int = 1


def check_vectors(found: Found) -> None:
    """All vectors, without the binary."""
    problems = vectors.Problems()
    for check in (vectors.check_policies, vectors.check_epsilon, vectors.check_ledger, vectors.check_sequences):
        check(VECTORS, problems)
    found.cases = problems.checked
    found.wrong = [("vectors", [problem], []) for problem in problems.found]


def check_document(found: Found, binary: str, name: str, text: str, covered: str) -> None:
    """One document."""
    answer = ask(binary, ["-"], text)
    said = answer.json if isinstance(answer.json, dict) else {}
    verdict = "unreadable" if "verified" not in said else "accepted" if said["verified"] else "refused"
    found.covers[verdict] += 1
    found.covers[f"{covered} {verdict}"] += 1
    differences = compare_policy(truth_of(text), answer)
    if differences:
        found.wrong.append((name, differences, [text]))


def check_sequence(found: Found, binary: str, name: str, rng: Random) -> None:
    """One sequence of policies, every answer of each."""
    policies = sequence(rng)
    expected = standing([Release(policy) for policy in policies[:-1]], policies[-1])
    consent = consent_near(rng, expected)
    with tempfile.TemporaryDirectory() as folder:
        paths = [write_policy(Path(folder) / f"{at}.json", policy) for at, policy in enumerate(policies)]
        answer = ask(binary, [*paths, "--together", *consent_arguments(consent)])
    claims = {True: "claims hold", False: "claims fail", None: "claims left open"}[expected.claims]
    for covered in (claims, "consent met" if answer.code == 0 else "consent not met", label(policies)):
        found.covers[covered] += 1
    differences = compare_together(policies, consent, answer, expected)
    if not expected.exact:
        found.covers["only bounded"] += 1
        differences += unsound(rng, policies, expected)
    if differences:
        texts = [json.dumps(document.write(policy)) for policy in policies]
        found.wrong.append((name, differences, [*texts, " ".join(consent_arguments(consent))]))


def write_policy(path: Path, policy: Policy) -> str:
    """Writes a document and gives back where."""
    path.write_text(json.dumps(document.write(policy)), encoding="utf-8")
    return str(path)


def do(work: Work) -> Found:
    """Runs one piece of work."""
    started = time.monotonic()
    found = Found(work.part)
    if work.part == "vectors":
        check_vectors(found)
    else:
        for at in range(work.first, work.end):
            name = f"{work.seed}/{work.part}/{at}"
            rng = Random(name)
            if work.part == "sequences":
                check_sequence(found, work.binary, name, rng)
            else:
                text, covered = boundary_text(rng) if work.part == "policies" else mutant_text(rng)
                check_document(found, work.binary, name, text, covered)
            found.cases += 1
    found.seconds = time.monotonic() - started
    return found


def pieces(arguments: argparse.Namespace) -> Iterator[Work]:
    """All work, in pieces."""
    yield Work("vectors", arguments.binary, arguments.seed)
    for part in ("policies", "documents", "sequences"):
        count = getattr(arguments, part)
        for first in range(0, count, CHUNK):
            yield Work(part, arguments.binary, arguments.seed, first, min(count, first + CHUNK))


def kind_of(difference: str) -> str:
    """What a difference is about, to show one of each."""
    return difference.split(":")[0].split("(")[0].split("[")[0].strip()


def report(part: Found) -> None:
    """Prints what one part found: a line, and for each kind of difference the smallest documents that show it."""
    kinds = sum(covered not in SUMMARY for covered in part.covers)
    counts = ", ".join(f"{count:,} {covered}" for covered, count in sorted(part.covers.items()) if covered in SUMMARY)
    more = f" ({counts}; {kinds} kinds)" if counts else ""
    print(
        f"oracle: {part.part}: {part.cases:,} checked{more}, {len(part.wrong)} disagree, {part.seconds:.0f} s of work"
    )
    shown: Counter[str] = Counter()
    for name, differences, texts in sorted(part.wrong, key=lambda one: sum(map(len, one[2]))):
        kind = kind_of(differences[0])
        shown[kind] += 1
        if shown[kind] <= SHOWN:
            print(f"  {name}")
            for line in differences:
                print(f"    {line}")
            for text in texts:
                print(f"    {text}")
    for kind, count in shown.items():
        if count > SHOWN:
            print(f"  and {count - SHOWN} more that begin: {kind}")


def parse() -> argparse.Namespace:
    """The command line and the environment."""
    policies = int(os.environ.get("ORACLE_POLICIES", "3000"))
    parser = argparse.ArgumentParser(prog="tests/oracle/run", description=__doc__)
    parser.add_argument(
        "--self-test", action="store_true", help="only check that planted errors are noticed; needs no binary"
    )
    parser.add_argument("--policies", type=int, default=policies, help="policies at the boundary (ORACLE_POLICIES)")
    parser.add_argument("--documents", type=int, default=policies // 5, help="documents with something odd")
    parser.add_argument("--sequences", type=int, default=policies // 6, help="sequences of policies")
    parser.add_argument(
        "--seed", default=os.environ.get("ORACLE_SEED", "oracle"), help="what the cases are drawn from (ORACLE_SEED)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--binary", default=os.environ.get("UNDERTONE_BIN", str(ROOT / "target" / "release" / "undertone"))
    )
    return parser.parse_args()


def main() -> int:
    """0 if everything agrees."""
    arguments = parse()
    unnoticed = selftest.run()
    print(f"oracle: self-test: {'every planted error is noticed' if not unnoticed else 'FAILED'}")
    for line in unnoticed:
        print(f"  {line}")
    if arguments.self_test or unnoticed:
        return int(bool(unnoticed))
    if not os.access(arguments.binary, os.X_OK):
        print(f"oracle: no binary at {arguments.binary}: build it, or name it in UNDERTONE_BIN")
        return 2
    parts: dict[str, Found] = {}
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(do, pieces(arguments)):
            whole = parts.setdefault(found.part, Found(found.part))
            whole.cases += found.cases
            whole.covers += found.covers
            whole.wrong += found.wrong
            whole.seconds += found.seconds
    for part in parts.values():
        report(part)
    return int(any(part.wrong for part in parts.values()))


if __name__ == "__main__":
    sys.exit(main())
