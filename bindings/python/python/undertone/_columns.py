"""Columns of any library: taken as they are, and handed back in kind."""

from __future__ import annotations

from typing import Any, Callable


def _module(value: Any) -> str:
    return type(value).__module__.split(".")[0]


def is_table(value: Any) -> bool:
    """Whether a value has columns of its own."""
    name = type(value).__name__
    return name in ("DataFrame", "LazyFrame", "Table", "RecordBatch", "RecordBatchReader", "ArrowStream")


def plain(values: Any) -> Any:
    """A column as the native module takes it: a list, a contiguous native array, or an Arrow array."""
    if isinstance(values, (list, str, bytes)):
        if not isinstance(values, list):
            raise TypeError("a single text is not a column: put it in a list")
        return values
    if _module(values) == "pandas":
        return _pandas_plain(values)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return values
    if hasattr(values, "__array_interface__"):
        return _array_plain(values)
    if isinstance(values, (tuple, range)) or hasattr(values, "__iter__"):
        return list(values)
    raise TypeError(f"a column of type {type(values).__name__}: use a list, a NumPy array, a Series or an Arrow array")


def _array_plain(values: Any) -> Any:
    import numpy as np

    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"an array of shape {array.shape}: a column has one dimension")
    if array.dtype.kind in "OUS" or array.dtype.kind == "T":
        if array.dtype.kind == "S":
            raise TypeError("an array of bytes: decode it to text first, numpy.char.decode(array)")
        return array.tolist()
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(np.float64)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"an array of {array.dtype}: use integers, floats, truth values or texts")
    return np.require(array, array.dtype.newbyteorder("="), ["C_CONTIGUOUS", "ALIGNED"])


def _pandas_plain(series: Any) -> Any:
    if not hasattr(series, "dtype") or getattr(series, "ndim", 1) != 1:
        raise TypeError("a frame, where one column is needed: name it with column=")
    dtype = series.dtype
    if _in_arrow(dtype):
        import pyarrow

        return pyarrow.array(series)
    if str(dtype) == "category":
        return series.astype(object).tolist()
    kind = getattr(dtype, "kind", "O")
    if kind in "iufb" and type(dtype).__module__.startswith("numpy"):
        return _array_plain(series.to_numpy())
    return series.astype(object).tolist()


def _in_arrow(dtype: Any) -> bool:
    """Whether pandas keeps such a column in Arrow's memory."""
    return type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", None) == "pyarrow"


def in_kind(values: Any, drawn: Any, policy: Any) -> Any:
    """What was drawn for `values`, in the same kind of column."""
    module = _module(values)
    if type(drawn).__name__ == "ArrowArray":
        return _arrow_in_kind(values, drawn, module)
    labelled = _labelled(drawn, policy)
    if module == "pandas":
        return _pandas_in_kind(values, labelled, policy)
    if hasattr(values, "__array_interface__") and isinstance(labelled, list):
        import numpy as np

        return np.array(labelled, dtype=object if labelled and isinstance(labelled[0], bytes) else None)
    return labelled


def _labelled(drawn: Any, policy: Any) -> Any:
    """Indices as the values they stand for."""
    if policy.shape == "bits" or policy.output_kind == "indices":
        return drawn
    labels: Any = policy.outputs
    if policy.output_kind in ("points", "bins"):
        labels = [float(label) for label in labels]
    if isinstance(drawn, list):
        return [labels[index] for index in drawn]
    import numpy as np

    return np.asarray(labels)[drawn]


def _arrow_in_kind(values: Any, drawn: Any, module: str) -> Any:
    if module == "pyarrow":
        import pyarrow

        array = pyarrow.array(drawn)
        return pyarrow.chunked_array([array]) if type(values).__name__ == "ChunkedArray" else array
    if module == "polars":
        import polars

        return polars.Series(values.name, drawn)
    if module == "pandas":
        import pandas
        import pyarrow

        array = pyarrow.array(drawn)
        same = pyarrow.types.is_string(array.type) and type(values.dtype).__name__ == "StringDtype"
        dtype = values.dtype if same else pandas.ArrowDtype(array.type)
        return _pandas_in_kind(values, pandas.array(array, dtype=dtype), None)
    return drawn


def _pandas_in_kind(series: Any, labelled: Any, policy: Any) -> Any:
    import pandas

    if hasattr(labelled, "ndim") and labelled.ndim == 2:
        labelled = [row.tobytes() for row in labelled]
    kind = type(series).__name__
    if kind == "Series":
        if str(series.dtype) == "category":
            labelled = pandas.Categorical(labelled, categories=pandas.unique(pandas.Series(_labels(policy))))
        return pandas.Series(labelled, index=series.index, name=series.name)
    return pandas.Index(labelled) if kind.endswith("Index") else pandas.array(labelled)


def _labels(policy: Any) -> list:
    if policy.output_kind == "indices":
        return list(range(len(policy.outputs)))
    if policy.output_kind == "names":
        return policy.outputs
    return [float(label) for label in policy.outputs]


def replaced(table: Any, column: str, perturb: Callable[[Any], Any], stream: Callable[[Any], Any]) -> Any:
    """A table with one column put through `perturb`; streams go through `stream`, batch by batch."""
    module, name = _module(table), type(table).__name__
    if module == "pandas":
        known(column, table)
        return table.assign(**{column: perturb(table[column])})
    if module == "polars":
        if name == "LazyFrame":
            raise TypeError("a LazyFrame has no data yet: collect() it, or stream its batches")
        known(column, table)
        return table.with_columns(perturb(table[column]).alias(column))
    if module == "pyarrow" and name in ("Table", "RecordBatch"):
        known(column, table)
        at = table.schema.get_field_index(column)
        return table.set_column(at, column, perturb(table.column(at)))
    if hasattr(table, "__arrow_c_stream__"):
        perturbed = stream(table)
        if module == "pyarrow":
            import pyarrow

            return pyarrow.RecordBatchReader.from_stream(perturbed)
        return perturbed
    raise TypeError(f"a table of type {name}: use pandas, polars, pyarrow, or an Arrow stream")


def known(column: str, table: Any) -> None:
    """Raises unless the table has that column."""
    columns = table.schema.names if _module(table) == "pyarrow" else list(table.columns)
    if column not in columns:
        raise ValueError(f"there is no column {column!r}: the columns are {', '.join(map(str, columns))}")
