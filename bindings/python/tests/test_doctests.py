"""Every example of the docstrings, run."""

import doctest
import importlib
import pkgutil

import pytest

import undertone

MODULES = ["undertone"] + [
    f"undertone.{module.name}" for module in pkgutil.iter_modules(undertone.__path__) if module.name not in ("_native", "__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name.endswith("sklearn"):
        pytest.importorskip("sklearn")
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples fail"


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 15


def test_public_names_are_documented():
    for name in undertone.__all__:
        assert getattr(undertone, name).__doc__, name
