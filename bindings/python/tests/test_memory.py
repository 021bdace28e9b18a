"""A long Arrow stream is perturbed in little memory."""

import os
import subprocess
import sys

ROWS = int(os.environ.get("UNDERTONE_STREAM_ROWS", 20_000_000))
LIMIT = 500  # MB, whatever the number of rows

PROGRAM = """
import resource, sys
import numpy as np, pyarrow as pa, undertone

rows, batch = int(sys.argv[1]), 1 << 20
policy = undertone.design([1 / 128] * 128, protect="ldp:2", method="krr").policy
values = pa.array(np.arange(batch) % 128)
schema = pa.schema({"id": pa.int64(), "x": pa.int64()})

def batches():
    for start in range(0, rows, batch):
        part = values.slice(0, min(batch, rows - start))
        yield pa.record_batch([pa.array(np.arange(start, start + len(part))), part], schema=schema)

released = policy.randomize(pa.RecordBatchReader.from_batches(schema, batches()), "x")
tally = undertone.Tally(policy).add(released, "x")
assert tally.reports == rows, tally
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_a_stream_fits_in_500_mb():
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(ROWS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout)
    print(f"{ROWS} rows: {peak} MB")
    assert peak < LIMIT
