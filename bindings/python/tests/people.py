"""What tests of files of people share."""

import pytest

import undertone


@pytest.fixture(scope="module")
def policy():
    """Two answers at an LDP of nearly ln 3: three of four reports are true."""
    return undertone.design({"no": 0.5, "yes": 0.5}, any_prior=True, protect="ldp:1.0986", method="krr").policy


def frames(columns):
    """The columns as a dict, and as a frame of every library that is here."""
    yield columns
    for module in ("pandas", "polars", "pyarrow"):
        try:
            library = __import__(module)
        except ImportError:
            continue
        yield library.table(columns) if module == "pyarrow" else library.DataFrame(columns)
