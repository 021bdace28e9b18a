"""undertone.spark on a real Spark: in one process, and on a standalone master with two worker processes."""

import contextlib
import importlib.util
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

import pytest

missing = "no Java: install a JRE, version 17" if not shutil.which("java") else None
if importlib.util.find_spec("pyspark") is None:
    missing = "no pyspark: pip install 'undertone[spark]'"
pytestmark = pytest.mark.skipif(missing is not None, reason=f"Spark: {missing}")

ROWS = int(os.environ.get("UNDERTONE_SPARK_ROWS", 40_000))
STORY = pathlib.Path(__file__).with_name("spark_story.py")


def environment():
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return {**os.environ, **python, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "127.0.0.1"}


def story(master, folder):
    words = [sys.executable, str(STORY), master, str(folder), str(ROWS)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=600)
    assert done.returncode == 0, done.stderr[-4000:] + done.stdout[-1000:]
    told = json.loads(done.stdout.strip().splitlines()[-1])
    assert len(told["policies"]) == 4
    assert all(one["reports"] == ROWS for one in told["policies"].values())
    return told


def test_local(tmp_path):
    story("local[2]", tmp_path)


@contextlib.contextmanager
def cluster(folder):
    """A master and two workers, as processes of their own; the wheel has no start scripts for them."""
    import pyspark

    spark = pathlib.Path(pyspark.__file__).parent / "bin/spark-class"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"spark://127.0.0.1:{port}"
    log = open(folder / "cluster.log", "wb")
    started = []

    def start(name, *words):
        words = [str(spark), f"org.apache.spark.deploy.{name}", *words]
        started.append(subprocess.Popen(words, stdout=log, stderr=log, env=environment()))

    try:
        start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        for worker in range(2):
            start(
                "worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "600m", "--webui-port", "0",
                "--work-dir", str(folder / f"worker-{worker}"), url,
            )  # fmt: skip
        deadline = time.monotonic() + 120
        while (folder / "cluster.log").read_text(errors="replace").count("Registering worker") < 2:
            assert all(process.poll() is None for process in started), (folder / "cluster.log").read_text()
            assert time.monotonic() < deadline, "the workers did not register"
            time.sleep(0.5)
        yield url
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        log.close()


def test_two_workers(tmp_path):
    with cluster(tmp_path) as url:
        told = story(url, tmp_path)
    assert told["workers"] >= 2, "both workers must have done some of it"
