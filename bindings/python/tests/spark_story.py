"""One story on one Spark master: perturb, write, count, estimate; run by test_spark.py in its own process.

Usage: spark_story.py MASTER FOLDER ROWS
"""

import json
import os
import sys
import time
import warnings

import numpy as np
import pyarrow.parquet
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import undertone
import undertone.spark
from undertone import Tally

master, folder, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
spark = (
    SparkSession.builder.master(master)
    .appName("undertone")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.executor.memory", "512m")
    .config("spark.executor.cores", "1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
print(f"Spark {spark.version} on {spark.sparkContext.master}", file=sys.stderr)

names = undertone.design({"yes": 0.2, "no": 0.5, "maybe": 0.3}, protect="lip:1", method="krr").policy
prior = undertone.Prior.fit(np.random.default_rng(1).gamma(4, 10, 1000), range=(0, 150), bins=16)
numbers = undertone.design(prior, protect="lip:2", method="laplace").policy
indices = undertone.design([0.125] * 8, protect="ldp:1", method="krr").policy
bits = undertone.design({"yes": 0.2, "no": 0.5, "maybe": 0.3}, protect="ldp:1", method="oue").policy

frame = spark.range(0, rows, numPartitions=4).select(
    "id",
    F.when(F.col("id") % 10 < 2, "yes").when(F.col("id") % 10 < 7, "no").otherwise("maybe").alias("answer"),
    (F.col("id") % 150).cast("double").alias("pay"),
    (F.col("id") % 8).alias("floor"),
)
told = {"workers": None, "policies": {}}
for column, policy in (("answer", names), ("pay", numbers), ("floor", indices), ("answer", bits)):
    place = os.path.join(folder, f"{column}-{policy.shape}.parquet")
    begun = time.monotonic()
    released = undertone.spark.randomize(frame, policy, column, place)
    perturbed = time.monotonic() - begun
    # Nothing else left, and using the result again draws nothing again.
    assert released.columns == [column]
    assert released.collect() == released.collect()
    counted = undertone.spark.tally(released, policy, column)
    # The same rows on one machine, without Spark.
    table = pyarrow.parquet.read_table(place)
    alone = Tally(policy).add(table, column)
    assert counted == alone, (counted, alone)
    estimated = undertone.estimate(policy, counted)
    assert estimated == undertone.estimate(policy, alone)
    told["policies"][policy.id] = {"reports": counted.reports, "seconds": perturbed}

# Four partitions that hold the same values draw differently.
same = spark.range(0, 4000, numPartitions=4).select((F.col("id") * 0).alias("floor"))
same = same.select(F.spark_partition_id().alias("part"), "floor")
place = os.path.join(folder, "same.parquet")
drawn = undertone.spark.randomize(same, indices, "floor", place, keep=["part"])
assert drawn.columns == ["part", "floor"]
parts = {}
for row in drawn.collect():
    parts.setdefault(row["part"], []).append(row["floor"])
assert len(parts) == 4 and len({tuple(values) for values in parts.values()}) == 4

# A frame of people under a plan: drawn and written once, one of two items for each row, and nothing else left.
documents = [indices.document, names.document]
plan = {
    "undertone": "plan/1",
    "claims": [{"about": "person", "notion": "ldp", "nats": "3"}],
    "questions": [{"name": name, "answers": one["inputs"]} for name, one in zip(("floor", "answer"), documents)],
    "law": {"kind": "unknown"},
    "items": [{"questions": [name], "policy": at, "weight": 1} for at, name in enumerate(("floor", "answer"))],
    "asked": 1,
    "policies": documents,
}
place = os.path.join(folder, "people.parquet")
people = undertone.spark.release(frame, plan, place)
assert people.columns == ["answer", "floor"] and people.count() == rows
assert people.where(F.col("answer").isNull() == F.col("floor").isNull()).count() == 0
# Half of the rows: five standard errors.
assert abs(people.where(F.col("floor").isNotNull()).count() - rows / 2) < 2.5 * rows**0.5
assert people.collect() == people.collect()
with warnings.catch_warnings(record=True) as told_of:
    warnings.simplefilter("always")
    kept = undertone.spark.release(frame, plan, os.path.join(folder, "kept.parquet"), keep=["id"])
assert kept.columns == ["id", "answer", "floor"]
assert any("id in the clear" in str(one.message) for one in told_of), told_of

# A bad value stops the job with the words of every other place.
bad = spark.createDataFrame([("yes",), ("perhaps",)], ["answer"])
elsewhere = os.path.join(folder, "bad.parquet")
for call, words in (
    (lambda: undertone.spark.randomize(bad, names, "answer", elsewhere), "is not one of the policy's symbols"),
    (lambda: undertone.spark.randomize(bad, names, "question", elsewhere), "the columns are answer"),
    (lambda: undertone.spark.randomize(bad, names, "answer"), "name a folder to write"),
    (lambda: undertone.spark.release(frame, plan), "name a folder to write"),
    (lambda: undertone.spark.release(bad, plan, elsewhere), "for the question 'floor'"),
    (lambda: undertone.spark.randomize(bad, names, "answer", elsewhere, keep=["answer"]), "cannot also be kept"),
    (lambda: undertone.spark.randomize(bad, names, "answer", elsewhere, keep=["name"]), "there is no column 'name'"),
    # What was released once is not released again over it.
    (lambda: undertone.spark.randomize(same, indices, "floor", place), "already exists"),
):
    try:
        call()
    except Exception as error:
        assert words in str(error).replace("ALREADY_EXISTS", "already exists"), error
    else:
        raise SystemExit(f"{words}: went through")

# Values that nobody has listed: one report for each row, drawn and written once, and the same found as without Spark.
hitters_plan = undertone.hitters.design("letters:a-z:5", protect="ldp:3").plan
place = os.path.join(folder, "reports.parquet")
reports = undertone.spark.hitters_report(frame, hitters_plan, "answer", place)
assert reports.columns == ["report"] and reports.count() == rows
# The draws are new each time: the chance that a value nobody has is listed is what `error` says, so it is made small.
found = undertone.spark.hitters_find(reports, hitters_plan, error=1e-9)
assert sorted(one["value"] for one in found.found) == ["maybe", "no", "yes"], found
assert found == undertone.hitters.find(hitters_plan, pyarrow.parquet.read_table(place)["report"], error=1e-9)

# What is noted about a kept column, or a part of it, stays behind.
noted = spark.createDataFrame([("yes", "north", ("x",))], "answer string, region string, parts struct<part: string>")
noted = noted.withMetadata("region", {"comment": "Zaphod"})
place = os.path.join(folder, "noted.parquet")
undertone.spark.randomize(noted, names, "answer", place, keep=["region", "parts"])
for name in os.listdir(place):
    with open(os.path.join(place, name), "rb") as file:
        assert b"Zaphod" not in file.read(), name


def where(batches):
    import pyarrow

    list(batches)
    # Long enough for another executor to take the next partition.
    time.sleep(1)
    yield pyarrow.record_batch({"pid": pyarrow.array([os.getppid()], pyarrow.int64())})


told["workers"] = len({row["pid"] for row in frame.mapInArrow(where, "pid bigint").collect()})
spark.stop()
print(json.dumps(told))
