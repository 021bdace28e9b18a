"""Values that many people have, out of a set too large to list."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undertone
from undertone import Error, hitters

WORDS = ["breakfast"] * 2 + ["日本"] + ["x"]
PEOPLE = 24_000


@pytest.fixture(scope="module")
def plan():
    return hitters.design("text:10", protect="ldp:2").plan


def values(found):
    return [one["value"] for one in found.found]


def test_from_values_to_what_is_found(plan):
    people = [WORDS[at % 4] for at in range(PEOPLE)]
    reports = plan.report(people)
    assert len(reports) == PEOPLE and {len(one) for one in reports} == {2 * plan.report_bytes}
    found = hitters.find(plan, reports)
    assert values(found)[0] == "breakfast" and sorted(values(found)) == ["breakfast", "x", "日本"]
    # Any order, any kind of column.
    for column in (reports[::-1], pa.array(reports), pl.Series(reports), pd.Series(reports), np.array(reports)):
        assert hitters.find(plan, column) == found
    known = hitters.find(plan, reports, known={"x": 0.5}, threshold=0.1)
    assert {one["value"]: one["known"] for one in known.found}["x"]


def test_every_kind_of_column(plan):
    column = ["tea", "", None]
    kinds = (column, pa.array(column), pl.Series(column), pd.Series(column), pd.Series(column, dtype="category"))
    for values_ in kinds:
        assert len(plan.report(values_, unknown="skip")) == 2
        assert len(plan.report(values_, unknown="empty")) == 3
        with pytest.raises(Error, match="row 2 is missing"):
            plan.report(values_)
    numbers = hitters.design("integers:16", protect="ldp:1").plan
    assert len(numbers.report(np.arange(5))) == 5
    with pytest.raises(Error, match="no empty value"):
        numbers.report([1], unknown="empty")


def test_documents_are_verified(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    assert hitters.HittersPlan.load(tmp_path / "plan.json") == plan
    document = json.loads(plan.to_json())
    document["longer"] = "cut"
    with pytest.raises(Error, match="worded"):
        hitters.HittersPlan(document)
    assert undertone.Plan(json.loads(plan.to_json())["plan"]).id == plan.id


def test_refusals_name_no_value(plan):
    with pytest.raises(Error, match="row 1 has more than 10 bytes") as refused:
        plan.report(["tea", "porridge and cream"])
    assert "porridge" not in str(refused.value)
    other = hitters.design("text:10", protect="ldp:2.1").plan
    with pytest.raises(Error, match="another plan"):
        hitters.find(other, plan.report(["tea"]))
    with pytest.raises(Error, match="there are no reports"):
        hitters.find(plan, [])
    with pytest.raises(Error, match="rounds is 1: give at least 2"):
        hitters.design("text:10", protect="ldp:1", rounds=1)
    with pytest.raises(Error, match="not even a value that everybody has"):
        hitters.design("text:10", protect="ldp:1", people=100)
    few = hitters.find(plan, plan.report(["tea"]))
    assert few.found == [] and few.visible_share is None and few.needed_n > 50
