"""Symbols are matched by name, in any order; other symbols and other lengths are refused, never a panic."""

import itertools

import numpy as np
import pandas as pd
import pytest

import undertone
from undertone import Error, Prior

FIRST = {"a": 0.8, "b": 0.1, "c": 0.1}
SECOND = {"c": 0.8, "b": 0.1, "a": 0.1}
ROWS = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]


def test_a_design_holds_under_both_priors():
    policy = undertone.design([FIRST, SECOND], protect="lip:1", objective="frequency").policy
    for prior in (FIRST, SECOND, pd.Series(SECOND), dict(reversed(SECOND.items()))):
        assert undertone.audit(policy, prior=prior).lip <= 1
        assert undertone.transfer(FIRST, prior, epsilon=1, policy=policy).policy <= 1 + 1e-9


def test_transfer_between_two_orders():
    assert undertone.transfer(FIRST, SECOND, epsilon=1).exact == pytest.approx(1.8319679806, abs=1e-9)
    assert undertone.transfer(FIRST, dict(reversed(FIRST.items())), epsilon=1).exact == pytest.approx(1)


@pytest.mark.parametrize("order", list(itertools.permutations("abc"))[1:])
def test_no_answer_depends_on_the_order(order):
    turned = {name: FIRST[name] for name in order}
    other = {"a": 0.3, "b": 0.5, "c": 0.2}
    rows = [ROWS["abc".index(name)] for name in order]
    channel = {"inputs": list(order), "rows": rows}
    plain = {"inputs": list("abc"), "rows": ROWS}
    for one, two in [
        (undertone.transfer(other, FIRST, epsilon=1), undertone.transfer(other, turned, epsilon=1)),
        (undertone.audit(prior=other, channel=plain), undertone.audit(prior=other, channel=channel)),
        (undertone.compose([other, FIRST], channels=[plain]), undertone.compose([other, turned], channels=[channel])),
        (undertone.compose([other, FIRST], epsilons=[1, 1]), undertone.compose([other, turned], epsilons=[1, 1])),
        (
            undertone.relate("bplip:1", "ldp", prior=[other, FIRST]),
            undertone.relate("bplip:1", "ldp", prior=[other, turned]),
        ),
    ]:
        for name, value in one.items():
            if isinstance(value, float):
                assert two[name] == pytest.approx(value, abs=1e-12), name
    mixed = Prior.mixture([other, turned], [0.5, 0.5])
    assert mixed.symbols == ["a", "b", "c"] and mixed.p == pytest.approx([0.55, 0.3, 0.15])
    box = undertone.design(
        other,
        prior_lower={name: 0.1 for name in order},
        prior_upper=pd.Series({name: 0.2 + other[name] for name in order}),
        protect="lip:1",
    )
    assert box.inputs == ["a", "b", "c"]
    assert box.policy.document["context"]["kind"] == "box"


def test_pandas_brings_its_names():
    frame = pd.DataFrame(ROWS, index=list("abc"), columns=list("xyz"))
    plain = undertone.audit(prior=FIRST, channel=ROWS)
    assert undertone.audit(prior=pd.Series(FIRST), channel=frame).lip == plain.lip
    assert undertone.audit(prior=FIRST, channel=frame.loc[["c", "a", "b"]]).lip == pytest.approx(plain.lip)
    assert undertone.audit(prior=FIRST, channel=frame.reset_index(drop=True)).lip == plain.lip
    found = pd.Series(["b", "a", "a", "c"]).value_counts(normalize=True)
    assert Prior(found).symbols[0] == "a" and Prior.of(found).p[0] == 0.5
    assert Prior(pd.Series([0.5, 0.5])) == Prior([0.5, 0.5])
    joint = pd.DataFrame([[0.3, 0.2], [0.1, 0.4]], index=["ill", "well"], columns=["x", "y"])
    policy = undertone.design(joint=joint, protect="lip:0.5", objective="mi").policy
    assert policy.inputs == ["x", "y"]
    chain = undertone.compose(FIRST, markov=pd.DataFrame(ROWS, index=list("abc"), columns=list("abc")), epsilons=[1, 1])
    assert chain.exact <= chain.bound


@pytest.mark.parametrize(
    "prior",
    [
        [[0.5, 0.5], [0.5, 0.3, 0.2]],
        [[0.5, 0.3, 0.2], [0.5, 0.5]],
        [np.array([0.5, 0.5]), np.array([0.5, 0.3, 0.2])],
        [FIRST, {"a": 0.5, "b": 0.5}],
        [FIRST, {"a": 0.5, "b": 0.25, "d": 0.25}],
        [FIRST, [0.8, 0.1, 0.1]],
        [[0.8, 0.1, 0.1], FIRST],
    ],
)
def test_other_symbols_are_refused(prior):
    words = "must be about|entries where"
    for call in (
        lambda: undertone.design(prior, protect="lip:1"),
        lambda: undertone.curve(prior, epsilons=[1.0]),
        lambda: undertone.compose(prior, epsilons=[1, 1]),
        lambda: undertone.compose(prior, channels=[ROWS]),
        lambda: undertone.relate("bplip:1", "ldp", prior=prior),
        lambda: undertone.transfer(prior[0], prior[1], epsilon=1),
        lambda: Prior.mixture(prior, [0.5, 0.5]),
    ):
        with pytest.raises(Error, match=words):
            call()


def test_what_is_unclear_is_refused():
    with pytest.raises(Error, match="another order"):
        undertone.compose([FIRST, SECOND], channels=[ROWS])
    with pytest.raises(Error, match="occurs twice"):
        Prior([0.5, 0.5], symbols=["a", "a"])
    with pytest.raises(Error, match="occurs twice"):
        undertone.design(pd.Series([0.5, 0.5], index=["a", "a"]), protect="lip:1")
    with pytest.raises(Error, match="occurs twice"):
        undertone.design(
            prior_lower=pd.Series([0.1, 0.1], index=["a", "a"]), prior_upper=[0.9, 0.9], protect="lip:1"
        )
    with pytest.raises(Error, match="'inputs', 'outputs' and 'rows'"):
        undertone.audit(prior=FIRST, channel={"input": ["a"], "rows": ROWS})


def test_a_symbol_may_be_called_p():
    assert Prior.of({"p": 0.25, "q": 0.75}).symbols == ["p", "q"]


def test_a_prior_without_names_has_none():
    told = Prior([0.5, 0.5], source="somebody")
    assert undertone.transfer(told, [0.6, 0.4], epsilon=1).exact > 1
    assert told.symbols == ["0", "1"] and "symbols" not in told._document
