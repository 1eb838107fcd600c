"""Rows with names: data frames, Series and dicts are recognised, and read.

Whatever needs tables is in columns.py and is loaded with the first such rows.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg import models
from thalweg.errors import StreamError
from thalweg.types import FloatArray

if TYPE_CHECKING:
    from thalweg.models.columns import Columns
    from thalweg.tables import Chunk

FRAME_LIBRARIES = frozenset(
    {"pandas", "polars", "pyarrow", "duckdb", "_duckdb", "narwhals", "modin", "cudf",
     "pyspark", "ibis", "dask", "sqlframe"}
)  # fmt: skip
"""Libraries whose objects may be data frames: narwhals is asked about no others."""


def read_chunk(x: Any) -> "Chunk | None":
    """Rows with names, of a data frame, a Series or a dict; None where it has none."""
    if isinstance(x, Mapping):
        return models.columns.row_chunk(x)
    library = type(x).__module__.partition(".")[0]
    if library not in FRAME_LIBRARIES:
        return None
    if type(x).__name__ == "Series":
        return _series_chunk(x) if library == "pandas" else None
    chunk: Chunk | None = load_frames().read_frame(x)
    return chunk


def _series_chunk(series: Any) -> "Chunk | None":
    """One row, where the index of a Series holds names; else it is an array."""
    has_names = all(isinstance(name, str) for name in series.index)
    return models.columns.row_chunk(series.to_dict()) if has_names else None


def load_frames() -> Any:
    """``tables/frames.py``, which needs the libraries of the extra ``io``."""
    try:
        return import_module("thalweg.tables.frames")
    except ModuleNotFoundError as error:
        raise StreamError(
            f"Reading a data frame needs {error.name}: pip install 'thalweg[io]'."
        ) from None


def is_frame(x: Any) -> bool:
    """Whether rows come as a data frame, after ``read_chunk`` has read them."""
    return not isinstance(x, Mapping) and type(x).__name__ != "Series"


def target_names(columns: "Columns | None") -> tuple[str, ...]:
    """The names of the targets, where they are columns of the model's frames."""
    return () if columns is None else tuple(columns.recipe.targets)


def like_frame(x: Any, prediction: Any, targets: Sequence[str] = ()) -> Any:
    """Predictions in the form of the rows ``x``: a Series, or a frame of intervals.

    Several ``targets`` have a column each, by name where they have names.
    """
    frames = sys.modules["thalweg.tables.frames"]
    if hasattr(prediction, "_asdict"):  # an Interval
        return frames.frame_like(x, _by_target(prediction._asdict(), targets))
    if prediction.ndim == 1:
        return frames.series_like(x, prediction, "prediction")
    return frames.frame_like(x, _by_target({"prediction": prediction}, targets))


def played_index(frame: Any, rounds: int) -> Any:
    """The index of the last rows of a pandas frame, which were played; else None.

    Rows before them lacked the past that lags need.
    """
    index = sys.modules["thalweg.tables.frames"].frame_index(frame)
    return None if index is None else index[len(index) - rounds :]


def _by_target(
    columns: Mapping[str, FloatArray], targets: Sequence[str]
) -> dict[str, FloatArray]:
    """Columns (T,); what is (T, k), of k targets, becomes k columns."""
    separate: dict[str, FloatArray] = {}
    for name, values in columns.items():
        if values.ndim == 1:
            separate[name] = values
        else:
            pairs = zip(targets or range(values.shape[1]), values.T, strict=True)
            separate |= {f"{name}_{suffix}": part for suffix, part in pairs}
    return separate


def split_labels(x: Any, target: str) -> tuple[Any, list[Any]]:
    """A data frame without the column of its labels, and these."""
    if read_chunk(x) is None or not is_frame(x):
        raise StreamError(
            f"A 'target' is the name of a column of a data frame. Got x of type "
            f"{type(x).__name__}."
        )
    rest, labels = sys.modules["thalweg.tables.frames"].split_column(x, target)
    return rest, list(labels)


def as_targets(y: Any) -> Any:
    """Targets of a data frame or a Series as an array; anything else as it is."""
    if hasattr(y, "to_numpy") and hasattr(y, "isna"):  # nullable types of pandas
        if y.ndim == 1 and y.dtype.kind not in "fiub":
            return y
        return y.to_numpy(np.float64, na_value=np.nan)
    if not hasattr(y, "shape") or isinstance(y, np.ndarray) or len(y.shape) != 2:
        return y
    chunk = read_chunk(y)
    if chunk is None:
        return y
    return np.column_stack([chunk.numbers(name) for name in chunk.cells])
