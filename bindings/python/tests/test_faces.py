"""One fact has one JSON: the risk of a policy has the bytes of `tests/faces/risk.json`, as from every other face."""

import json

from undertone import Policy, _native


def test_the_risk_of_a_policy_has_the_bytes_of_every_face(root):
    policy = Policy.load(root / "tests/faces/policy.json")
    golden = (root / "tests/faces/risk.json").read_bytes()
    expected = json.loads(golden)
    # Numbers are kept as they were written: Python writes some of them otherwise.
    kept = {"parse_float": Literal, "parse_int": Literal}
    shown = json.loads(_native.show(policy), **kept)
    assert written({name: shown[name] for name in expected}).encode() == golden
    # Nothing of the report is missing from the file: a policy that is only verified has all the rest, but its shape.
    assert set(shown) - set(json.loads(_native.verify(policy))) == {*expected, "shape"}
    # What people get is that text, read.
    assert {name: policy.risk()[name] for name in expected} == expected


class Literal(str):
    """A number as it was written."""


def written(value, indent=""):
    """JSON as the other faces print it: two spaces, sorted as it came."""
    inner = indent + "  "
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, dict) and value:
        items = [f"{inner}{json.dumps(name, ensure_ascii=False)}: {written(one, inner)}" for name, one in value.items()]
        text = "{\n" + ",\n".join(items) + f"\n{indent}}}"
    elif isinstance(value, list) and value:
        text = "[\n" + ",\n".join(inner + written(one, inner) for one in value) + f"\n{indent}]"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if indent else text + "\n"
