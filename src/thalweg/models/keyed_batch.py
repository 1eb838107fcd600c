"""The rows that ``KeyedModels.observe_many`` is given, in the form that is learnt."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg import checks
from thalweg.errors import StreamError, ThalwegError
from thalweg.models.columns import load_frames, read_chunk
from thalweg.models.keyed_store import MAX_SEQ, check_key, check_seq
from thalweg.models.named_rounds import as_targets
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]


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


def _check_names(batch: Batch) -> Batch:
    """The batch, if every key is one and every seq too."""
    if _are_legal_keys(batch.keys) and _are_legal_seqs(batch.seq):
        return batch._replace(seq=np.array(batch.seq, np.int64))
    numbers = []
    for row, (key, seq) in enumerate(zip(batch.keys, batch.seq, strict=True)):
        try:
            check_key(key)
            numbers.append(check_seq(seq))
        except ThalwegError as error:
            raise batch.fail(row, error) from None
    return batch._replace(seq=np.array(numbers, np.int64))


def _are_legal_keys(keys: list[Any]) -> bool:
    """Whether all keys are legal; where not, they may still be."""
    if set(map(type, keys)) != {str} or not all(keys):
        return False
    try:
        "".join(keys).encode()
    except UnicodeEncodeError:
        return False
    return True


def _are_legal_seqs(seqs: Any) -> bool:
    """Whether all seqs are legal; where not, they may still be."""
    if isinstance(seqs, np.ndarray):
        return bool(seqs.min() >= 0)
    if set(map(type, seqs)) != {int}:
        return False
    return bool(min(seqs) >= 0 and max(seqs) <= MAX_SEQ)


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
