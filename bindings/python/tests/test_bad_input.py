"""Bad input is an exception that says what is wrong; it is never a crash."""

import ctypes
import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undertone
from undertone import Error, Policy, Refused, Tally


# A public value that one sensor tells.
ONE_SENSOR = {
    "hypotheses": [[0.25, 0.25], [0.25, 0.25]],
    "sensors": [{"given": [[[1, 0], [1, 0]], [[0, 1], [0, 1]]]}],
}


@pytest.fixture(scope="module")
def policy():
    return undertone.design({"a": 0.5, "b": 0.5}, protect="ldp:1").policy


@pytest.fixture(scope="module")
def counted():
    return undertone.design([0.25] * 4, protect="ldp:1").policy


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        (["a", None], Error, "row 1 is missing"),
        (["a", float("nan")], Error, "row 1 is missing"),
        (["a", pd.NA], Error, "row 1 is missing"),
        (["a", "z"], Error, "row 1 is not one of the policy's symbols"),
        (["a", 10**30], Error, "row 1 is not one"),
        (["a", object()], TypeError, "row 1 is of type object"),
        (["a", ["b"]], TypeError, "row 1 is of type list"),
        (["a", b"b"], TypeError, "row 1 is of type bytes"),
        (["a", 1j], TypeError, "row 1 is of type complex"),
        (["a", datetime.date(2026, 1, 1)], TypeError, "row 1 is of type date"),
        ("ab", TypeError, "a single text is not a column"),
        (b"ab", TypeError, "a single text is not a column"),
        (3, TypeError, "a column of type int"),
        (None, TypeError, "a column of type NoneType"),
        (np.array(["a", None], dtype=object), Error, "row 1 is missing"),
        (np.array(["a", {}], dtype=object), TypeError, "row 1 is of type dict"),
        (np.array([["a"]]), ValueError, "one dimension"),
        (np.array(3), ValueError, "one dimension"),
        (np.array([b"a"]), TypeError, "array of bytes"),
        (np.array(["2026-01-01"], dtype="M8[D]"), TypeError, "array of datetime64"),
        (np.array([1j]), TypeError, "array of complex128"),
        (np.array([1, 2]), Error, "row 0 is not one"),
        (pd.Series(["a", None]), Error, "row 1 is missing"),
        (pd.Series(["a", None], dtype="category"), Error, "row 1 is missing"),
        (pd.Series(["a", "z"], dtype="category"), Error, "row 1 is not one"),
        (pd.Series([1, None], dtype="Int64"), Error, "row 0 is not one"),
        (pd.Series(pd.to_datetime(["2026-01-01"])), TypeError, "row 0 is of type Timestamp"),
        (pa.array(["a", None]), Error, "row 1 is missing"),
        (pa.array(["a", None]).dictionary_encode(), Error, "row 1 is missing"),
        (pa.array(["a", "z"]).dictionary_encode(), Error, "row 1 is not one"),
        (pa.nulls(2), Error, "row 0 is missing"),
        (pa.array([[1]]), TypeError, "a column of type"),
        (pa.array([datetime.date(2026, 1, 1)]), TypeError, "a column of type Date32"),
        (pa.array([{"a": 1}]), TypeError, "name it with column="),
        (pa.chunked_array([["a"], ["b", None]]), Error, "row 2 is missing"),
        (pl.Series(["a", None]), Error, "row 1 is missing"),
        (pl.Series([[1]]), TypeError, "a column of type"),
        (pl.LazyFrame({"x": ["a"]}), TypeError, "column="),
    ],
)
def test_columns(policy, column, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        policy.randomize(column)


def test_nothing_is_nothing(policy, counted):
    assert policy.randomize([]) == []
    assert counted.randomize(np.array([], dtype=np.int64)).shape == (0,)
    assert len(policy.randomize(pa.array([], pa.string()))) == 0
    assert len(policy.randomize(pa.chunked_array([], pa.string()))) == 0
    assert len(policy.randomize(pl.Series("x", [], dtype=pl.String))) == 0
    with pytest.raises(Error, match="no reports"):
        undertone.estimate(policy, [])


@pytest.mark.parametrize("value", [-1, 4, 2**40, -(2**63), 2**63, 1.5, float("inf")])
def test_indices_out_of_range(counted, value):
    with pytest.raises(Error, match="row 0 is not one"):
        counted.randomize([value])
    kind = np.uint64 if value == 2**63 else np.float64 if isinstance(value, float) else np.int64
    with pytest.raises(Error, match="row 0 is not one"):
        counted.randomize(np.array([value], dtype=kind))
    with pytest.raises(Error, match="row 0 is not one"):
        counted.randomize(pa.array(np.array([value], dtype=kind)))


def test_the_bad_row_is_named_across_threads_and_batches(counted):
    column = np.zeros(300_000, dtype=np.int64)
    column[270_001] = 9
    with pytest.raises(Error, match="row 270001 "):
        counted.randomize(column, threads=2)
    column[3] = 9
    with pytest.raises(Error, match="row 3 "):
        counted.randomize(column, threads=2)
    batch = lambda value: pa.record_batch({"x": pa.array([0, value])})
    reader = pa.RecordBatchReader.from_batches(batch(0).schema, iter([batch(1), batch(7)]))
    with pytest.raises(Exception, match="row 3 is not one"):
        counted.randomize(reader, "x").read_all()


def test_a_stream_that_fails_half_way(counted):
    def batches():
        yield pa.record_batch({"x": pa.array([0, 1])})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(Exception, match="the disk is gone"):
        counted.randomize(reader, "x").read_all()
    with pytest.raises(ValueError, match="there is no column \"y\""):
        counted.randomize(pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), iter([])), "y")


