"""The functions of the package, against golden values and each other."""

import json
import math

import numpy as np
import pytest

import undertone
from undertone import Refused, fusion


@pytest.fixture(scope="module")
def golden(root):
    return json.loads((root / "vectors/golden.json").read_text())


def test_a_printed_formula_is_refused_with_its_true_leakage():
    with pytest.raises(Refused) as caught:
        undertone.design([0.25] * 4, protect="lip:1", method="published")
    refusal = caught.value
    assert refusal.claimed == 1 and refusal.attained == pytest.approx(1.0634553551, abs=1e-9)
    assert refusal.cell["output"] is not None and "/" in refusal.cell["ratio"]
    shipped = undertone.design([0.25] * 4, protect="lip:1", method="published", accept=True)
    assert shipped.attained["lip"] == pytest.approx(refusal.attained, abs=1e-6)
    assert shipped.policy.verify().verified


def test_design_meets_audit():
    found = undertone.design([0.5, 0.3, 0.2], protect=["lip:1", "ldp:1.5"])
    audited = undertone.audit(found.policy, epsilon=0.5)
    assert audited.lip == found.attained["lip"] <= 1 and audited.ldp <= 1.5
    floats = undertone.audit(prior=[0.5, 0.3, 0.2], channel=found.channel)
    assert floats.lip == pytest.approx(audited.lip, abs=1e-8)
    assert 0 < audited.delta["conditional"] < 1
    assert undertone.audit(prior=[0.5, 0.5], channel=[[1, 0], [0, 1]]).ldp == math.inf


def test_shapes_of_priors():
    lists = undertone.design([[0.5, 0.5], [0.6, 0.4]], protect="lip:1").policy
    assert lists.document["context"]["kind"] == "priors"
    box = undertone.design(prior_lower=[0.4, 0.4], prior_upper=[0.6, 0.6], protect="lip:1").policy
    assert box.document["context"]["kind"] == "box"
    worst = undertone.design([0.5, 0.5], any_prior=True, protect="ldp:1").policy
    assert worst.document["context"]["kind"] == "unknown"
    with pytest.raises(undertone.Error, match="any_prior=True"):
        undertone.design("wc", protect="ldp:1")
    array = undertone.design(np.array([0.5, 0.5]), protect="lip:1").policy
    assert array.document["context"]["kind"] == "prior"
    secret = undertone.design(joint=[[0.3, 0.2], [0.1, 0.4]], protect="lip:0.5", objective="mi").policy
    assert secret.document["context"]["kind"] == "secret"
    named = undertone.design(undertone.Prior([0.5, 0.5], symbols=["x", "y"], source="me"), protect="lip:1").policy
    assert named.inputs == ["x", "y"] and named.document["provenance"]["source"] == "me"


def test_losses_and_accuracy():
    loss = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    # The best single numbers merge two of the three, which is refused unless asked for.
    given = undertone.design([0.5, 0.3, 0.2], protect="lip:1", loss=loss, allow_uninformative=True)
    squared = undertone.design([0.5, 0.3, 0.2], protect="lip:1", objective="squared", allow_uninformative=True)
    assert given.uninformative is not None
    assert given.utility == pytest.approx(squared.utility, abs=1e-9)
    reached = undertone.design([0.5, 0.5], accuracy=0.05, n=1000)
    assert reached.parameters["half_width"] <= 0.05


def test_relations_composition_transfer():
    assert undertone.relate("lip:1", "ldp", prior=[0.5, 0.5]).epsilon > 1
    assert undertone.relate("ldp:1", "lip").epsilon <= 1
    assert undertone.relate("mip:1", "lip").implies is False
    both = undertone.compose([0.5, 0.5], channels=[[[0.75, 0.25], [0.25, 0.75]]] * 2)
    assert both.ldp == pytest.approx(2 * math.log(3))
    pair = undertone.compose(joint=[[0.4, 0.1], [0.1, 0.4]], epsilons=[1, (0.5, 1)])
    assert pair.exact <= pair.bound
    chain = undertone.compose([0.5, 0.5], markov=[[0.9, 0.1], [0.1, 0.9]], epsilons=[1, 1])
    assert chain.exact <= chain.bound
    found = undertone.transfer([0.5, 0.5], [0.6, 0.4], epsilon=1, samples=1000, beta=0.1)
    assert found.estimated["beta"] == 0.1


def test_watchdog_methods():
    joint = [[0.2, 0.2, 0.05, 0.05], [0.05, 0.05, 0.2, 0.2]]
    for method in ("repair", "subset", "partition", "optimal"):
        found = undertone.watchdog(joint, lower=0.4, upper=0.4, method=method)
        assert found.met and found.policy.verify().verified
        assert undertone.audit(joint=joint, channel=found.channel).lip <= 0.4 + 1e-9
    usual = undertone.watchdog(joint, lower=0.4, upper=0.4)
    assert usual["method"] in ("optimal", "partition") and usual["method_note"] and usual["warnings"] == []
    missed = undertone.watchdog([[0.3, 0.1, 0.1], [0.1, 0.2, 0.2]], lower=0.01, upper=0.01, method="merge")
    assert missed.met or missed.policy is None


def test_fusion(root):
    model = json.loads((root / "examples/fusion-ga.json").read_text())
    found = fusion.design(model, information=0.5, ldp=1.0, restarts=2)
    assert found.information <= 0.5 + 1e-9 and all(ldp <= 1.0 + 1e-9 for ldp in found.ldp)
    assert [policy.id for policy in found.policies] == found.policy_ids
    again = fusion.evaluate(found.network)
    assert again.certified and again.error_public == pytest.approx(found.error_public, abs=1e-12)
    assert fusion.evaluate(maps=found.maps, model=model).error_public == pytest.approx(found.error_public, abs=1e-6)
    with pytest.raises(undertone.Error, match="information"):
        fusion.design(model)
    with pytest.raises(undertone.Error):
        fusion.design({"no": "model"}, ldp=1.0)


