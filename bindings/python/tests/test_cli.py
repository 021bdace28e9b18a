"""Python and the command line say the same."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import undertone
from undertone import Policy, Tally
from undertone._call import _with_infinities


def run(binary, *words):
    done = subprocess.run([binary, *map(str, words), "--json"], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    dice = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "answer": dice.choice(["yes", "no", "maybe"], 2000, p=[0.2, 0.5, 0.3]),
            "salary": dice.gamma(4, 10_000, 2000).round(2),
            "floor": dice.integers(0, 5, 2000),
        }
    )
    frame.to_csv(folder / "people.csv", index=False)
    frame.to_parquet(folder / "people.parquet")
    return folder, frame


@pytest.mark.parametrize(
    ("column", "words", "options"),
    [
        ("answer", [], {}),
        ("answer", ["--symbols", "yes,no,maybe", "--smoothing", "0.5"], {"symbols": ["yes", "no", "maybe"], "smoothing": 0.5}),
        ("floor", [], {}),
        ("salary", ["--range", "0,120000", "--bins", "12"], {"range": (0, 120000), "bins": 12}),
        ("salary", ["--range", "0,120000", "--bins", "12", "--mixture", "2"], {"range": (0, 120000), "bins": 12, "mixture": 2}),
    ],
)
def test_priors_are_the_command_lines(binary, people, column, words, options):
    folder, frame = people
    code, expected = run(binary, "prior", "fit", "--column", column, folder / "people.csv", *words)
    assert code == 0
    for values in (frame[column], frame[column].tolist(), frame[column].to_numpy()):
        prior = undertone.Prior.fit(values, **options)
        assert prior.symbols == expected["symbols"]
        np.testing.assert_allclose(prior.p, expected["p"], rtol=0, atol=1e-12)
        for field in ("counts", "n", "values", "edges", "clipped", "beta", "smoothing", "skipped"):
            assert prior._document.get(field) == expected.get(field), field
        for field in ("lower", "upper", "radius"):
            np.testing.assert_allclose(prior[field], expected[field], rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["optimal", "krr", "oue", "sampling"])
def test_estimates_are_the_command_lines(binary, people, tmp_path, method):
    """Perturbed by the command line and estimated by both; and the other way round."""
    folder, frame = people
    prior = undertone.Prior.fit(frame["answer"])
    policy = undertone.design(prior, protect="lip:1", method=method, objective="frequency").policy
    policy.save(tmp_path / "policy.json")
    released = tmp_path / "released.csv"
    words = ["perturb", "--policy", tmp_path / "policy.json", "--column", "answer"]
    assert run(binary, *words, folder / "people.csv", "-o", released)[0] == 0
    # Rows of bits are digits, and no number.
    column = pd.read_csv(released, dtype={"answer": str})["answer"]
    ours = undertone.estimate(policy, Tally(policy).add(column.tolist()))
    asked = ["estimate", "--policy", tmp_path / "policy.json", "--column", "answer"]
    theirs = run(binary, *asked, released)[1]
    assert ours == {name: theirs[name] for name in ours}
    if method != "oue":
        mine = tmp_path / "mine.parquet"
        policy.randomize(frame, "answer").to_parquet(mine)
        counted = Tally(policy).add(pd.read_parquet(mine), "answer")
        theirs = run(binary, *asked, mine)[1]
        ours = undertone.estimate(policy, counted)
        assert ours == {name: theirs[name] for name in ours}


def test_estimates_of_numbers(binary, people, tmp_path):
    folder, frame = people
    prior = undertone.Prior.fit(frame["salary"], range=(0, 120000), bins=24)
    policy = undertone.design(prior, protect="lip:2", method="laplace").policy
    policy.save(tmp_path / "policy.json")
    released = policy.randomize(frame, "salary")
    released.to_parquet(tmp_path / "released.parquet")
    ours = undertone.estimate(policy, released["salary"], quantiles=[0.1, 0.9], level=0.9, population=10**6)
    words = ["--quantiles", "0.1,0.9", "--level", "0.9", "--population", "1000000"]
    asked = ["estimate", "--policy", tmp_path / "policy.json", "--column", "salary", tmp_path / "released.parquet"]
    theirs = run(binary, *asked, *words)[1]
    assert ours == {name: theirs[name] for name in ours}
    assert ours.mean["low"] < frame["salary"].clip(0, 120000).mean() < ours.mean["high"] or ours.mean["value"] > 0


def test_designs_are_the_command_lines(binary, tmp_path):
    (tmp_path / "prior.json").write_text("[0.5, 0.3, 0.2]")
    for words, options in (
        ([], {}),
        (["--objective", "absolute"], {"objective": "absolute"}),
        (["--method", "krr"], {"method": "krr"}),
    ):
        asked = ["design", "--prior", tmp_path / "prior.json", "--protect", "lip:1", "-o", tmp_path / "policy.json"]
        code, expected = run(binary, *asked, *words)
        expected = _with_infinities(expected)
        found = undertone.design([0.5, 0.3, 0.2], protect="lip:1", **options)
        assert code == 0 and found.policy == Policy.load(tmp_path / "policy.json")
        assert all(found[name] == expected[name] for name in expected if name != "output")


def test_the_module_is_the_command_line(binary):
    for words in (["--version"], ["--help"], ["relate", "--from", "lip:1", "--to", "ldp", "--p-min", "0.1"], ["nonsense"], []):
        theirs = subprocess.run([binary, *words], capture_output=True, text=True)
        ours = subprocess.run([sys.executable, "-m", "undertone", *words], capture_output=True, text=True)
        assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
