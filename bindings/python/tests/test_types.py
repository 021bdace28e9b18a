"""The stubs say what the native module has, and a type checker can use the package."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy")

RIGHT = """
import undertone
from undertone import Policy, Prior, Refused, Tally

prior: Prior = Prior.fit(["a", "b"])
policy: Policy = undertone.Policy.load("policy.json")
try:
    policy.verify()
except Refused as refusal:
    leak: float | None = refusal.attained
tally: Tally = Tally(policy).add(policy.randomize(["a"])).merge(Tally(policy))
counts: list[int] = tally.counts
names: list[str] = policy.outputs
whole: Tally = tally + tally
"""

# Every line is wrong, and is said to be.
WRONG = """
import undertone
undertone.Policy(3)
undertone.Policy.load("policy.json").randomize(["a"], seed=1)
undertone.Tally(undertone.Policy("")).counts + "a"
undertone.relate(to="ldp")
"""


def run(folder, *words):
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_stubs_are_the_native_module(tmp_path):
    code, said = run(tmp_path, "mypy.stubtest", "--ignore-disjoint-bases", "undertone._native")
    assert code == 0, said


def test_programs_are_checked(tmp_path):
    for name, text in (("right.py", RIGHT), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text)
    code, said = run(tmp_path, "mypy", "--strict", "right.py")
    assert code == 0, said
    code, said = run(tmp_path, "mypy", "--strict", "wrong.py")
    assert code == 1
    for line in range(3, 7):
        assert f"wrong.py:{line}: error" in said, said
