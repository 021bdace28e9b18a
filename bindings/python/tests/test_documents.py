"""What the documents show is executed: README examples and notebooks."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
MARK = re.compile(r"<!-- executed in tests: (\w+) -->\n+```python\n(.*?)```", re.DOTALL)


def examples():
    found = []
    for page in ("bindings/python/README.md", "README.md", "docs/scale.md"):
        path = ROOT / page
        if path.exists():
            for at, (kind, code) in enumerate(MARK.findall(path.read_text(encoding="utf-8"))):
                found.append(pytest.param(kind, code, id=f"{page}-{at}-{kind}"))
    return found


def run(code, folder):
    # As in an activated environment: Spark's workers run the same Python.
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=600, env={**os.environ, **python}
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize(("kind", "code"), examples())
def test_examples(kind, code, tmp_path):
    if kind == "spark":
        pytest.importorskip("pyspark")
        if not shutil.which("java"):
            pytest.skip("Spark: no Java")
    assert run(code, tmp_path).strip(), "an example prints something"


def test_the_examples_were_found():
    kinds = [one.values[0] for one in examples()]
    assert "python" in kinds and "spark" in kinds


NOTEBOOKS = sorted((ROOT / "docs").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_from_top_to_bottom(path, tmp_path):
    """Cells in order in one fresh interpreter, as Jupyter would run them."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    quiet = "import matplotlib; matplotlib.use('Agg')\n"
    run(quiet + "\n\n".join(cells), tmp_path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_small_and_valid(path):
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.read(path, as_version=4))
    assert path.stat().st_size < 300_000
    outputs = [out for cell in json.loads(path.read_text())["cells"] for out in cell.get("outputs", [])]
    assert outputs and all(out["output_type"] != "error" for out in outputs)


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} >= {"tutorial", "research"}
