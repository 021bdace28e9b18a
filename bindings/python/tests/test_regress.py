"""Regressions on frames whose columns are randomised."""

import csv
import os
import pathlib

import pytest

import undertone
from people import frames, policy  # noqa: F401
from undertone import Error

PEOPLE = {
    "answer": ["yes" if row % 5 < 2 + row % 2 else "no" for row in range(400)],
    "age": [20 + 30 * (row % 2) for row in range(400)],
    "w": [1 + row % 3 for row in range(400)],
}


def test_a_randomised_outcome_from_every_kind_of_frame(policy):
    for frame in frames(PEOPLE):
        found = undertone.regress(frame, "answer ~ age", randomised={"answer": policy})
        assert (found.family, found.n, found.errors) == ("logistic", 400, "expected")
        # Of the young 40 % said yes and of the old 60 %, so that about .3 and .7 have done it: a slope of ln(49/9)/30.
        assert found.coefficients[1]["estimate"] == pytest.approx(0.0565, abs=1e-3)
        at_fifty = found.predict({"age": 50})[0]
        assert at_fifty["low"] < 0.7 < at_fifty["high"]


def test_errors_follow_the_sample(policy):
    plain = undertone.regress(PEOPLE, "answer ~ age", randomised={"answer": policy})
    weighted = undertone.regress(PEOPLE, "answer ~ age", randomised={"answer": policy}, weights="w")
    assert weighted.errors == "robust" and plain.errors == "expected"
    frame = pytest.importorskip("pandas") and weighted.to_frame()
    assert list(frame["name"]) == ["(Intercept)", "age"] and {"estimate", "std_error", "low", "high"} <= set(frame)


def test_bad_input_is_named(policy):
    randomised = {"answer": policy}
    with pytest.raises(Error, match="there is no column 'height'"):
        undertone.regress(PEOPLE, "answer ~ height", randomised=randomised)
    with pytest.raises(Error, match="formula"):
        undertone.regress(PEOPLE, "answer age", randomised=randomised)
    with pytest.raises(Error, match='errors is "wrong"'):
        undertone.regress(PEOPLE, "answer ~ age", randomised=randomised, errors="wrong")
    with pytest.raises(Error, match="age"):
        undertone.regress({**PEOPLE, "old": PEOPLE["age"]}, "answer ~ age + old", randomised=randomised)


def test_the_plagiarism_survey():
    here = pathlib.Path(__file__).resolve().parents[4] / "shared" / "data"
    path = pathlib.Path(os.environ.get("UNDERTONE_DATA", here)) / "surveys" / "plagiarism.csv"
    if not path.exists():
        pytest.skip("the surveys are not here (UNDERTONE_DATA)")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    people = {name: [row[name] for row in rows] for name in rows[0]}
    crosswise = undertone.Policy.make("crosswise:0.25", symbols=["0", "1"])
    found = undertone.regress(
        people,
        "response ~ Gender + RR + pp + age",
        randomised={"response": crosswise},
        policy_by={"RRmodel": {"DQ": "clear", "Crosswise": crosswise}},
    )
    assert found.n == 802 and found.log_likelihood == pytest.approx(-400.444595, abs=1e-6)
    estimates = [one["estimate"] for one in found.coefficients]
    assert estimates == pytest.approx([0.834954, -0.044124, 1.332362, 2.389940, -0.263068], abs=1e-6)
