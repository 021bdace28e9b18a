"""Classical survey designs: policies, people who do not follow, numbers of people, means."""

import math

import pytest

import undertone


def test_designs_are_policies():
    policy = undertone.Policy.make("unrelated:0.5,1/12", symbols=["no", "copied"])
    assert policy.inputs == ["no", "copied"]
    assert policy.document["claims"]
    with pytest.raises(undertone.Refused):
        undertone.Policy.make("warner:0.75", claim="ldp:1")
    with pytest.raises(undertone.Refused):
        undertone.Policy.make("triangular:0.25", claim="ldp:1")
    with pytest.raises(undertone.Error, match="claim none"):
        undertone.Policy.make("triangular:0.25")
    assert undertone.Policy.make("triangular:0.25", claim="none").verify().estimation_only
    channel = undertone.Policy.make(channel=[[0.75, 0.25], [0.25, 0.75]])
    assert channel.claims == ["ldp:1.0986122887"]
    with pytest.raises(undertone.Error, match="one of them"):
        undertone.Policy.make()


def test_people_who_do_not_follow():
    data = {"y": [1, 0, 1, 1], "a": [1, 0, 1, None]}
    with pytest.raises(undertone.Error, match="no column 'w'"):
        undertone.compliance(data, design="crosswise:0.15,0.15", response="y", attention="a", weights="w")
    found = undertone.compliance(data, design="crosswise:0.15,0.15", response="y", attention="a")
    assert found.n == 3 and found.missing == 1 and len(found.assumptions) > 2


def test_number_of_people():
    found = undertone.Plan.size(shares=[0.8, 0.2], protect="ldp:1", difference=0.1)
    assert found.needed_n == 2 * found.per_group > found.in_the_clear
    with pytest.raises(undertone.Error, match="half_width"):
        undertone.Plan.size(shares=[0.8, 0.2], protect="ldp:1")


def test_mean_of_numbers_is_a_plain_average():
    found = undertone.design(
        any_prior=True, density="uniform:0,10", range=(0, 10), bins=8, protect="ldp:2", objective="mean"
    )
    assert found.utility < found.parameters["one_bit"]
    numbers = [float(value) for value in found.policy.outputs]
    rows = found.policy.document["channel"]["masses"]
    for x, row in zip((0.625 + 1.25 * i for i in range(8)), rows):
        assert math.isclose(sum(m * v for m, v in zip(row, numbers)) / 2**48, x, abs_tol=1e-8)