def test_capsules_of_the_wrong_kind(policy):
    class Liar:
        def __init__(self, answer):
            self.answer = answer

        def __arrow_c_array__(self, requested_schema=None):
            return self.answer

    array = pa.array(["a"])
    schema, data = array.__arrow_c_array__()
    for answer in (None, (1, 2), (schema,), (data, schema)):
        with pytest.raises((TypeError, ValueError)):
            policy.randomize(Liar(answer))
    # A pair that was read already is empty.
    pair = pa.array(["a"]).__arrow_c_array__()
    assert len(policy.randomize(Liar(pair))) == 1
    with pytest.raises(Exception):
        policy.randomize(Liar(pair))


def test_arrow_arrays_that_lie_about_their_contents(policy):
    not_text = pa.array([b"\xff\xfe"]).view(pa.string())
    no_such_key = pa.DictionaryArray.from_arrays(pa.array([0, 5]), pa.array(["a"]), safe=False)
    beyond = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(np.array([0, 900, 2], "i4").tobytes()), pa.py_buffer(b"ab")])
    for column in (not_text, no_such_key, beyond):
        for call in (policy.randomize, policy.encode, Tally(policy).add):
            with pytest.raises((TypeError, Error)):
                call(column)


def test_a_stream_without_the_column(policy):
    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.string()}), iter([]))
    with pytest.raises(ValueError, match="the columns are x"):
        Tally(policy).add(reader, "y")


def test_tampered_policies(policy, tmp_path):
    document = policy.document
    document["channel"]["masses"][0][0] += 2**30
    with pytest.raises(Error):
        Policy(json.dumps(document))
    document["channel"]["masses"][0][1] -= 2**30
    document.pop("id")
    with pytest.raises(Refused) as caught:
        Policy(json.dumps(document))
    assert caught.value.attained > caught.value.claimed == 1
    assert caught.value.cell["output"] in (0, 1)
    for junk in ("", "{}", "null", "[" * 100_000, json.dumps({**policy.document, "id": "0" * 64})):
        with pytest.raises(Error):
            Policy(junk)
    (tmp_path / "junk").write_bytes(b"\xff\xfe")
    with pytest.raises(Error):
        Policy.load(tmp_path / "junk")
    with pytest.raises(TypeError):
        Policy(3)
    assert issubclass(Refused, Error) and issubclass(Error, ValueError)


