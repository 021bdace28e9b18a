"""Every container in, the same container out; what is drawn is what the policy says."""

import json
import pickle
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undertone
from undertone import Policy, Tally, _native
from undertone.testing import randomize_with_seed


@pytest.fixture(scope="module")
def names():
    return undertone.design({"a": 0.5, "b": 0.3, "c": 0.2}, protect="ldp:1", method="krr").policy


@pytest.fixture(scope="module")
def indices():
    return undertone.design([1 / 16] * 16, protect="ldp:2", method="krr").policy


@pytest.fixture(scope="module")
def numbers():
    prior = undertone.Prior.fit(np.linspace(0, 10, 500), range=(0, 10), bins=8)
    return undertone.design(prior, protect="lip:2", method="laplace").policy


@pytest.fixture(scope="module")
def bits():
    return undertone.design([0.1] * 10, protect="ldp:1", method="oue").policy


WORDS = ["a", "b", "c", "c", "a"] * 40


@pytest.mark.parametrize(
    "column",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        pd.Series(WORDS, name="x", index=range(100, 300)),
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype="string"),
        pd.Series(WORDS, dtype="string[pyarrow]"),
        pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string())),
        pl.Series("x", WORDS),
        pl.Series("x", WORDS, dtype=pl.Categorical),
        pa.array(WORDS),
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS, pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pa.chunked_array([WORDS[:50], WORDS[50:]]),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}.{type(column).__name__}",
)
def test_names_come_back_in_kind(names, column):
    released = names.randomize(column)
    expected = list if isinstance(column, tuple) else type(column)
    assert isinstance(released, expected) or isinstance(released, pa.Array), type(released)
    assert len(released) == 200
    values = released.to_pylist() if hasattr(released, "to_pylist") else list(released)
    assert set(values) == {"a", "b", "c"}
    assert Tally(names).add(released).reports == 200
    if isinstance(column, pa.ChunkedArray):
        return  # A seed starts over in every chunk.
    # The same draws whatever the container.
    seeded = randomize_with_seed(names, column, 1)
    seeded = seeded.to_pylist() if hasattr(seeded, "to_pylist") else list(seeded)
    assert seeded == randomize_with_seed(names, WORDS, 1)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", ">i4", ">f8", "f2"])
def test_numpy_types(indices, dtype):
    values = np.arange(64).astype(dtype) % 16
    released = indices.randomize(values)
    assert released.dtype == np.uint32 and released.shape == (64,)
    expected = randomize_with_seed(indices, [int(v) for v in values], 3)
    assert randomize_with_seed(indices, values, 3).tolist() == expected


def test_strided_and_read_only_arrays(indices):
    values = np.arange(64, dtype=np.int64) % 16
    backwards, every_other = values[::-1], np.repeat(values, 2)[::2]
    assert (indices.encode(backwards) == backwards).all()
    assert (indices.encode(every_other) == values).all()
    values.flags.writeable = False
    assert indices.randomize(values).shape == (64,)
    odd = np.frombuffer(b"x" + values.tobytes(), dtype=np.uint8)[1:].view(np.int64)
    assert not odd.flags.aligned or odd.ctypes.data % 8 == 0
    assert (indices.encode(odd) == values).all()


def test_truth_values():
    yes_no = undertone.design({"true": 0.3, "false": 0.7}, protect="ldp:1").policy
    zero_one = undertone.design([0.3, 0.7], protect="ldp:1").policy
    truths = [True, False, True]
    for column in (truths, np.array(truths), pa.array(truths), pl.Series(truths), pd.Series(truths)):
        encoded = yes_no.encode(column)
        encoded = pa.array(encoded).to_pylist() if hasattr(encoded, "__arrow_c_array__") else list(encoded)
        assert encoded == [0, 1, 0]
    assert zero_one.encode(truths) == [1, 0, 1]


