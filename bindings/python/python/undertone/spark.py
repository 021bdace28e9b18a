"""Perturbing and counting on Spark.

Columns go through Arrow on the workers (``mapInArrow``); the policy is broadcast and verified again by every
worker that receives it; every partition draws from its own machine's system generator, so there is no seed
to give. Only tallies come back: a few numbers per partition, whatever the number of rows.

    released = undertone.spark.randomize(frame, policy, "answer")
    tally = undertone.spark.tally(released, policy, "answer")
    undertone.estimate(policy, tally)
"""

from __future__ import annotations

from typing import Any, Iterable, Iterator

from .policy import Policy
from .tally import Tally


def _type(policy: Policy) -> Any:
    from pyspark.sql import types

    if policy.shape == "bits":
        return types.BinaryType()
    return {"indices": types.LongType(), "names": types.StringType()}.get(policy.output_kind, types.DoubleType())


def _checked(frame: Any, column: str) -> Any:
    if column not in frame.columns:
        raise ValueError(f"there is no column {column!r}: the columns are {', '.join(frame.columns)}")
    return frame.schema


def randomize(frame: Any, policy: Policy, column: str, *, unknown: str = "error") -> Any:
    """The frame with one column randomised, one independent answer per row, when Spark comes to it.

    Spark computes a frame again whenever it is used again, and would then draw again: two draws for the same
    person reveal more than one. Write the result, or ``persist`` it, before using it twice.
    """
    from pyspark.sql import types

    schema = _checked(frame, column)
    fields = [
        types.StructField(column, _type(policy), False) if field.name == column else field for field in schema.fields
    ]
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

    # Nothing else may draw twice for one row: a cached plan, or a task that is tried again, starts over.
    return frame.mapInArrow(perturb, types.StructType(fields))


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