def test_tallies(policy, counted):
    tally = Tally(policy)
    for bad, error in ((["a", "z"], Error), ([None], Error), ([{}], TypeError), (np.array([0.5]), Error)):
        with pytest.raises(error):
            tally.add(bad)
    assert tally.reports == 0, "all or nothing"
    indices = Tally(counted)
    with pytest.raises(Error, match="row 2 is nothing this policy releases"):
        indices.add(np.array([0, 1, 9], dtype=np.uint32))
    with pytest.raises(Error, match="row 3 "):
        indices.add(pa.chunked_array([[0, 1], [2, -1]]))
    assert indices.add(pa.chunked_array([[0, 1], [2, 0]])).counts == [2, 1, 1, 0]
    with pytest.raises(Error, match="policy"):
        tally.merge(Tally(counted))
    with pytest.raises(TypeError):
        tally.merge(3)
    with pytest.raises(Error):
        Tally.from_json(tally.to_json(), counted)
    for junk in ("", "{}", tally.to_json().replace('"reports":0', '"reports":5')):
        with pytest.raises(Error):
            Tally.from_json(junk)
    with pytest.raises(Error, match="without its policy"):
        Tally.from_json(tally.to_json()).add(["a"])
    with pytest.raises(TypeError):
        Tally()
    bits = undertone.design([0.1] * 10, protect="ldp:1", method="oue").policy
    for bad in ([b"x"], [3], np.zeros((2, 3), np.uint8), np.zeros(4, np.uint8), np.zeros((2, 2)), pa.array([b"x"]), ["01"], ["zzzz"], ["é1x"], [None]):
        with pytest.raises((TypeError, ValueError)):
            Tally(bits).add(bad)
    with pytest.raises(Error, match="spare"):
        Tally(bits).add([b"\xff\xff"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: undertone.design([0.5, 0.6], protect="lip:1"), "sum"),
        (lambda: undertone.design([0.5, float("nan")], protect="lip:1"), "prior"),
        (lambda: undertone.design([], protect="lip:1"), "prior"),
        (lambda: undertone.design([0.5, 0.5], protect="lop:1"), "protect"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:-1"), "protect"),
        (lambda: undertone.design([0.5, 0.5]), "protect"),
        (lambda: undertone.design([0.5, 0.5], protect=1.0), "protect is 1.0: give a text such as 'lip:1'"),
        (lambda: undertone.design([0.5, 0.5], protect=["lip:1", 2]), "protect is .*: give a text such as 'lip:1'"),
        (lambda: undertone.design(0.5, protect="lip:1"), "prior is 0.5: give a list of probabilities"),
        (lambda: undertone.design(np.float64(0.5), protect="lip:1"), "prior is 0.5: give a list of probabilities"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", values=3), "values is 3: give a list of numbers"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", values=[1], objective="squared"), "values has 1 entries"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", loss=[1, 2]), "loss is .*: give a matrix"),
        (lambda: undertone.design(protect="lip:1", prior_lower=1, prior_upper=[1]), "prior_lower is 1: give a list"),
        (lambda: undertone.design(protect="lip:1", joint=1.0, objective="hamming"), "joint is 1.0: give a matrix"),
        (lambda: undertone.relate("lip:1", "ldp", prior=[0.5, float("nan")]), r"^prior\[1\] is nan: give a number"),
        (lambda: undertone.relate("lip:1", "ldp", prior={"a": float("nan")}), r"^prior\['a'\] is nan: give a number"),
        (lambda: undertone.transfer([0.5, 0.5], [0.5, float("inf")], epsilon=1), r"^to\[1\] is inf: give a number"),
        (lambda: undertone.transfer([0.5, 0.5], [0.5, 0.6], epsilon=1), "^to: .*sum"),
        (lambda: undertone.transfer([0.5, 0.6], [0.5, 0.5], epsilon=1), "^from_: .*sum"),
        (lambda: undertone.relate("lip", "ldp"), "^from_: "),
        (lambda: undertone.compose([0.5, 0.5], channels=[[[1, 0], [0, 1]], [[0.5, 0.6], [0, 1]]]), r"^channels\[1\]: "),
        (lambda: undertone.compose([[0.5, 0.5], [0.5, 0.6]], epsilons=[1]), r"^prior\[1\]: "),
        (lambda: undertone.audit(prior=[0.5, 0.5], channel=[[1, float("nan")], [0, 1]]), r"^channel\[0\]\[1\] is nan"),
        (lambda: undertone.together([3]), r"^policies\[0\] is 3: give a Policy"),
        (lambda: undertone.fusion.evaluate({}), "^network: "),
        (lambda: undertone.fusion.design({}, ldp=1), "^model: "),
        (lambda: undertone.audit(3), "policy is 3: give a Policy"),
        (lambda: undertone.audit(prior=[0.5, 0.5], channel=1), "channel is 1: give a matrix"),
        (lambda: undertone.audit(prior=[1.0], channel={"row": []}), "channel has the fields"),
        (lambda: undertone.transfer([1.0], [1.0], epsilon=1, policy="p"), "policy is 'p': give a Policy"),
        (lambda: undertone.compose([0.5, 0.5], epsilons=1.0), "epsilons is 1.0: give a list"),
        (lambda: undertone.compose([0.5, 0.5], channels=1.0), "channels is 1.0: give a list"),
        (lambda: undertone.relate("lip:1", "sibson", alpha=-1), "alpha is -1"),
        (lambda: undertone.estimate(3, ["a"]), "policy is 3: give a Policy"),
        (lambda: undertone.Prior(0.5), "p is 0.5: give a list of numbers"),
        (lambda: undertone.Prior([0.5, 0.5], symbols=2), "symbols is 2: give a list of names"),
        (lambda: undertone.Prior.fit([1.0], range=3, bins=3), "range is 3: give two numbers"),
        (lambda: undertone.Prior.fit([1.0], points=3), "points is 3: give a list of numbers"),
        (lambda: undertone.Prior.fit([1.0], points=["x", None]), "points is .*: give a list of numbers"),
        (lambda: undertone.Prior.mixture(3, [1.0]), "priors is 3: give a list of priors"),
        (lambda: undertone.Prior.mixture([[1.0]], 1.0), "weights is 1.0: give a list of numbers"),
        (lambda: undertone.fusion.evaluate(maps=3, model={}), "maps is 3: give a list of matrices"),
        (lambda: undertone.fusion.design(ONE_SENSOR, ldp=-1), "ldp is -1: give a number of nats"),
        (lambda: undertone.fusion.train({"a": [1]}, public="a", private="a", sensors=3), "sensors is 3: give a list"),
        (lambda: undertone.fusion.train(3, public="a", private="b", sensors=["c"]), "samples is of type int"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", method="magic"), "method 'magic'|method \"magic\""),
        (lambda: undertone.design("uniform", protect="lip:1"), "prior is 'uniform'"),
        (lambda: undertone.design(protect="lip:1"), "prior"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", prior_lower=[0.1, 0.1]), "prior_upper"),
        (lambda: undertone.watchdog([[0.5, 0.5]], lower=-1, upper=1), "lower is -1"),
        (lambda: undertone.watchdog([[0.5, 0.6]], lower=1, upper=1), "joint"),
        (lambda: undertone.watchdog([[0.5, 0.5]], lower=1), "^give lower and upper, or ldp"),
        (lambda: undertone.watchdog([[0.5, 0.5]], ldp=1, split=3), "^split is 3: give a number from 0 to 1"),
        (lambda: undertone.watchdog([[0.5, 0.5]], ldp=1, method="magic"), '^method "magic" is unknown: use merge'),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", accuracy=0.1), "^accuracy needs n"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", n=10), "^n needs accuracy"),
        (lambda: undertone.design([0.5, 0.5], accuracy=0.1, n=10, for_n=True), "^give n, or for_n"),
        (lambda: undertone.design([0.5, 0.5], accuracy=0.1, n=10**30), "^n is 1000.*: the number is too large"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", accuracy="much", n=3), "^accuracy is 'much': give a number"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", range=(0, 1), bins=-2), "^bins is -2: give a whole number"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", points=[0, 1]), "^points needs range"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", alpha=2), "^alpha belongs to scale"),
        (lambda: undertone.design([0.5, 0.5], protect="lip:1", scale=2, alpha=2), "^alpha belongs to scale"),
        (
            lambda: undertone.design(
                protect="lip:1", density="normal:0,1", range=(0, 1), bins=2, prior_lower=[0.5, 0.5], prior_upper=[0.5, 0.5]
            ),
            "^density and prior_lower are two contexts",
        ),
        (lambda: undertone.curve([0.5, 0.5], epsilons=[]), "^epsilons is empty: give at least one"),
        (lambda: undertone.curve([0.5, 0.5], epsilons=[20]), r"^epsilons is \[20.0\]: levels lie between 0 and 11"),
        (lambda: undertone.curve([0.5, 0.5], epsilons=[1], methods=["magic"]), '^methods "magic" is unknown'),
        (lambda: undertone.Prior.mixture([{"a": 1.0}, {"b": 1.0}], [0.5, 0.5]), r"^priors\[1\] is about"),
        (lambda: undertone.relate("lip:1", "nonsense"), "to"),
        (lambda: undertone.audit(), "give a policy"),
        (lambda: undertone.audit(prior=[0.5, 0.5]), "channel"),
        (lambda: undertone.audit(prior=[1.0], channel=[[0.5]]), "channel"),
        (lambda: undertone.compose([0.5, 0.5]), "epsilons"),
        (lambda: undertone.transfer([0.5, 0.5], [1.0], epsilon=1), "has 1 entries where 2 are needed"),
        (lambda: undertone.transfer([0.5, 0.5], [0.4, 0.6], epsilon=-1), "epsilon"),
        (lambda: undertone.Prior.fit(["a"], range=(0, 1)), "range and bins"),
        (lambda: undertone.Prior.fit([]), "no values"),
        (lambda: undertone.Prior.fit([None]), "missing"),
        (lambda: undertone.Prior.fit(["a", "b"], symbols=["a"]), "row 1 is not one of the symbols"),
        (lambda: undertone.Prior.fit(["a"], symbols=["a", "a"]), "occurs twice"),
        (lambda: undertone.Prior.fit([1.0], range=(1, 0), bins=3), "range"),
        (lambda: undertone.Prior.fit([1.0], beta=2), "beta"),
        (lambda: undertone.Prior.mixture([[0.5, 0.5]], [0.5]), "weights"),
    ],
)
def test_requests(call, words):
    with pytest.raises(Error, match=words) as caught:
        call()
    assert "--" not in str(caught.value), "options are keyword arguments here"


