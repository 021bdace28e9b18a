"""What all tests share."""

import os
import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def binary():
    """The Rust command line, as scripts/test builds it."""
    given = os.environ.get("UNDERTONE_BINARY", ROOT / "target/release/undertone")
    if not shutil.which(given):
        pytest.skip(f"no binary at {given}: cargo build --release")
    return str(given)
