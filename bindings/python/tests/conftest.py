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
    if given := os.environ.get("UNDERTONE_BINARY"):
        assert shutil.which(given), f"UNDERTONE_BINARY is {given}, where there is no program"
        return given
    built = ROOT / "target/release/undertone"
    if not shutil.which(built):
        pytest.skip(f"no binary at {built}: cargo build --release --features full")
    return str(built)