def test_a_message_stays_short():
    with pytest.raises(Error) as caught:
        undertone.design([0.5, 0.5], protect=["lip:1"] * 1000 + [2])
    assert len(str(caught.value)) < 200


def test_a_byte_order_mark_is_no_part_of_a_document(policy, tmp_path):
    tally = Tally(policy).add(policy.randomize(["a", "b"]))
    for name, content in (("policy", policy.to_json()), ("tally", tally.to_json()), ("prior", '{"a": 0.5, "b": 0.5}')):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + content.encode())
    assert Policy.load(tmp_path / "policy") == policy
    assert Tally.load(tmp_path / "tally", policy) == tally
    assert undertone.Prior.load(tmp_path / "prior").symbols == ["a", "b"]
    for load in (Policy.load, Tally.load, undertone.Prior.load):
        (tmp_path / "latin").write_bytes(b"\xff[")
        with pytest.raises(Error, match="latin"):
            load(tmp_path / "latin")


def test_levels_are_read_as_python_writes_them(policy):
    # str(1e-05) has an exponent.
    for budget in (1e-05, "1e-12", 1, 0.5, np.float64(2), "+1"):
        undertone.Ledger(budget, lip=1e-05, ldp=2.5, secrets={"s": 1e-05})
    with pytest.raises(Error, match="budget is nan: not a number of nats"):
        undertone.Ledger(float("nan"))
    with pytest.raises(Error, match="lip is -1: not a number of nats"):
        undertone.Ledger(1, lip=-1)
    with pytest.raises(Error, match="the limit of secret s is x"):
        undertone.Ledger(1, secrets={"s": "x"})


