"""Rows of ``KeyedModels``: which values are legal, and batches of them.

What is legal is declared once. The checks of what callers give, the writer and the
readers of the file use the same rules, so that whatever was accepted can be read again.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg import checks
from thalweg.errors import InvalidParameterError, StreamError, ThalwegError
from thalweg.models.named_rows import (
    as_targets,
    is_frame,
    load_frames,
    read_chunk,
)
from thalweg.rules import Count, Number
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
MAX_SEQ = 2**63 - 1
"""Largest sequence number: SQLite holds integers of 64 bits."""
SEQ = Count(MAX_SEQ)
FEATURES = Count(2**31 - 1)
"""Number of features of a row; one without any has the constant feature alone."""
TIME = Number(-(2.0**63), 2.0**63)
"""Time of a clock, in seconds or any other unit."""


def are_legal_keys(keys: Any) -> bool:
    """Whether these are keys: a list of strings, not empty, that UTF-8 can write."""
    is_text = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    if not is_text or not all(keys):
        return False
    try:
        "".join(keys).encode()
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False
    return True


def check_key(key: object) -> None:
    """Raise unless ``key`` is legal."""
    if not are_legal_keys([key]):
        raise InvalidParameterError(
            f"A key of KeyedModels is a string that is not empty and that UTF-8 can "
            f"write. Got {key!r} instead."
        )


def check_seq(seq: Any) -> int:
    """``seq`` as an int, if it is legal."""
    number = int(seq) if isinstance(seq, np.integer) else seq
    if not SEQ.accepts(number):
        raise InvalidParameterError(
            f"A seq of KeyedModels is a whole number from 0 to 2⁶³ - 1. "
            f"Got {seq!r} instead."
        )
    return number


def check_time(time: Any) -> float:
    """``time``, which a clock has returned, as a float, if it is legal."""
    is_number = isinstance(time, int | float | np.integer | np.floating)
    try:
        seconds = float(time) if is_number and type(time) is not bool else np.nan
    except OverflowError:
        seconds = np.nan
    if not TIME.accepts(seconds):
        raise InvalidParameterError(
            "The 'clock' of KeyedModels must return a finite number from -2⁶³ to 2⁶³, "
            f"its time in seconds. Got {time!r:.80} instead."
        )
    return seconds


class Batch(NamedTuple):
    """Rows of keys, T of them."""

    keys: list[str]
    rows: Any  # (T, n) of float64, or T of whatever ``Online.update`` takes
    y: FloatArray  # (T,) or (T, k), NaN where a row has no target
    seq: Any  # (T,) of int64; before it is checked, a list of anything
    weight: list[Any] | None  # None: ones
    elapsed: list[Any] | None
    x: FloatArray | None  # (T, n), where all rows are of numbers and so is elapsed

    def rates(self, row: int) -> tuple[Any, Any]:
        """The weight of a row, and the time since the one before."""
        return (
            1.0 if self.weight is None else self.weight[row],
            1.0 if self.elapsed is None else self.elapsed[row],
        )

    def fail(self, row: int, error: Exception) -> ThalwegError:
        """The error of a row, with what tells it from others."""
        kind = type(error) if isinstance(error, ThalwegError) else StreamError
        seq = self.seq[row]
        seq = seq.item() if isinstance(seq, np.integer) else seq
        return kind(
            f"Row {row} of the batch (key {self.keys[row]!r:.80}, seq {seq!r:.40}) is "
            f"refused, and the batch with it: {error}"
        )


def as_batch(keys: Any, x: Any, y: Any, seq: Any, weight: Any, elapsed: Any) -> Batch:
    """The rows as they are learnt; refused unless each has a legal key and seq."""
    keys, numbers = _as_list(keys), _as_seqs(seq)
    count = len(keys)
    targets = np.full(count, np.nan) if y is None else _as_numbers("targets", y)
    matrix = _as_matrix(x)
    rows = _as_rows(x) if matrix is None else matrix
    weights = None if weight is None else _as_numbers("weights", weight).tolist()
    times = None if elapsed is None else _as_list(elapsed)
    has_times = not set(map(type, times or ())) <= {float, int}
    if times is not None and not has_times:
        times = _as_numbers("elapsed times", times).tolist()
    parts = {
        "x": rows, "y": targets, "seq": numbers, "weight": weights, "elapsed": times,
    }  # fmt: skip
    for name, part in parts.items():
        if part is not None and len(part) != count:
            raise StreamError(
                f"A batch has as many rows of {name} as keys. Got {len(part)} and "
                f"{count}."
            )
    if targets.ndim not in (1, 2):
        raise StreamError(
            f"A batch has one target a row, or a row of them. Got y of shape "
            f"{targets.shape}."
        )
    x = None if has_times else matrix
    return _check_names(Batch(keys, rows, targets, numbers, weights, times, x))


def as_one_row(x: Any) -> Any:
    """A row, as ``Online.update`` takes it: of a data frame of one row that row."""
    if isinstance(x, np.ndarray | dict | list | tuple) or read_chunk(x) is None:
        return x
    if not is_frame(x):
        return x
    rows = load_frames().read_rows(x)
    if len(rows) != 1:
        raise StreamError(
            f"A frame for one key has one row. Got {len(rows)}: use observe_many."
        )
    return rows[0]


def _check_names(batch: Batch) -> Batch:
    """The batch, if every key is one and every seq too."""
    if are_legal_keys(batch.keys) and _are_legal_seqs(batch.seq):
        return batch._replace(seq=np.array(batch.seq, np.int64))
    numbers = []
    for row, (key, seq) in enumerate(zip(batch.keys, batch.seq, strict=True)):
        try:
            check_key(key)
            numbers.append(check_seq(seq))
        except ThalwegError as error:
            raise batch.fail(row, error) from None
    return batch._replace(seq=np.array(numbers, np.int64))


def _are_legal_seqs(seqs: Any) -> bool:
    """Whether all seqs are legal; where not, they may still be."""
    if isinstance(seqs, np.ndarray):
        return SEQ.accepts_all(seqs)
    is_int = set(map(type, seqs)) == {int}
    return is_int and SEQ.accepts(min(seqs)) and SEQ.accepts(max(seqs))


def _as_list(values: Any) -> list[Any]:
    if isinstance(values, str | bytes):
        raise StreamError(f"A batch has several rows. Got {values!r:.80} for all.")
    if hasattr(values, "tolist"):
        values = values.tolist()
    elif hasattr(values, "to_list"):
        values = values.to_list()
    try:
        return list(values)
    except TypeError:
        raise StreamError(
            f"A batch has one value for each row. Got {values!r:.80} instead."
        ) from None


def _as_seqs(values: Any) -> Any:
    """Seqs, one for each row: an array of integers, or a list of anything."""
    if isinstance(values, range) and values and max(values[0], values[-1]) <= MAX_SEQ:
        return values[0] + values.step * np.arange(len(values))
    is_array = isinstance(values, np.ndarray) and values.ndim == 1 and values.size > 0
    return values if is_array and values.dtype.kind == "i" else _as_list(values)


def _as_numbers(name: str, values: Any) -> FloatArray:
    values = as_targets(values)
    if isinstance(values, list | tuple):
        values = [np.nan if value is None else value for value in values]
    return checks.check_numbers(name, values).astype(np.float64)


def _as_matrix(x: Any) -> FloatArray | None:
    """Rows of numbers as (T, n), contiguous; None where they are anything else."""
    if isinstance(x, list | tuple) and x and isinstance(x[0], np.ndarray):
        sizes = {np.shape(row) for row in x}
        x = np.stack(x) if len(sizes) == 1 else x
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.dtype.kind not in "biuf":
        return None
    return np.ascontiguousarray(x, np.float64)


def _as_rows(x: Any) -> list[Any]:
    """The rows one by one: of a data frame as dicts, else as they are."""
    if isinstance(x, list | tuple):
        return list(x)
    if isinstance(x, np.ndarray) or read_chunk(x) is None:
        return list(checks.check_numbers("features", x))
    rows: list[Any] = load_frames().read_rows(x)
    return rows
