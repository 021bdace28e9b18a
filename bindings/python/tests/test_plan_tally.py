"""Responses to a plan: counted in any split, as frames or messages, and asked question by question."""

import json
import pickle

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undertone
from undertone import Error, PlanTally


@pytest.fixture(scope="module")
def plan():
    """Everybody says whether they smoke; of commute × size and colour one is drawn."""
    even = lambda names: {name: 1 / len(names) for name in names}  # noqa: E731
    smoke = undertone.design(prior=even(["no", "yes"]), protect="ldp:2", method="krr").policy
    pair = undertone.design(prior=[0.25] * 4, protect="ldp:2", method="krr").policy
    colour = undertone.design(prior=[1 / 3] * 3, protect="ldp:2", method="oue").policy
    return {
        "undertone": "plan/1",
        "claims": [{"about": "person", "notion": "ldp", "nats": "5"}],
        "questions": [
            {"name": "smoke", "answers": smoke.document["inputs"]},
            {"name": "commute", "answers": {"names": ["bus", "car"]}},
            {"name": "size", "answers": {"names": ["small", "large"]}},
            {"name": "colour", "answers": colour.document["inputs"]},
        ],
        "law": {"kind": "unknown"},
        "items": [
            {"questions": ["smoke"], "policy": 0},
            {"questions": ["commute", "size"], "policy": 1, "weight": 1},
            {"questions": ["colour"], "policy": 2, "weight": 1},
        ],
        "asked": 1,
        "provenance": smoke.document["provenance"],
        "policies": [smoke.document, pair.document, colour.document],
    }


def frame():
    """300 people; bits are bytes, as `randomize` releases them."""
    people = range(300)
    return pd.DataFrame(
        {
            "smoke": ["yes" if person % 3 == 0 else "no" for person in people],
            "commute × size": [["bus × small", "car × large"][person % 4 // 2] if person % 2 else None for person in people],
            "colour": [None if person % 2 else bytes([[0x80, 0x60][person % 4 // 2]]) for person in people],
            "name": ["left alone"] * 300,
        }
    )


def test_any_split_and_any_kind_of_table_is_the_same_tally(plan):
    whole = PlanTally(plan, pairs=["smoke", "commute"]).add(frame())
    assert whole.responses == 300 and whole.columns == ["smoke", "commute × size", "colour"]
    arrow = pa.Table.from_pandas(frame(), preserve_index=False)
    for table in (arrow, pl.from_arrow(arrow), pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(70))):
        assert PlanTally(plan, pairs=[["smoke", "commute"]]).add(table) == whole
    parts = [PlanTally(plan, pairs=["smoke", "commute"]).add(frame()[at::3]) for at in range(3)]
    assert parts[0] + parts[1] + parts[2] == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert PlanTally.from_json(whole.to_json(), plan) == whole
    assert json.loads(whole.to_json())["undertone"] == "plan-tally/1"


def test_messages_count_once(plan):
    tally = PlanTally(plan)
    message = {
        "undertone": "response/1",
        "plan": tally.plan_id,
        "id": "00" * 16,
        "answers": [{"item": 0, "token": 1}, {"item": 2, "bits": "80"}],
    }
    other = {**message, "id": "01" * 16, "answers": [{"item": 0, "token": 0}]}
    assert tally.add([message, json.dumps(other), message]).responses == 2
    with pytest.raises(Error, match="drawn items"):
        tally.add([{**message, "id": "02" * 16, "answers": [{"item": 1, "token": 0}, {"item": 2, "bits": "80"}]}])
    assert tally.responses == 2


def test_every_question_is_answered(plan):
    told = undertone.estimate(plan=plan, reports=frame())
    assert told.responses == 300
    answered = {one["question"]: one["answered"] for one in told.questions}
    assert answered == {"smoke": 300, "commute": 150, "size": 150, "colour": 150}
    for one in told.questions:
        shares = one["headline"]["shares"]
        # Colours are counted bit by bit, and these people have set more bits than any policy would.
        if one["question"] != "colour":
            assert sum(share["value"] for share in shares) == pytest.approx(1, abs=0.2)
        assert all(share["low"] <= share["value"] <= share["high"] for share in shares)
    assert undertone.estimate(plan=plan, reports=PlanTally(plan).add(frame())) == told
    assert undertone.estimate(undertone.Plan(json.dumps(plan)), frame()) == told


def test_bad_input_is_named(plan):
    with pytest.raises(ValueError, match="there is no column 'colour'"):
        PlanTally(plan).add(frame().drop(columns="colour"))
    with pytest.raises(Error, match='column "smoke" is none of the policy'):
        PlanTally(plan).add(frame().replace({"smoke": {"yes": "perhaps"}}))
    skipped = PlanTally(plan).add(frame().replace({"smoke": {"yes": "perhaps"}}), unknown="skip")
    assert skipped.responses == 300
    with pytest.raises(Error, match="nobody answers commute, colour together"):
        PlanTally(plan, pairs=["commute", "colour"])
    with pytest.raises(TypeError, match="a policy or a plan"):
        undertone.estimate(reports=frame())
    with pytest.raises(Error, match="plan"):
        PlanTally({**plan, "asked": 7})
