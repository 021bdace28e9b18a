"""Frames of people released under a plan, and what columns kept in the clear tell."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import undertone
from undertone import Error, KeptWarning


def faithful(prior):
    """A policy that releases another symbol than the given one with probability e^-20: some ten thousand draws here, a false alarm once in 50,000 runs."""
    return undertone.design(prior, protect="ldp:20", method="krr").policy.document


def plan_of(items, policies, **more):
    return {
        "undertone": "plan/1",
        "claims": [{"about": "person", "notion": "ldp", "nats": "100"}],
        "questions": [{"name": name, "answers": alone["inputs"]} for name, alone in ALONE.items()],
        "law": {"kind": "unknown"},
        "items": items,
        "policies": policies,
        **more,
    }


ALONE = {
    "smokes": faithful({"no": 0.5, "yes": 0.5}),
    "town": faithful({"a": 0.3, "b": 0.3, "other": 0.4}),
    "age": faithful(undertone.Prior.fit(np.linspace(0, 30, 300), range=(0, 30), bins=3)),
}


@pytest.fixture(scope="module")
def single():
    return plan_of([{"questions": [name], "policy": at} for at, name in enumerate(ALONE)], list(ALONE.values()))


@pytest.fixture(scope="module")
def split():
    policies = [ALONE["smokes"], faithful([1 / 6] * 6), ALONE["age"]]
    items = [(["smokes"], 0), (["smokes", "town"], 1), (["age"], 2)]
    return plan_of([{"questions": q, "policy": p, "weight": 1} for q, p in items], policies, asked=1)


ROWS = 300
DATA = {
    "id": [f"p{at}" for at in range(ROWS)],
    "age": [at % 30 + 0.5 for at in range(ROWS)],
    "town": [["a", "b", "other"][at * 7 % 3] for at in range(ROWS)],
    "coin": [at * 31 % 101 % 2 for at in range(ROWS)],
    "smokes": [["no", "yes"][at * 13 % 17 % 2] for at in range(ROWS)],
}
AGES = [float(ALONE["age"]["inputs"]["values"][at % 30 // 10]) for at in range(ROWS)]
FRAMES = {
    "pandas": lambda: pd.DataFrame(DATA),
    "pandas categories": lambda: pd.DataFrame({**DATA, "town": pd.Categorical(DATA["town"])}),
    "pandas in Arrow": lambda: pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.DataFrame(DATA),
    "table": lambda: pa.table(DATA),
    "chunks": lambda: pa.concat_tables([pa.table(DATA).slice(0, 100), pa.table(DATA).slice(100)]),
    "batch": lambda: pa.RecordBatch.from_pydict(DATA),
}


def columns(frame):
    """Columns as lists, whatever the library; a missing value is None."""
    if isinstance(frame, pd.DataFrame):
        clean = lambda cell: None if pd.isna(cell) else cell
        return {name: [clean(cell) for cell in frame[name].tolist()] for name in frame.columns}
    return frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_pydict()


@pytest.mark.parametrize("kind", FRAMES)
def test_questions_leave_and_nothing_else(single, kind):
    frame = FRAMES[kind]()
    released = undertone.release(frame, single)
    assert type(released) is type(frame)
    found = columns(released)
    assert list(found) == ["age", "town", "smokes"]
    assert found["age"] == AGES and found["town"] == DATA["town"] and found["smokes"] == DATA["smokes"]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_row_answers_what_is_drawn_for_it(split, kind):
    found = columns(undertone.release(FRAMES[kind](), split))
    assert list(found) == ["age", "smokes", "smokes × town"]
    counts = [0, 0, 0]
    for at in range(ROWS):
        cells = [found[name][at] for name in ("smokes", "smokes × town", "age")]
        expected = [DATA["smokes"][at], f"{DATA['smokes'][at]} × {DATA['town'][at]}", AGES[at]]
        answered = [cell is not None for cell in cells]
        assert sum(answered) == 1
        counts[answered.index(True)] += 1
        assert cells[answered.index(True)] == expected[answered.index(True)]
    # Thirds of 300 rows: five standard errors.
    assert all(abs(count - 100) < 41 for count in counts), counts


def test_streams_are_read_lazily(split):
    table = pa.table(DATA)
    reader = undertone.release(table.to_reader(max_chunksize=50), split)
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.schema.names == ["age", "smokes", "smokes × town"]
    assert reader.read_all().num_rows == ROWS
    with pytest.warns(KeptWarning, match="coin in the clear tells is not measured on a stream"):
        undertone.release(table.to_reader(), split, keep=["coin"]).read_all()


def test_a_plan_comes_in_many_ways(single, tmp_path):
    text = json.dumps(single)
    path = tmp_path / "plan.json"
    path.write_text(text)

    class Plan:
        def to_json(self):
            return text

    frame = pd.DataFrame(DATA)
    for plan in (text, text.encode(), single, path, str(path), Plan()):
        assert len(undertone.release(frame, plan)) == ROWS
    for plan, words in [(3, "give a plan document"), (b"\xff", "no plan document"), ("{}", "undertone")]:
        with pytest.raises(Error, match=words):
            undertone.release(frame, plan)
    loud = {**single, "claims": [{"about": "person", "notion": "ldp", "nats": "1"}]}
    with pytest.raises(Error, match="the plan is refused"):
        undertone.release(frame, loud)


@pytest.mark.parametrize("kind", FRAMES)
def test_what_is_wrong_is_named(single, kind):
    frame = FRAMES[kind]()
    for more, words in [
        ({"columns": {"drinks": "town"}}, "the plan asks no 'drinks'"),
        ({"columns": {"smokes": "town"}}, "are both read from 'town'"),
        ({"columns": {"smokes": "q7"}}, "no column 'q7' for the question 'smokes'"),
        ({"keep": ["age"]}, "that column is randomised"),
        ({"keep": ["nobody"]}, "no column 'nobody'"),
        ({"unknown": "skip"}, "use 'error' or 'other'"),
        ({"columns": {"smokes": "coin"}}, 'row 0, column "coin" is none of the question\'s answers'),
    ]:
        with pytest.raises(ValueError, match=words):
            undertone.release(frame, single, **more)
    with pytest.raises(TypeError, match="give a list of names"):
        undertone.release(frame, single, keep="coin")


def test_missing_values(single):
    frame = pd.DataFrame(DATA)
    frame.loc[7, "town"] = None
    with pytest.raises(Error, match='row 7, column "town" is missing: .*unknown="other"'):
        undertone.release(frame, single)
    assert undertone.release(frame, single, unknown="other")["town"][7] == "other"
    frame.loc[5, "smokes"] = "perhaps"
    with pytest.raises(Error, match='row 5, column "smokes"'):
        undertone.release(frame, single, unknown="other")


@pytest.mark.parametrize("kind", FRAMES)
def test_kept_columns_are_measured(single, kind):
    frame = FRAMES[kind]()
    with pytest.warns(KeptWarning, match="id in the clear singles out 100.0 %") as told:
        released = undertone.release(frame, single, keep=["id"])
    assert len(told) == 3
    assert columns(released)["id"] == DATA["id"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        undertone.release(frame, single)
    found = {kept.question: kept for kept in undertone.measure_kept(frame, single, ["id"])}
    assert set(found) == {"smokes", "town", "age"}
    assert all(kept.unique == 1 and kept.log_loss_reduction == 0 and kept.rows == ROWS for kept in found.values())
    coin = undertone.measure_kept(frame, single, ["coin"])
    assert all(kept.unique == 0 and kept.log_loss_reduction < 0.1 for kept in coin)


def test_a_column_under_another_name_is_refused(single):
    for frame in (pd.DataFrame(DATA).assign(copy=DATA["town"]), pa.table({**DATA, "copy": DATA["town"]})):
        with pytest.raises(Error, match='"copy": that column is equal to "town"'):
            undertone.release(frame, single, keep=["copy"])


def test_one_column_follows_the_same_rule():
    policy = undertone.design({"no": 0.5, "yes": 0.5}, protect="ldp:1", method="krr").policy
    frame = pd.DataFrame({**DATA, "code": [1 if one == "yes" else 7 for one in DATA["smokes"]]})
    with pytest.warns(KeptWarning, match='code in the clear tells "smokes" apart'):
        policy.randomize(frame, "smokes", keep=["code"])
    (kept,) = undertone.measure_kept(frame, policy, ["code"], column="smokes")
    assert kept.accuracy == 1 and kept.majority < 0.6 and kept.accuracy_upper == 1
    with pytest.warns(KeptWarning, match="not measured on a stream"):
        policy.randomize(pa.Table.from_pandas(frame).to_reader(), "smokes", keep=["code"])
    with pytest.raises(Error, match="name the column"):
        undertone.measure_kept(frame, policy, ["code"])


def test_an_index_stays_behind_unless_it_is_kept(single):
    frame = pd.DataFrame(DATA).set_index(["id", "coin"])
    frame.attrs["who"] = "secret"
    released = undertone.release(frame, single)
    assert released.index.equals(pd.RangeIndex(ROWS)) and not released.attrs
    with pytest.warns(KeptWarning):
        released = undertone.release(frame, single, keep=["id"])
    assert released.index.tolist() == DATA["id"] and list(released.columns) == ["age", "town", "smokes"]


def test_numbers_dates_and_lists_may_be_kept(single):
    days = pd.date_range("2020-01-01", periods=ROWS)
    frame = pd.DataFrame({**DATA, "day": days, "pair": [[at, at] for at in range(ROWS)], "amount": np.arange(ROWS) / 3})
    for name in ("day", "pair", "amount"):
        kept = undertone.measure_kept(frame, single, [name])
        assert all(one.unique == 1 for one in kept), name
    for frame in (pl.DataFrame(frame), pa.Table.from_pandas(frame)):
        for name in ("day", "pair", "amount"):
            assert all(one.unique == 1 for one in undertone.measure_kept(frame, single, [name])), name
