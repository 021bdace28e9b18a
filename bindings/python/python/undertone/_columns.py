"""Columns of any library: taken as they are, and handed back in kind."""

from __future__ import annotations

from typing import Any, Callable, Sequence


def _module(value: Any) -> str:
    return type(value).__module__.split(".")[0]


def is_table(value: Any) -> bool:
    """Whether a value has columns of its own."""
    name = type(value).__name__
    return name in ("DataFrame", "LazyFrame", "Table", "RecordBatch", "RecordBatchReader", "ArrowStream")


def plain(values: Any) -> Any:
    """A column as the native module takes it.

    A list, a contiguous native array, an Arrow array, or a pair: a list of categories and an array of positions
    in it, -1 where a value is missing.
    """
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
    if is_categorical(series):
        # Every category is looked up once; the rows are positions in that list.
        values = series.array if hasattr(series, "array") else series
        return values.categories.tolist(), _array_plain(values.codes)
    kind = getattr(dtype, "kind", "O")
    if kind in "iufb" and type(dtype).__module__.startswith("numpy"):
        return _array_plain(series.to_numpy())
    return series.astype(object).tolist()


def is_categorical(series: Any) -> bool:
    """Whether pandas keeps a column as positions in a list of categories."""
    return str(getattr(series, "dtype", None)) == "category"


def _in_arrow(dtype: Any) -> bool:
    """Whether pandas keeps such a column in Arrow's memory."""
    return type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", None) == "pyarrow"


def in_kind(values: Any, drawn: Any, policy: Any) -> Any:
    """What was drawn for `values`, in the same kind of column."""
    module = _module(values)
    if type(drawn).__name__ == "ArrowArray":
        return _arrow_in_kind(values, drawn, module)
    if module == "pandas" and is_categorical(values) and policy.shape != "bits":
        return _pandas_in_kind(values, _categorical(drawn, policy))
    labelled = _labelled(drawn, policy)
    if module == "pandas":
        return _pandas_in_kind(values, labelled)
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
        return _pandas_in_kind(values, pandas.array(array, dtype=dtype))
    return drawn


def _categorical(drawn: Any, policy: Any) -> Any:
    """Outputs as a categorical column, without writing any of them out."""
    import pandas

    labels = _labels(policy)
    categories = pandas.Index(labels).unique()
    if len(categories) < len(labels):
        drawn = categories.get_indexer(labels)[drawn]
    return pandas.Categorical.from_codes(drawn, categories=categories)


def _pandas_in_kind(series: Any, labelled: Any) -> Any:
    import pandas

    if hasattr(labelled, "ndim") and labelled.ndim == 2:
        labelled = [row.tobytes() for row in labelled]
    kind = type(series).__name__
    if kind == "Series":
        return pandas.Series(labelled, index=series.index, name=series.name)
    return pandas.Index(labelled) if kind.endswith("Index") else pandas.array(labelled)


def _labels(policy: Any) -> list:
    if policy.output_kind == "indices":
        return list(range(len(policy.outputs)))
    if policy.output_kind == "names":
        return policy.outputs
    return [float(label) for label in policy.outputs]


def released(
    table: Any, column: str, keep: Sequence[str], perturb: Callable[[Any], Any], stream: Callable[[Any], Any]
) -> Any:
    """A table of one column put through `perturb` and of those kept; streams go through `stream`, batch by batch.

    Nothing else of the table is handed on: neither other columns nor an index nor what it says about itself.
    """
    if column in keep:
        raise ValueError(f"keep names {column!r}: that column is randomised, and cannot also be kept as it is")
    module, name = _module(table), type(table).__name__
    if module == "pandas":
        return _pandas_released(table, column, keep, perturb)
    if module == "polars":
        if name == "LazyFrame":
            raise TypeError("a LazyFrame has no data yet: collect() it, or stream its batches")
        known([column, *keep], table.columns)
        kept = table.select([one for one in table.columns if one == column or one in keep])
        return kept.with_columns(perturb(table[column]).alias(column))
    if module == "pyarrow" and name in ("Table", "RecordBatch"):
        return _pyarrow_released(table, column, keep, perturb)
    if hasattr(table, "__arrow_c_stream__"):
        perturbed = stream(table)
        if module == "pyarrow":
            import pyarrow

            return pyarrow.RecordBatchReader.from_stream(perturbed)
        return perturbed
    raise TypeError(f"a table of type {name}: use pandas, polars, pyarrow, or an Arrow stream")


def _pandas_released(table: Any, column: str, keep: Sequence[str], perturb: Callable[[Any], Any]) -> Any:
    import pandas

    levels = [name for name in table.index.names if name is not None and name in keep]
    known([column, *(name for name in keep if name not in levels)], list(table.columns))
    chosen = [name for name in table.columns if name == column or (name in keep and name not in levels)]
    # Made anew: a copy would carry attributes, the index and the columns' own name along.
    parts = {name: perturb(table[name]) if name == column else table[name] for name in chosen}
    made = pandas.DataFrame({name: part.array for name, part in parts.items()})
    if levels:
        made.index = table.index.droplevel([name for name in table.index.names if name not in levels])
    return made


def _pyarrow_released(table: Any, column: str, keep: Sequence[str], perturb: Callable[[Any], Any]) -> Any:
    import pyarrow

    known([column, *keep], table.schema.names)
    fields, columns = [], []
    for at, field in enumerate(table.schema):
        if field.name == column:
            columns.append(perturb(table.column(at)))
            fields.append(pyarrow.field(column, columns[-1].type, nullable=False))
        elif field.name in keep:
            columns.append(table.column(at))
            fields.append(_bare(field))
    return type(table).from_arrays(columns, schema=pyarrow.schema(fields))


def _bare(field: Any) -> Any:
    """A field with its name and type alone, and so its parts."""
    import pyarrow

    kind = field.type
    if pyarrow.types.is_struct(kind):
        kind = pyarrow.struct([_bare(kind.field(at)) for at in range(kind.num_fields)])
    elif pyarrow.types.is_list(kind):
        kind = pyarrow.list_(_bare(kind.value_field))
    elif pyarrow.types.is_large_list(kind):
        kind = pyarrow.large_list(_bare(kind.value_field))
    elif pyarrow.types.is_map(kind):
        kind = pyarrow.map_(_bare(kind.key_field), _bare(kind.item_field), kind.keys_sorted)
    return pyarrow.field(field.name, kind, field.nullable)


def known(wanted: Sequence[str], columns: Sequence[str]) -> None:
    """Raises unless each of these columns is there, once."""
    for name in wanted:
        if name not in columns:
            raise ValueError(f"there is no column {name!r}: the columns are {', '.join(map(str, columns))}")
        if list(columns).count(name) > 1:
            raise ValueError(f"two columns are called {name!r}: rename one")


def names_of(table: Any) -> list[str]:
    """The names of a table's columns."""
    return table.schema.names if _module(table) == "pyarrow" else list(table.columns)
