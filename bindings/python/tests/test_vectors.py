"""The golden vectors, read through Python as Rust and JavaScript read them."""

import json
import pathlib
from fractions import Fraction

import pytest

import undertone
from undertone import Error, Ledger, Policy, Refused, Report, _native

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "vectors/v1"


def files(folder, bad):
    found = sorted(path for path in (VECTORS / folder).glob("*.json") if path.name.startswith("bad_") == bad)
    assert found, "no vectors: the test would prove nothing"
    return found


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def ratio(text):
    return None if text == "unbounded" else Fraction(text)


def policy_of(name):
    return Policy(json.dumps(read(VECTORS / "policy" / name)["document"]))


@pytest.mark.parametrize("path", files("policy", bad=False), ids=lambda path: path.stem)
def test_good_policies_are_accepted(path):
    vector = read(path)
    policy = Policy(json.dumps(vector["document"]))
    assert policy.id == vector["id"]
    assert policy.to_bytes() == bytes.fromhex(vector["bytes"])
    assert Policy.from_bytes(bytes.fromhex(vector["bytes"])) == policy
    assert Policy(policy.to_json()) == policy
    attained = policy.verify().attained
    for subject, found in (("input", attained), ("secret", attained.get("secret"))):
        expected = vector["attained"][subject]
        if expected is None:
            assert found is None
            continue
        for theirs, ours in (("ldp", "ldp"), ("upper", "max_lift"), ("lower", "min_lift")):
            if expected[theirs] is not None:
                exact = found["exact"][ours]
                assert ratio(exact["ratio"]) == ratio(expected[theirs]["ratio"])
                nats = expected[theirs]["nats"]
                assert exact["nats"] == (float("inf") if nats == "unbounded" else nats)


@pytest.mark.parametrize("path", files("policy", bad=True), ids=lambda path: path.stem)
def test_bad_policies_are_refused(path):
    vector = read(path)
    if "bytes" in vector:
        load, content = Policy.from_bytes, bytes.fromhex(vector["bytes"])
    else:
        load, content = Policy, vector["text"] if "text" in vector else json.dumps(vector["document"])
    with pytest.raises(Error) as caught:
        load(content)
    refusal = caught.value
    assert str(refusal)
    assert isinstance(refusal, Refused) == (vector["stage"] == "verify")
    if vector["stage"] == "verify":
        expected = vector["refusal"]
        assert refusal.cell["claim"] == expected["claim"]
        assert refusal.cell["side"] == expected["side"]
        assert ratio(refusal.cell["ratio"]) == ratio(expected["attained"])
        assert ratio(refusal.cell["allowed"]) == ratio(expected["allowed"])
        assert refusal.attained >= refusal.claimed or expected["side"] == "delta"


@pytest.mark.parametrize("path", files("draw", bad=False), ids=lambda path: path.stem)
def test_draws_are_pinned(path):
    vector = read(path)
    policy = Policy.from_bytes(bytes.fromhex(vector["bytes"]))
    assert policy == policy_of(vector["policy"])
    assert vector["cases"]
    for case in vector["cases"]:
        stream = bytes.fromhex(case["stream"])
        expected = case["token"] if "token" in case else bytes.fromhex(case["bits"])
        token, consumed = _native.draw(policy, case["symbol"], stream)
        assert (token, consumed) == (expected, case["consumed"])
        # The flat draw may read on, but never decides otherwise.
        assert _native.draw(policy, case["symbol"], stream, flat=True)[0] == expected


@pytest.mark.parametrize("path", files("report", bad=False), ids=lambda path: path.stem)
def test_reports(path):
    vector = read(path)
    policy = policy_of(vector["policy"])
    stream = bytes.fromhex(vector["stream"])
    report = _native.report_from(Ledger("22"), "datum", policy, vector["symbol"], stream)
    assert json.loads(report.to_json()) == vector["report"]
    assert report.to_bytes() == bytes.fromhex(vector["bytes"])
    assert Report.from_json(json.dumps(vector["report"])) == report
    assert Report.from_bytes(bytes.fromhex(vector["bytes"])) == report
    assert report.token == (vector["token"] if "token" in vector else bytes.fromhex(vector["bits"]))
    report.check(policy)


@pytest.mark.parametrize("path", files("report", bad=True), ids=lambda path: path.stem)
def test_bad_reports(path):
    vector = read(path)
    forms = []
    if "bytes" in vector:
        forms.append(lambda: Report.from_bytes(bytes.fromhex(vector["bytes"])))
    if "report" in vector:
        forms.append(lambda: Report.from_json(json.dumps(vector["report"])))
    if "text" in vector:
        forms.append(lambda: Report.from_json(vector["text"]))
    assert forms
    for form in forms:
        if vector["stage"] == "decode":
            with pytest.raises(Error):
                form()
        else:
            with pytest.raises(Error):
                form().check(policy_of(vector["policy"]))