def test_fusion_objectives(root):
    model = json.loads((root / "examples/fusion-fall.json").read_text())
    asked = {"information": 0.3, "ldp": 1.0, "restarts": 4}
    blind = fusion.design(model, **asked, objective="error")
    assert blind["rule"]["blind"] and len(blind["warnings"]) == 1 and blind["error_public_lower"] <= 0.05
    usual = fusion.design(model, **asked)
    assert usual["objective"]["name"] == "balanced" and usual["warnings"] == []
    costs = fusion.design(model, **asked, objective=[[0, 10], [0.5, 0]], begin=usual["network"])
    assert costs["objective"]["name"] == "cost" and costs["network"]["objective"]["costs"][0] == ["0", "10"]
    tested = fusion.design(model, **asked, objective="detection:0.05")
    assert tested["rule"]["false_alarm"] == pytest.approx(0.05, abs=1e-6)
    # The model in the file is in integers.
    judged = fusion.evaluate(tested["network"])["rule"]
    assert judged["blind"] == tested["rule"]["blind"]
    for rate in ("error", "detection", "false_alarm"):
        assert judged[rate] == pytest.approx(tested["rule"][rate], abs=1e-12)
    with pytest.raises(undertone.Error, match="objective"):
        fusion.design(model, **asked, objective="speed")


def test_golden_values(golden):
    """A few of the numbers every language is held to."""
    text = json.dumps(golden)
    assert len(text) > 1000
    audited = undertone.audit(prior=[0.5, 0.5], channel=[[0.75, 0.25], [0.25, 0.75]])
    assert audited.lip == pytest.approx(math.log(2), abs=1e-12)


def test_risk_and_plots(tmp_path):
    policy = undertone.design({"rare": 0.1, "common": 0.9}, protect="lip:1", method="krr").policy
    risk = policy.risk()
    assert risk.beliefs[0]["symbol"] == "rare" and risk.beliefs[0]["most"] <= 0.1 * math.e + 1e-9
    assert len(risk.in_words) >= 2
    assert policy.plot(tmp_path / "risk.svg") is None
    assert "<svg" in (tmp_path / "risk.svg").read_text()
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = policy.plot(tmp_path / "risk.png")
    assert (tmp_path / "risk.png").stat().st_size > 1000 and axes.get_title() == "lip:1"
    from undertone import _plot

    assert _plot.shares(undertone.estimate(policy, ["rare"] * 30 + ["common"] * 70)).get_xlabel()


def test_estimates_merge():
    policy = undertone.design({"a": 0.5, "b": 0.3, "c": 0.2}, protect="lip:1", objective="frequency").policy
    released = policy.randomize(["a", "b", "c"] * 400)
    parts = [undertone.Tally(policy).add(released[at::7]) for at in range(7)]
    whole = undertone.estimate(policy, released)
    assert undertone.estimate(policy, parts) == whole
    assert undertone.estimate([policy], parts[0].merge(*parts[1:])) == whole


def test_several_policies():
    first = undertone.design({"a": 0.5, "b": 0.5}, any_prior=True, protect="ldp:1", method="krr").policy
    second = undertone.design({"a": 0.3, "b": 0.7}, protect="lip:1", objective="frequency").policy
    tallies = [undertone.Tally(one).add(one.randomize(["a", "b"] * 500)) for one in (first, second)]
    found = undertone.estimate([first, second], tallies)
    assert found.reports == 2000 and len(found.policies) == 2


def test_fusion_train():
    dice = np.random.default_rng(3)
    public, private = dice.integers(0, 2, 600), dice.integers(0, 2, 600)
    samples = {
        "public": public.tolist(),
        "private": private.tolist(),
        "a": (public + private + dice.normal(0, 0.7, 600)).round(3).tolist(),
        "b": (public - private + dice.normal(0, 0.7, 600)).round(3).tolist(),
    }
    asked = {"public": "public", "private": "private", "sensors": ["a", "b"], "levels": 4, "restarts": 1}
    found = fusion.train(samples, methods=["raw", "epic"], ldp=2.0, **asked)
    assert len(found.policies) == 2 and all(policy.verify().verified for policy in found.policies)
    assert fusion.evaluate(found.network).certified
    pd = pytest.importorskip("pandas")
    again = fusion.train(pd.DataFrame(samples), methods=["raw", "epic"], ldp=2.0, **asked)
    assert again.network == found.network
    pa = pytest.importorskip("pyarrow")
    assert fusion.train(pa.table(samples), methods="raw,epic", ldp=2.0, **asked).network == found.network
    with pytest.raises(undertone.Error, match="no column"):
        fusion.train(samples, **{**asked, "public": "nobody"})
    with pytest.raises(undertone.Error, match="row 2: column 'a' is empty"):
        fusion.train({**samples, "a": [1.0, 2.0, float("nan"), *samples["a"][3:]]}, **asked)
    with pytest.raises(undertone.Error, match="hold_out is 1.5: give a number above 0 and below 1"):
        fusion.train(samples, hold_out=1.5, **asked)


def test_together():
    policy = undertone.design({"a": 0.5, "b": 0.5}, protect="lip:0.5", method="krr").policy
    found = undertone.together([policy, policy], consent=["lip:2", "ldp:0.1"])
    assert found.verified and found.policies == [policy.id, policy.id]
    assert [limit["met"] for limit in found.together["consent"]] == [True, False]
