"""Values that many people have, out of a set too large to list."""

import json
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undertone
from undertone import Error, hitters

WORDS = ["breakfast"] * 2 + ["日本"] + ["x"]
PEOPLE = 24_000
# Draws are new each time, so that the chance of a value that nobody has is made small.
ERROR = 1e-9


@pytest.fixture(scope="module")
def plan():
    return hitters.design("text:10", protect="ldp:2").plan


def values(found):
    return [one["value"] for one in found.found]


def test_from_values_to_what_is_found(plan):
    people = [WORDS[at % 4] for at in range(PEOPLE)]
    reports = plan.report(people)
    assert len(reports) == PEOPLE and {len(one) for one in reports} == {2 * plan.report_bytes}
    found = hitters.find(plan, reports, error=ERROR)
    assert values(found)[0] == "breakfast" and sorted(values(found)) == ["breakfast", "x", "日本"]
    # Any order, any kind of column.
    for column in (reports[::-1], pa.array(reports), pl.Series(reports), pd.Series(reports), np.array(reports)):
        assert hitters.find(plan, column, error=ERROR) == found
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


VECTORS = json.loads((pathlib.Path(__file__).parents[3] / "vectors" / "hitters-1.json").read_text(encoding="utf-8"))


def bits_of(values, value, longer):
    """The code of a value, as the documents' own words say it."""
    kind, _, rest = values.partition(":")
    if kind == "integers":
        return format(int(value), f"0{int(rest)}b")
    if kind == "text":
        most, data = int(rest), value.encode()
        while longer == "cut" and len(data) > most:
            data = data.decode()[:-1].encode()
        return "".join(format(byte, "08b") for byte in data + b"\xff" * (most - len(data)))
    listed, _, most = rest.rpartition(":")
    # Ranges of the vectors are of ASCII letters, and a hyphen stands last.
    letters = listed.replace("a-f", "abcdef")
    width = len(letters).bit_length()
    places = [letters.index(sign) + 1 for sign in value][: int(most)]
    return "".join(format(place, f"0{width}b") for place in places + [0] * (int(most) - len(places)))


@pytest.mark.parametrize("one", VECTORS["good"], ids=lambda one: one["values"])
def test_documents_of_the_vectors_are_read_and_their_hashes_are_toeplitz(one):
    read = hitters.HittersPlan(one["document"])
    assert (read.id, read.report_bytes) == (one["id"], one["report_bytes"])
    longer = json.loads(one["document"])["longer"]
    for given in one["hashes"]:
        code = bits_of(one["values"], given["value"], longer)
        seed = "".join(format(byte, "08b") for byte in bytes.fromhex(given["seed"]))
        prefix = code[: one["prefixes"][given["round"]]]
        size, shift = one["hash_bits"], len(code) + one["hash_bits"] - 1
        rows = [sum(int(a) & int(b) for a, b in zip(seed[row:], prefix)) % 2 for row in range(size)]
        hashed = [row ^ int(bit) for row, bit in zip(rows, seed[shift : shift + size])]
        assert int("".join(map(str, hashed)), 2) == given["symbol"]
    for given in one["no_code"]:
        with pytest.raises(Error):
            read.report([given["value"]])


def test_changed_documents_of_the_vectors_are_refused():
    document = VECTORS["good"][0]["document"]
    for change in VECTORS["bad"]:
        assert change["from"] in document
        with pytest.raises(Error):
            hitters.HittersPlan(document.replace(change["from"], change["to"], 1))