def test_epsilon():
    vector = read(VECTORS / "epsilon.json")
    for case in vector["parsed"]:
        assert _native.parse_epsilon(case["text"]) == (tuple(case["odds"]), case["nats"])
    for case in vector["written"]:
        assert _native.odds_nats(*case["odds"]) == case["nats"]
    for case in vector["bad_texts"]:
        with pytest.raises(Error):
            _native.parse_epsilon(case["text"])
    for odds in vector["bad_odds"]:
        with pytest.raises(Error):
            _native.odds_nats(*odds)


def test_ledger():
    vector = read(VECTORS / "ledger.json")
    for sequence in vector["sequences"]:
        ledger = Ledger(sequence["budget"])
        for step in sequence["steps"]:
            policy = policy_of(step["policy"])
            earlier = policy_of(step["earlier"]) if step["earlier"] else None
            try:
                outcome = getattr(ledger, step["call"])(step["datum"], policy, earlier) or "fresh"
            except Error as error:
                outcome = next(
                    name
                    for name, words in (
                        ("budget", "the budget is"),
                        ("not_composable_checked", "all releases together break a claim"),
                        ("not_composable", "no finite LDP level"),
                    )
                    if words in str(error)
                )
            assert outcome == step["outcome"], sequence["about"]
            assert (ledger.spent(step["datum"]) or "unbounded") == step["spent"]
    for case in vector["consequences"]:
        assert _native.lip_consequence(case["spent"], case["prior"]) == case["lip"]


OUTCOMES = (
    ("not_composable_checked", "all releases together break a claim"),
    ("not_composable", "no finite LDP level"),
    ("consent_secret", "the LDP about"),
    ("consent_ldp", "the LDP of everything released"),
    ("consent_lip", "belief about this datum"),
)


@pytest.mark.parametrize("path", sorted((VECTORS / "sequence").glob("*.json")), ids=lambda path: path.stem)
def test_sequence(path):
    vector = read(path)
    consent = vector["consent"]
    ledger = Ledger("999999999", lip=consent["lip"], ldp=consent["ldp"], secrets=consent["secrets"])
    for past in vector["past"]:
        policy = policy_of(past["policy"])
        drawn = {key: past[key] for key in ("token", "bits") if key in past}
        fields = {"undertone": "report/1", "policy": policy.id, "id": "00" * 16, **drawn}
        report = Report.from_json(json.dumps(fields)) if drawn else None
        ledger.note("datum", policy, report, kept="cost" not in past)
    policy = policy_of(vector["next"])
    assert ledger.standing("datum", policy) == vector["standing"]
    try:
        ledger.report("datum", policy, 0)
        outcome = "fresh"
    except Error as error:
        outcome = next(name for name, words in OUTCOMES if words in str(error))
    assert outcome == vector["outcome"]
    assert path.name.startswith("bad_") == (outcome != "fresh")


def accepted_plans():
    return [path for path in files("plan", bad=False) if not path.name.startswith("choose_")]


@pytest.mark.parametrize("path", accepted_plans(), ids=lambda path: path.stem)
def test_accepted_plans(path):
    vector = read(path)
    plan = undertone.Plan(vector["document"])
    assert plan.id == vector["id"]
    assert undertone.Plan(plan.to_json()) == plan


@pytest.mark.parametrize("path", files("plan", bad=True), ids=lambda path: path.stem)
def test_refused_plans(path):
    vector = read(path)
    if "bytes" in vector:
        return  # Python reads documents only.
    with pytest.raises(Refused if vector["stage"] == "verify" else Error):
        undertone.Plan(vector["text"] if "text" in vector else vector["document"])


@pytest.mark.parametrize("path", files("response", bad=False) + files("response", bad=True), ids=lambda path: path.stem)
def test_responses(path):
    vector = read(path)
    tally = undertone.PlanTally(read(VECTORS / "plan" / vector["plan"])["document"])
    if path.name.startswith("bad_"):
        with pytest.raises(Error):
            tally.add([vector["text"]])
        assert tally.responses == 0
    else:
        assert tally.add([vector["response"]]).responses == 1


def test_every_vector_was_read():
    seen = {"policy", "draw", "report", "sequence", "plan", "response"}
    assert {path.name for path in VECTORS.iterdir() if path.is_dir()} == seen
    assert {path.name for path in VECTORS.glob("*.json")} == {"epsilon.json", "ledger.json"}
    assert undertone.__version__