class BadFormat:
    """An Arrow array whose schema's format is no text, at which the Arrow library panics."""

    FORMAT = ctypes.create_string_buffer(b"\xff\xfe")

    def spoiled(self, capsule):
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        schema = get(capsule, b"arrow_schema")
        # The structure begins with the pointer to its format. Whoever made it frees its own text, not this pointer.
        ctypes.cast(schema, ctypes.POINTER(ctypes.c_void_p))[0] = ctypes.addressof(self.FORMAT)
        return capsule

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = pa.array(["a", "b"]).__arrow_c_array__()
        return self.spoiled(schema), array


def test_a_panic_is_an_error(policy):
    tally = Tally(policy)
    for call in (policy.randomize, policy.encode, tally.add, lambda column: undertone.Prior.fit(column, symbols=["a"])):
        with pytest.raises(Error, match="a fault of undertone.*report it"):
            call(BadFormat())
    # What was in use when it happened can be used again.
    assert policy.encode(["b"]) == [1]
    assert tally.add(policy.randomize(["a"])).reports == 1


def test_estimates(policy):
    tally = Tally(policy).add(["a", "b"])
    for options in ({"level": 2}, {"quantiles": [2.0]}, {"above": -3.0}):
        with pytest.raises(Error):
            undertone.estimate(policy, tally, **options)
    with pytest.raises(Error, match="not given"):
        undertone.estimate(undertone.design([0.5, 0.5], protect="ldp:1").policy, tally)


def test_threads_and_unknown(policy):
    with pytest.raises(ValueError, match="threads is 0"):
        policy.randomize(["a"], threads=0)
    with pytest.raises(Error, match="unknown is 'maybe'"):
        policy.randomize(["a"], unknown="maybe")
    with pytest.raises(TypeError):
        policy.randomize(["a"], seed=1)