def test_numbers_are_clipped_and_binned(numbers):
    values = [0.0, 1.24, 1.25, 9.99, 10.0, -5.0, 50.0]
    expected = [0, 0, 1, 7, 7, 0, 7]
    assert numbers.encode(values) == expected
    assert numbers.encode(np.array(values)).tolist() == expected
    assert numbers.encode(np.array(values, dtype=np.float32)).tolist() == expected
    released = numbers.randomize(np.full(1000, 5.0))
    assert released.dtype == np.float64
    labels = [float(label) for label in numbers.outputs]
    assert set(released.tolist()) <= set(labels)
    frame = numbers.randomize(pd.DataFrame({"x": values, "y": range(7)}), "x", keep=["y"])
    assert list(frame.columns) == ["x", "y"] and frame["x"].isin(labels).all()


def test_bits(bits):
    for column in ([0, 9] * 50, np.array([0, 9] * 50), pa.array([0, 9] * 50), pl.Series([0, 9] * 50), pd.Series([0, 9] * 50)):
        released = bits.randomize(column)
        assert len(released) == 100
        tally = Tally(bits).add(released)
        assert tally.reports == 100 and 0 < sum(tally.counts) < 1000
    array = bits.randomize(np.array([0, 9] * 50))
    assert array.shape == (100, 2) and array.dtype == np.uint8
    unpacked = np.unpackbits(array, axis=1, count=10)
    assert Tally(bits).add(array).counts == unpacked.sum(axis=0).tolist()
    text = [row.tobytes().hex() for row in array]
    assert Tally(bits).add(text) == Tally(bits).add(array)
    assert Tally(bits).add(np.asfortranarray(array)) == Tally(bits).add(array)


def column_names(table):
    return table.column_names if hasattr(table, "column_names") else list(table.columns)


def test_nothing_but_the_column_leaves_unless_it_is_named(names):
    """Columns, index, attributes and metadata are somebody's data too."""
    plain = {"name": [f"person {at}" for at in range(200)], "answer": WORDS, "region": ["north"] * 200}
    frame = pd.DataFrame(plain, index=pd.Index([f"passport {at}" for at in range(200)], name="passport"))
    frame.attrs["owner"], frame.columns.name = "Zaphod", "Zaphod"
    released = names.randomize(frame, "answer")
    assert list(released.columns) == ["answer"] and released.columns.name is None
    assert released.attrs == {} and released.index.equals(pd.RangeIndex(200)) and released.index.name is None
    kept = names.randomize(frame, "answer", keep=["region", "passport"])
    assert list(kept.columns) == ["answer", "region"] and kept.index.equals(frame.index)
    levels = names.randomize(frame.set_index("name", append=True), "answer", keep=["name"])
    assert levels.index.names == ["name"] and list(levels.index) == plain["name"]

    part = pa.field("part", pa.string(), metadata={"comment": "Zaphod"})
    fields = [pa.field(name, pa.string(), metadata={"comment": "Zaphod"}) for name in plain]
    schema = pa.schema([*fields, pa.field("parts", pa.struct([part]))], metadata={"pandas": "Zaphod"})
    parts = [{"part": "x"}] * 200
    table = pa.table([*plain.values(), parts], schema=schema)
    for released in (
        names.randomize(table, "answer", keep=["region", "parts"]),
        names.randomize(table.to_batches()[0], "answer", keep=["region", "parts"]),
        names.randomize(pa.RecordBatchReader.from_batches(schema, table.to_batches()), "answer", keep=["region", "parts"]).read_all(),
    ):
        assert released.schema.names == ["answer", "region", "parts"] and released.num_rows == 200
        assert "Zaphod" not in released.schema.to_string(show_field_metadata=True, show_schema_metadata=True)
        assert released.schema.metadata is None
        assert all(field.metadata is None for field in released.schema)
        assert released.schema.field("parts").type.field(0).metadata is None
        assert released.column("parts").to_pylist() == parts

    for table in (frame, pl.DataFrame(plain), pa.table(plain)):
        for call, said in (
            (lambda: names.randomize(table, "answer", keep=["answer"]), "cannot also be kept"),
            (lambda: names.randomize(table, "answer", keep=["nobody"]), "there is no column 'nobody'"),
        ):
            with pytest.raises(ValueError, match=said):
                call()
        with pytest.raises(TypeError, match=r"keep=\['region'\]"):
            names.randomize(table, "answer", keep="region")
    stream = pa.RecordBatchReader.from_batches(schema, [])
    with pytest.raises(ValueError, match="there is no column \"nobody\""):
        names.randomize(stream, "answer", keep=["nobody"])
    with pytest.raises(TypeError, match="keep names columns of a table"):
        names.randomize(WORDS, keep=["region"])
    twice = pd.DataFrame([["a", "a", 1]], columns=["answer", "answer", "id"])
    with pytest.raises(ValueError, match="two columns are called 'answer'"):
        names.randomize(twice, "answer")


