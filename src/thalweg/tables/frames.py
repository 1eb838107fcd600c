"""Data frames of other libraries as chunks, by narwhals, which is imported only here.

pandas (nullable types too), polars eager and lazy, pyarrow tables, DuckDB relations and
whatever else narwhals knows. Cells are read as those of a Parquet file: text, times and
missing values mean what they mean there.
"""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import NarwhalsError

from thalweg.errors import StreamError
from thalweg.tables.arrow_cells import ArrowCells
from thalweg.tables.chunk import FRAME, Chunk
from thalweg.types import FloatArray

INDEX = "__index_level_"
"""What pyarrow calls an index of pandas that has no name: it is left out."""


def read_frame(frame: Any) -> Chunk | None:
    """All rows of a data frame as one chunk; None where it is no data frame.

    A lazy frame or a relation is collected. An index of pandas that has a name becomes
    a column, as it does in a file.
    """
    try:
        native = nw.from_native(frame, pass_through=True, allow_series=False)
        if not isinstance(native, nw.DataFrame | nw.LazyFrame):
            return None
        if isinstance(native, nw.LazyFrame):
            native = native.collect(backend="pyarrow")
        table = native.to_arrow().combine_chunks()
    except (pa.ArrowException, NarwhalsError) as error:
        message = str(error).split("\n")[0].rstrip(".")
        raise StreamError(f"The data frame cannot be read: {message}.") from None
    if not table.num_rows:
        raise StreamError("The data frame has no rows.")
    names = [str(name) for name in table.column_names]
    columns = [
        pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)
        for column in table.columns
    ]
    pairs = zip(names, map(ArrowCells, columns), strict=True)
    cells = {name: cells for name, cells in pairs if not name.startswith(INDEX)}
    if not cells:
        raise StreamError("The data frame has no columns.")
    return Chunk(FRAME, 0, cells)


def split_column(frame: Any, name: str) -> tuple[Any, list[Any]]:
    """The frame without a column, and that column's values."""
    native = nw.from_native(frame)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if name not in native.columns:
        raise StreamError(
            f"The data frame has no column {name!r}. It has "
            f"{', '.join(map(repr, native.columns[:12]))}."
        )
    return native.drop(name).to_native(), native[name].to_list()


def series_like(frame: Any, values: FloatArray, name: str) -> Any:
    """``values`` as a Series of the library that ``frame`` is of, with its index.

    A lazy frame of polars gives one of polars, a DuckDB relation one of pyarrow.
    """
    made = _from_columns(frame, {name: values})
    return nw.from_native(made, eager_only=True)[name].to_native()


def frame_like(frame: Any, columns: Mapping[str, FloatArray]) -> Any:
    """Columns as a data frame of the library that ``frame`` is of, with its index."""
    return _from_columns(frame, columns)


def _from_columns(frame: Any, columns: Mapping[str, FloatArray]) -> Any:
    native = nw.from_native(frame)
    backend = native.implementation
    if backend not in _EAGER:
        backend = nw.Implementation.PYARROW
    arrays = {name: np.ascontiguousarray(values) for name, values in columns.items()}
    made = nw.from_dict(arrays, backend=backend).to_native()
    index = nw.maybe_get_index(native) if isinstance(native, nw.DataFrame) else None
    if index is not None:
        made.index = index
    return made


_EAGER = (
    nw.Implementation.PANDAS,
    nw.Implementation.POLARS,
    nw.Implementation.PYARROW,
    nw.Implementation.MODIN,
    nw.Implementation.CUDF,
)
