"""Cross-tables and designed samples of frames."""

import pytest

import undertone
from people import frames, policy  # noqa: F401
from undertone import Error

PEOPLE = {
    "answer": ["yes" if row % 5 < 2 + row % 2 else "no" for row in range(400)],
    "sex": ["fm"[row % 2] for row in range(400)],
    "w": [1 + row % 3 for row in range(400)],
    "where": [row % 4 for row in range(400)],
}


def test_a_randomised_column_by_a_clear_one(policy):
    for frame in frames(PEOPLE):
        found = undertone.crosstab(frame, ["answer", "sex"], randomised={"answer": policy})
        assert found.n == 400 and len(found.cells) == 4
        # Of the women 40 % said yes, of the men 60 %; about three quarters of the reports are true.
        assert found.conditional[1]["value"] == pytest.approx(0.3, abs=1e-4)
        assert found.differences[1]["value"] == pytest.approx(0.4, abs=1e-4)
        assert found.independence[0]["p_value"] < 1e-3
        unbiased = undertone.crosstab(frame, ["answer", "sex"], randomised={"answer": policy}, method="unbiased")
        assert [cell["value"] for cell in unbiased.cells] == pytest.approx([cell["value"] for cell in found.cells])


def test_shares_in_groups_and_with_a_design(policy):
    for frame in frames(PEOPLE):
        found = undertone.estimate(policy, frame, "answer", by="sex")
        assert [group["group"] for group in found.groups] == ["f", "m"]
        assert found.groups[0]["shares"][1]["value"] == pytest.approx(0.3, abs=1e-4)
        weighed = undertone.estimate(
            policy, frame, "answer", weights="w", strata="where", margins={"sex": {"f": 0.7, "m": 0.3}}
        )
        assert weighed.shares[1]["design_effect"] > 0
        plain = undertone.estimate(policy, frame, "answer")
        assert plain.headline["shares"][1]["value"] == pytest.approx(0.5, abs=1e-9)


def test_answers_are_frames(policy):
    pytest.importorskip("pandas")
    found = undertone.crosstab(PEOPLE, ["answer", "sex"], randomised={"answer": policy})
    assert list(found.to_frame().columns[:3]) == ["answer", "sex", "value"]
    assert len(found.to_frame("margins")) == 4
    assert list(found.to_frame("conditional").columns[:3]) == ["sex", "answer", "value"]
    assert len(found.to_frame("differences")) == 2
    grouped = undertone.estimate(policy, PEOPLE, "answer", by="sex").to_frame()
    assert list(grouped.columns[:3]) == ["sex", "symbol", "value"] and len(grouped) == 4
    assert len(undertone.estimate(policy, PEOPLE, "answer").to_frame()) == 2


def test_rows_under_several_designs(policy):
    people = {**PEOPLE, "design": ["direct"] * 200 + ["coin"] * 200}
    found = undertone.crosstab(
        people,
        ["answer", "sex"],
        randomised={"answer": policy},
        policy_by={"design": {"direct": "clear", "coin": policy}},
    )
    assert any("several designs" in note for note in found.notes)


def test_what_is_wrong_is_named(policy):
    with pytest.raises(Error, match="there is no column 'age'"):
        undertone.crosstab(PEOPLE, ["answer", "age"])
    with pytest.raises(Error, match="row 1, column \"w\" is a weight of -1"):
        undertone.estimate(policy, {**PEOPLE, "w": [-1] * 400}, "answer", weights="w")
    with pytest.raises(Error, match="method is \"best\": give mle or unbiased"):
        undertone.crosstab(PEOPLE, ["answer", "sex"], method="best")
    with pytest.raises(Error, match="randomised\\['answer'\\] is 3: give a Policy"):
        undertone.crosstab(PEOPLE, ["answer", "sex"], randomised={"answer": 3})
    with pytest.raises(Error, match="need one policy, a frame and its column"):
        undertone.estimate(policy, PEOPLE["answer"], by="sex")


def test_correlations_are_those_of_the_true_answers(policy):
    ages = {"answer": PEOPLE["answer"], "age": [20 + 30 * (row % 2) for row in range(400)]}
    for frame in frames(ages):
        [found] = undertone.correlate(frame, ["answer", "age"], randomised={"answer": policy}).correlations
        # Of the young 40 % said yes and of the old 60 %: .2 among the reports, twice that among the answers.
        assert found["value"] == pytest.approx(0.4, abs=1e-3)
        assert found["low"] < 0.4 < found["high"]
    with pytest.raises(Error, match="columns"):
        undertone.correlate(ages, ["answer"])


def test_rows_are_drawn_and_read_under_the_policies_of_their_groups(tmp_path):
    policies = {
        str(group): undertone.design(prior={"no": 1 - yes, "yes": yes}, protect="lip:1").policy
        for group, yes in ((1, 0.1), (2, 0.6))
    }
    people = tmp_path / "people.csv"
    rows = [("1", "yes" if n % 10 == 0 else "no") for n in range(4000)]
    rows += [("2", "yes" if n % 10 < 6 else "no") for n in range(2000)]
    people.write_text("group,answer\n" + "".join(f"{group},{answer}\n" for group, answer in rows))
    by = {"group": policies}
    released = tmp_path / "released.csv"
    report = undertone.perturb(people, "answer", released, policy_by=by, keep=["group"])
    assert [group["perturbed"] for group in report.groups] == [4000, 2000]
    lines = released.read_text().split()[1:]
    frame = {"group": [line.split(",")[0] for line in lines], "answer": [line.split(",")[1] for line in lines]}
    told = undertone.estimate(reports=frame, column="answer", policy_by=by, level=0.9999)
    yes = next(share for share in told.headline["shares"] if share["symbol"] == "yes")
    assert told.reports == 6000
    assert yes["low"] < 1600 / 6000 < yes["high"] and yes["high"] - yes["low"] < 0.2
    with pytest.raises(Error, match="least_group"):
        undertone.perturb(people, "answer", released, policy_by=by, keep=["group"], least_group=2001)
    with pytest.raises(Error, match="names no group of the map"):
        undertone.perturb(people, "answer", released, policy_by={"group": {"1": policies["1"]}})
    with pytest.raises(Error, match="policy_by needs a frame"):
        undertone.estimate(policies["1"], frame, "answer", policy_by=by)