def test_tables(names):
    plain = {"id": list(range(200)), "answer": WORDS}
    for table in (pd.DataFrame(plain), pl.DataFrame(plain), pa.table(plain)):
        released = names.randomize(table, "answer")
        assert type(released) is type(table)
        assert column_names(released) == ["answer"]
        kept = names.randomize(table, "answer", keep=["id"])
        assert column_names(kept) == ["id", "answer"] and list(kept["id"]) == list(table["id"])
        assert Tally(names).add(released, "answer").reports == 200
        for call in (names.randomize, Tally(names).add):
            with pytest.raises(ValueError, match="the columns are id, answer"):
                call(table, "missing")
        with pytest.raises(TypeError, match="column="):
            names.randomize(table)


def test_streams_are_lazy(names):
    pulled = []

    def batches():
        for at in range(5):
            pulled.append(at)
            yield pa.record_batch({"id": pa.array([at] * 40), "answer": pa.array(WORDS[:40])})

    schema = pa.schema({"id": pa.int64(), "answer": pa.string()})
    reader = names.randomize(pa.RecordBatchReader.from_batches(schema, batches()), "answer", keep=["id"])
    assert isinstance(reader, pa.RecordBatchReader) and len(pulled) == 0
    first = reader.read_next_batch()
    assert len(pulled) == 1 and first.schema.names == ["id", "answer"]
    assert Tally(names).add(reader, "answer").reports == 160
    # Any other library's stream: a capsule and nothing else.
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    out = names.randomize(Stream(), "answer")
    assert isinstance(out, _native.ArrowStream)
    assert pl.DataFrame(pa.table(out)).height == 200
    with pytest.raises(ValueError, match="read already"):
        out.__arrow_c_stream__()


def test_categories(names, bits):
    """A categorical is read and released as positions in a list: no row is written out."""
    column = pd.Series(WORDS, dtype="category", index=range(300, 500), name="x")
    for values in (column, column.array, pd.CategoricalIndex(WORDS)):
        assert names.encode(values).tolist() == names.encode(WORDS)
        assert Tally(names).add(values) == Tally(names).add(WORDS)
    released = names.randomize(column)
    assert released.index.equals(column.index) and released.name == "x"
    assert released.cat.categories.tolist() == ["a", "b", "c"] and released.cat.codes.dtype == np.int8
    assert undertone.Prior.fit(column).counts == undertone.Prior.fit(WORDS).counts
    # Categories nobody chose are not looked at, missing values are missing, and unknown ones unknown.
    wide = column.cat.add_categories(["never"])
    assert names.encode(wide).tolist() == names.encode(WORDS) and undertone.Prior.fit(wide).symbols == ["a", "b", "c"]
    missing = pd.Series(["a", None, "b"], dtype="category")
    with pytest.raises(undertone.Error, match="row 1 is missing"):
        names.randomize(missing)
    assert undertone.Prior.fit(missing, unknown="skip").skipped == 1
    with pytest.raises(undertone.Error, match="row 2 is not one of the policy's symbols") as caught:
        names.randomize(pd.Series(["a", "b", "Zaphod"], dtype="category"))
    assert "Zaphod" not in str(caught.value)
    # More categories than a byte counts, and numbers as categories.
    many = undertone.design([1 / 300] * 300, protect="ldp:9", method="krr").policy
    column = pd.Series(range(300), dtype="category")
    assert column.cat.codes.dtype == np.int16 and many.encode(column).tolist() == list(range(300))
    assert many.randomize(column).dtype == "category"
    # Rows of bits are no categories.
    floors = pd.Series([0, 9] * 50, dtype="category")
    assert Tally(bits).add(bits.randomize(floors)).reports == 100


