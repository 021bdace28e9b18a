"""Perturbing and counting on Spark.

Columns go through Arrow on the workers (``mapInArrow``); the policy is broadcast and verified again by every
worker that receives it; every partition draws from its own machine's system generator, so there is no seed
to give. Only tallies come back: a few numbers per partition, whatever the number of rows.

    released = undertone.spark.randomize(frame, policy, "answer", "released.parquet")
    tally = undertone.spark.tally(released, policy, "answer")
    undertone.estimate(policy, tally)

A frame of people is released under a plan with ``undertone.spark.release(frame, plan, "released.parquet")``. Values out of a set
too large to list are reported with ``hitters_report`` and those that many people have found with ``hitters_find``.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from . import _native
from ._call import Answer
from ._columns import known
from ._errors import Error
from ._release import Chosen, engine_of, kept_beside, measure_kept, plan_text, released_rows, warn_of
from .hitters import HittersPlan, found_in
from .plan_tally import PlanTally, plan_document
from .policy import Policy
from .tally import Tally


def _type(policy: Policy) -> Any:
    from pyspark.sql import types

    if policy.shape == "bits":
        return types.BinaryType()
    return {"indices": types.LongType(), "names": types.StringType()}.get(policy.output_kind, types.DoubleType())


def _checked(frame: Any, *columns: str) -> Any:
    known(columns, frame.columns)
    return frame.schema


def _bare(kind: Any) -> Any:
    """A type without what is noted about its parts."""
    from pyspark.sql import types

    if isinstance(kind, types.StructType):
        return types.StructType([types.StructField(one.name, _bare(one.dataType), one.nullable) for one in kind.fields])
    if isinstance(kind, types.ArrayType):
        return types.ArrayType(_bare(kind.elementType), kind.containsNull)
    if isinstance(kind, types.MapType):
        return types.MapType(_bare(kind.keyType), _bare(kind.valueType), kind.valueContainsNull)
    return kind


def randomize(
    frame: Any, policy: Policy, column: str, path: Any = None, *, keep: Sequence[str] = (), unknown: str = "error"
) -> Any:
    """Randomises one column of a frame, writes it to the folder `path` as Parquet, and returns what it reads back.

    Spark computes a frame again whenever it is used again, and would then draw again: two draws for the same
    person reveal more than one. So the answers are drawn and written once, before this returns, and every use of the
    result reads what was written. A folder that exists is not overwritten.

    Other columns stay behind, except those that `keep` names, which leave in the clear; so does what the frame
    notes about its columns. What kept columns tell is measured on a sample of rows and warned of (`KeptWarning`).
    """
    from pyspark.sql import types

    _named(path)
    if isinstance(keep, str):
        raise TypeError(f"keep is {keep!r}: give a list of names, keep=[{keep!r}]")
    if column in keep:
        raise ValueError(f"keep names {column!r}: that column is randomised, and cannot also be kept as it is")
    schema = _checked(frame, column, *keep)
    kept = [field for field in schema.fields if field.name == column or field.name in keep]
    fields = [
        types.StructField(column, _type(policy), False)
        if field.name == column
        else types.StructField(field.name, _bare(field.dataType), field.nullable)
        for field in kept
    ]
    chosen = _select(frame, [field.name for field in kept])
    if keep:
        document = policy.to_json()
        _warn_of_kept(chosen, lambda table: kept_beside(_policy(document), table, column, list(keep)))
    shared = frame.sparkSession.sparkContext.broadcast(policy.to_json())

    def perturb(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        local = _policy(shared.value)
        for batch in batches:
            at = batch.schema.get_field_index(column)
            drawn = pyarrow.array(local.randomize(batch.column(at), unknown=unknown))
            if local.shape == "bits":
                drawn = drawn.cast(pyarrow.binary())
            elif local.output_kind == "indices":
                drawn = drawn.cast(pyarrow.int64())
            elif local.output_kind == "names":
                drawn = drawn.cast(pyarrow.string())
            yield batch.set_column(at, pyarrow.field(column, drawn.type, nullable=False), drawn)

    # A task that is tried again draws again, but only one attempt's file is committed.
    chosen.mapInArrow(perturb, types.StructType(fields)).write.mode("errorifexists").parquet(os.fspath(path))
    return frame.sparkSession.read.parquet(os.fspath(path))


def release(
    frame: Any,
    plan: Any,
    path: Any = None,
    *,
    columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    unknown: str = "error",
) -> Any:
    """Releases a frame of people under a plan, writes it to the folder `path` as Parquet, and returns what it reads back.

    As `undertone.release`, whose arguments these are; every partition draws on its own machine. The answers are drawn and
    written once, before this returns, and every use of the result reads what was written. A folder that exists is not
    overwritten. What kept columns tell is measured on a sample of rows, in which rows stand alone more often than in all.
    """
    from pyspark.sql import types

    _named(path)
    document = plan_text(plan)
    engine = engine_of(document, unknown)
    schema = frame.schema
    chosen = Chosen(engine, frame.columns, columns, keep)
    if chosen.keep:
        rows = _select(frame, [*chosen.asked, *chosen.keep])
        _warn_of_kept(rows, lambda table: measure_kept(table, document, chosen.keep, columns=columns))
    kinds = {name: kind for name, _, kind in engine.items}
    drawn = {"texts": types.StringType(), "indices": types.LongType(), "bits": types.BinaryType()}
    fields = []
    for name in chosen.outputs:
        if name in kinds:
            fields.append(types.StructField(name, drawn.get(kinds[name], types.DoubleType()), engine.split))
        else:
            fields.append(types.StructField(name, _bare(schema[name].dataType), schema[name].nullable))
    read = [name for name in frame.columns if name in chosen.asked or name in chosen.keep]
    shared = frame.sparkSession.sparkContext.broadcast(document)

    def draw(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        kept = {"texts": pyarrow.string(), "indices": pyarrow.int64(), "bits": pyarrow.binary()}
        for batch in batches:
            released = released_rows(batch, shared.value, columns, list(keep), unknown)
            arrays = [
                released.column(at).cast(kept[kinds[name]]) if kinds.get(name) in kept else released.column(at)
                for at, name in enumerate(released.schema.names)
            ]
            wanted = [
                pyarrow.field(name, array.type, nullable=field.nullable)
                for name, array, field in zip(released.schema.names, arrays, fields)
            ]
            yield pyarrow.RecordBatch.from_arrays(arrays, schema=pyarrow.schema(wanted))

    # A task that is tried again draws again, but only one attempt's file is committed.
    released = _select(frame, read).mapInArrow(draw, types.StructType(fields))
    released.write.mode("errorifexists").parquet(os.fspath(path))
    return frame.sparkSession.read.parquet(os.fspath(path))


def hitters_report(frame: Any, plan: Any, column: str, path: Any = None, *, unknown: str = "error") -> Any:
    """Reports the values of a column under a plan of `undertone.hitters`, one report for each row and person, writes them to the folder `path` as
    Parquet with the one column ``report``, and returns what it reads back.

    The reports are drawn and written once, before this returns, and every use of the result reads what was written. A folder
    that exists is not overwritten.
    """
    from pyspark.sql import types

    _named(path)
    _checked(frame, column)
    plan = plan if isinstance(plan, HittersPlan) else HittersPlan(plan)
    shared = frame.sparkSession.sparkContext.broadcast(plan.to_json())

    def draw(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        local = HittersPlan(shared.value)
        kind = pyarrow.schema([pyarrow.field("report", pyarrow.string(), nullable=False)])
        for batch in batches:
            reports = local.report(batch.column(0), unknown=unknown)
            yield pyarrow.record_batch([pyarrow.array(reports, pyarrow.string())], schema=kind)

    schema = types.StructType([types.StructField("report", types.StringType(), False)])
    # A task that is tried again draws again, but only one attempt's file is committed.
    _select(frame, [column]).mapInArrow(draw, schema).write.mode("errorifexists").parquet(os.fspath(path))
    return frame.sparkSession.read.parquet(os.fspath(path))


def hitters_find(
    frame: Any,
    plan: Any,
    column: str = "report",
    *,
    known: Any = None,
    threshold: float = 0.0,
    error: float = 0.05,
    power: float = 0.9,
) -> Answer:
    """The values that many people have, from a frame of reports: as `undertone.hitters.find`, whose arguments these are.

    Reports come to the driver, some twenty bytes each, a partition at a time: every candidate is compared with each of them.
    """
    _checked(frame, column)
    collected = _native.HittersReports(plan if isinstance(plan, HittersPlan) else HittersPlan(plan))
    block: list[str | None] = []
    for row in _select(frame, [column]).toLocalIterator():
        block.append(row[0])
        if len(block) == 1 << 16:
            collected.add(block)
            block = []
    collected.add(block)
    return found_in(collected, known=known, threshold=threshold, error=error, power=power)


def _named(path: Any) -> None:
    if path is None:
        raise Error(
            "path: name a folder to write the released rows to; Spark computes a frame again whenever it is used "
            "again, and would draw a second answer for the same person"
        )


def _select(frame: Any, names: Sequence[str]) -> Any:
    from pyspark.sql import functions

    return frame.select(*(functions.col("`" + name.replace("`", "``") + "`") for name in names))


def _warn_of_kept(frame: Any, measure: Callable[[Any], list[Answer]]) -> None:
    """Measures what kept columns tell on some ten thousand rows, in one task, and warns here; no row comes to the driver."""
    import json

    share = min(1.0, 20_000 / max(frame.count(), 1))
    sample = frame if share == 1.0 else frame.sample(fraction=share, seed=1)

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        found = list(batches)
        if not found:
            return
        try:
            told = {"kept": measure(pyarrow.Table.from_batches(found))}
        except Error as error:
            told = {"error": str(error)}
        yield pyarrow.record_batch([pyarrow.array([json.dumps(told)])], names=["told"])

    for row in sample.repartition(1).mapInArrow(work, "told string").collect():
        told = json.loads(row["told"])
        if "error" in told:
            raise Error(told["error"])
        warn_of(map(Answer, told["kept"]), 4)


def tally(frame: Any, policy: Policy, column: str) -> Tally:
    """Counts a column of released values; the tallies of all partitions are merged by Spark."""
    _checked(frame, column)
    shared = frame.sparkSession.sparkContext.broadcast(policy.to_json())

    def count(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        local = _policy(shared.value)
        counted = Tally(local)
        for batch in batches:
            counted.add(batch.column(0))
        # The number of reports travels behind the counts, so that one pass over the data is enough.
        counts = pyarrow.array([[*counted.counts, counted.reports]], pyarrow.list_(pyarrow.int64()))
        yield pyarrow.record_batch([counts], names=["counts"])

    parts = frame.select(column).mapInArrow(count, "counts array<bigint>")
    return _merged(parts, policy)


def plan_tally(frame: Any, plan: Any, pairs: Sequence[Any] = ()) -> PlanTally:
    """Counts a frame that was released under a plan; one tally for every partition comes back and they are merged here."""
    counted = PlanTally(plan, pairs)
    _checked(frame, *counted.columns)
    # Without responses: its counts are nought, and it says which combinations are counted.
    shared = frame.sparkSession.sparkContext.broadcast((plan_document(plan), counted.to_json()))

    def count(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        document, empty = shared.value
        local = PlanTally.from_json(empty, document)
        for batch in batches:
            local.add(batch)
        yield pyarrow.record_batch([pyarrow.array([local.to_json()])], names=["tally"])

    from pyspark.sql import functions

    chosen = [functions.col("`" + name.replace("`", "``") + "`") for name in counted.columns]
    for row in frame.select(*chosen).mapInArrow(count, "tally string").toLocalIterator():
        counted.merge(PlanTally.from_json(row["tally"], plan))
    return counted


def _merged(parts: Any, policy: Policy) -> Tally:
    """Adds up the partitions' tallies on the workers, output by output."""
    import json

    from pyspark.sql import functions as F

    exploded = parts.select(F.posexplode("counts").alias("output", "count"))
    sums = exploded.groupBy("output").agg(F.sum("count").alias("count")).collect()
    document = json.loads(Tally(policy).to_json())
    totals = [*document["counts"], 0]
    for row in sums:
        totals[row["output"]] = int(row["count"])
    document["counts"], document["reports"] = totals[:-1], totals[-1]
    return Tally.from_json(json.dumps(document), policy)


_POLICIES: dict[str, Policy] = {}


def _policy(document: str) -> Policy:
    """The policy of a document, verified once for each worker process."""
    if document not in _POLICIES:
        _POLICIES.clear()
        _POLICIES[document] = Policy(document)
    return _POLICIES[document]
