"""Plans from Python."""

import json

import pytest

import undertone
from undertone import Plan

QUESTIONS = [
    {"name": "smokes", "answers": ["no", "yes"], "shares": {"yes": 0.2, "no": 0.8}},
    {"name": "commute", "answers": ["car", "bus", "bike"], "weight": 2},
]
JOINT = {
    "tree": {
        "ill": {"p": {"no": 0.9, "yes": 0.1}},
        "smokes": {"given": "ill", "rows": {"no": [0.85, 0.15], "yes": [0.5, 0.5]}},
        "commute": {"p": [0.5, 0.3, 0.2]},
    }
}


def test_a_plan_is_designed_and_read_back(tmp_path):
    found = Plan.design(QUESTIONS, person="ldp:2", joint=JOINT, secret="ill=lip:0.2", people=400)
    assert found.person["ldp"] <= 2 and found.person["secrets"]["ill"] <= 0.2
    assert set(found.compared) == {"equal_split", "one_each", "combined", "rs_fd"}
    assert set(found.half_widths) == {"smokes", "commute"}
    found.plan.save(tmp_path / "plan.json")
    again = Plan.load(tmp_path / "plan.json")
    assert again == found.plan and again.id == found.plan_id and hash(again) == hash(found.plan)
    assert again.claims == ["person: ldp:2", "secret ill: lip:0.2"]
    assert again.verify().person == found.person


def test_a_false_plan_is_refused():
    document = json.loads(Plan.design(QUESTIONS, person="ldp:2").plan.to_json())
    del document["id"]
    document["claims"][0]["nats"] = "0.1"
    with pytest.raises(undertone.Refused, match="0.1"):
        Plan(document)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (dict(person="lip:2"), "person is"),
        (dict(person="ldp:2", secret="ill=lip:1"), "no secret"),
        (dict(person="ldp:2", question="smokes=lip:1"), "priors"),
        (dict(person="ldp:2", pairs=[("smokes", "age")]), "no question"),
        (dict(person="ldp:2", periods=0), "periods is 0"),
    ],
)
def test_complaints_name_the_argument(arguments, said):
    with pytest.raises(undertone.Error, match=said):
        Plan.design(QUESTIONS, **arguments)