def test_draws_follow_the_channel(indices):
    """A million draws of one input against the table's masses: the chance of a false alarm is below 1e-9."""
    released = indices.randomize(np.full(1_000_000, 5))
    counts = np.bincount(released, minlength=16)
    mass = indices.document["channel"]
    shares = np.array(mass["masses"][5]) / 2**48 if mass["shape"] == "table" else None
    if shares is None:
        keep = mass["keep"][5] / 2**40
        shares = (1 - keep) * np.array(mass["base"]) / 2**48
        shares[5] += keep
    spread = np.sqrt(1_000_000 * shares * (1 - shares))
    assert (np.abs(counts - 1_000_000 * shares) < 7 * spread).all()


def test_calls_and_threads_do_not_repeat_each_other(indices):
    column = np.zeros(200_000, dtype=np.int64)
    assert (indices.randomize(column) != indices.randomize(column)).any()
    # Two threads of one call have their own generators.
    halves = indices.randomize(column, threads=2).reshape(2, -1)
    assert (halves[0] != halves[1]).any()
    assert (randomize_with_seed(indices, column, 5) == randomize_with_seed(indices, column, 5)).all()


def test_several_python_threads(indices):
    column = np.arange(300_000) % 16
    done = []
    threads = [threading.Thread(target=lambda: done.append(Tally(indices).add(indices.randomize(column)).reports)) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert done == [300_000] * 4


def test_the_interpreter_is_free_meanwhile(indices):
    """Another Python thread runs in the middle of a call, which it could not if the call kept the lock."""
    column = np.arange(20_000_000, dtype=np.uint8) % 16
    tally = Tally(indices)

    def free_during(work):
        span, seen = [], []

        def call():
            span.append(time.perf_counter())
            work()
            span.append(time.perf_counter())

        thread = threading.Thread(target=call)
        thread.start()
        while len(span) < 2:
            seen.append(time.perf_counter())
            time.sleep(0)
        thread.join()
        begun, ended = span
        margin = (ended - begun) / 4
        return any(begun + margin < moment < ended - margin for moment in seen)

    for work in (lambda: indices.randomize(column, threads=1), lambda: tally.add(column)):
        # On a busy machine this thread may get no turn in time; with the lock kept it never would.
        assert any(free_during(work) for _ in range(10))


def test_round_trips(names, tmp_path):
    names.save(tmp_path / "policy.json")
    assert Policy.load(tmp_path / "policy.json") == names
    (tmp_path / "policy.bin").write_bytes(names.to_bytes())
    assert Policy.load(tmp_path / "policy.bin") == names
    assert pickle.loads(pickle.dumps(names)) == names
    tally = Tally(names).add(WORDS)
    assert pickle.loads(pickle.dumps(tally)) == tally
    tally.save(tmp_path / "tally.json")
    again = Tally.load(tmp_path / "tally.json", names)
    assert again == tally and again.add(["a"]).reports == 201
    assert Tally(names).merge(tally, tally).counts == [2 * count for count in tally.counts]
    assert tally.merge(tally).reports == 400
    prior = undertone.Prior.fit(WORDS, source="words")
    prior.save(tmp_path / "prior.json")
    assert undertone.Prior.load(tmp_path / "prior.json") == prior
    assert json.loads((tmp_path / "prior.json").read_text())["n"] == 200
    assert pickle.loads(pickle.dumps(prior)) == prior
    with pytest.raises(AttributeError, match="this prior has no 'edges'"):
        prior.edges


def test_other(names):
    policy = undertone.design({"a": 0.5, "b": 0.3, "other": 0.2}, protect="ldp:1").policy
    assert policy.encode(["a", "x", None, "b"], unknown="other") == [0, 2, 2, 1]
    assert len(policy.randomize(["x"] * 9, unknown="other")) == 9
    with pytest.raises(undertone.Error, match="no symbol \"other\""):
        names.randomize(["a"], unknown="other")
