"""Many rows of many keys at once: ``KeyedModels.observe_many``.

A batch is refused as a whole. Rows of numbers are checked before the first is learnt.
Whether a row with names can be encoded shows only when it is: such rows are learnt by
copies of the models, which take their places in the end.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import StreamError, ThalwegError
from thalweg.models.columns import load_frames, read_chunk
from thalweg.models.keyed_cache import KeyedCache
from thalweg.models.keyed_codec import KeyedSettings
from thalweg.models.keyed_model import KeyedModel
from thalweg.models.keyed_store import MAX_SEQ, check_key, check_seq
from thalweg.models.named_rounds import as_targets
from thalweg.preprocessing.imputer import without_missing
from thalweg.types import Block, FloatArray


class Batch(NamedTuple):
    """Rows of keys, T of them."""

    keys: list[str]
    rows: Sequence[Any]  # arrays (n,) of float64, or whatever ``Online.update`` takes
    y: FloatArray  # (T,) or (T, k), NaN where a row has no target
    seq: list[int]
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
        return kind(
            f"Row {row} of the batch (key {self.keys[row]!r:.80}, seq "
            f"{self.seq[row]!r:.40}) is refused, and the batch with it: {error}"
        )


def as_batch(keys: Any, x: Any, y: Any, seq: Any, weight: Any, elapsed: Any) -> Batch:
    """The rows as they are learnt; refused unless each has a legal key and seq."""
    keys, numbers = _as_list(keys), _as_list(seq)
    count = len(keys)
    targets = np.full(count, np.nan) if y is None else _as_numbers("targets", y)
    matrix = _as_matrix(x)
    rows = _as_rows(x) if matrix is None else list(matrix)
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


def observe_batch(cache: KeyedCache, batch: Batch) -> FloatArray:
    """Predict and learn the rows in their order; the predictions."""
    if batch.x is None:
        return _observe_copies(cache, batch)
    if batch.keys:
        _check_numbers(batch, cache.settings)
    for key in dict.fromkeys(batch.keys):
        model = cache.models.get(key) or cache.find(key)
        if model is not None:
            _check_shape(batch, key, model.shape)
    return _observe_rows(cache, batch)


def _observe_rows(cache: KeyedCache, batch: Batch) -> FloatArray:
    """``observe`` of rows that were checked.

    Rows of one key are learnt together, while its model is in the processor's cache.
    Not where a key is new to the memory: an eviction would write the offset of a row
    while rows before it have yet to be learnt.
    """
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, key in enumerate(batch.keys):
        rows_of[key].append(row)
    has_one_target = batch.y.ndim == 1
    labels: list[Any] = batch.y.tolist() if has_one_target else list(batch.y)
    predictions: list[Any] = [np.full(batch.y.shape[1:], np.nan)] * len(labels)
    if all(key in cache.models for key in rows_of):
        for key, rows in rows_of.items():
            _observe_rows_of(cache, batch, key, rows, labels, predictions)
    else:
        for row, key in enumerate(batch.keys):
            _observe_rows_of(cache, batch, key, (row,), labels, predictions)
    return np.array(predictions, np.float64).reshape(batch.y.shape)


def _observe_rows_of(
    cache: KeyedCache, batch: Batch, key: str, rows: Sequence[int], y: list[Any],
    predictions: list[Any],
) -> None:  # fmt: skip
    """``KeyedModels.observe`` of these rows of a key, in their order."""
    models, x, seqs, (weight, elapsed) = cache.models, batch.rows, batch.seq, (1.0, 1.0)
    model, has_one_target = models.get(key), batch.y.ndim == 1
    has_rates = batch.weight is not None or batch.elapsed is not None
    for row in rows:
        seq = seqs[row]
        if has_rates:
            weight, elapsed = batch.rates(row)
        if (
            model is not None
            and model.pending_seq is None
            and seq > model.last[0]
            and has_one_target
        ):
            live = model.online._live
            cache.unsaved.add(key)  # first, so that no row that was learnt goes unsaved
            model.pending_seq = seq
            prediction = live.learn(live.buffer, x[row], y[row], weight, elapsed, True)
            if prediction == prediction:  # else it is a REFUSAL
                model.last = (seq, prediction, model.last[2] + 1)
                model.pending_seq = None
                predictions[row] = prediction
                continue
        try:
            found = cache.observe(key, x[row], y[row], seq, weight, elapsed)
        except ThalwegError as error:
            raise batch.fail(row, error) from error
        if found is not None:
            predictions[row] = found
        model = models.get(key)
    if model is not None:
        models.move_to_end(key)


def _observe_copies(cache: KeyedCache, batch: Batch) -> FloatArray:
    """``observe`` of rows that may be refused, by copies of the models."""
    predictions = np.full(batch.y.shape, np.nan)
    copies: dict[str, KeyedModel] = {}
    for row, (key, seq) in enumerate(zip(batch.keys, batch.seq, strict=True)):
        if key not in copies:
            copies[key] = cache.find_or_make(key).copy()
        model = copies[key]
        if seq > model.seq:
            try:
                x, y = batch.rows[row], batch.y[row]
                cache.learn(model, x, y, seq, *batch.rates(row))
            except ThalwegError as error:
                raise batch.fail(row, error) from error
        if seq == model.seq:
            predictions[row] = model.last[1]
    for key, model in copies.items():
        cache.replace(key, model)
    return predictions


def _check_names(batch: Batch) -> Batch:
    """The batch, if every key is one and every seq too."""
    if _are_plain(batch.keys, batch.seq):
        return batch
    numbers = []
    for row, (key, seq) in enumerate(zip(batch.keys, batch.seq, strict=True)):
        try:
            check_key(key)
            numbers.append(check_seq(seq))
        except ThalwegError as error:
            raise batch.fail(row, error) from None
    return batch._replace(seq=numbers)


def _are_plain(keys: list[Any], seq: list[Any]) -> bool:
    """Whether all keys and seqs are legal; where not, they may still be."""
    if set(map(type, keys)) != {str} or set(map(type, seq)) != {int} or not all(keys):
        return False
    try:
        "".join(keys).encode()
    except UnicodeEncodeError:
        return False
    return bool(min(seq) >= 0 and max(seq) <= MAX_SEQ)


def _check_numbers(batch: Batch, settings: KeyedSettings) -> None:
    """Raise unless every row of the batch, which has ``x``, is legal."""
    assert batch.x is not None
    try:
        _check_rows(batch, settings, slice(None))
    except ThalwegError:
        for row in range(len(batch.keys)):
            try:
                _check_rows(batch, settings, slice(row, row + 1))
            except ThalwegError as error:
                raise batch.fail(row, error) from None
        raise


def _check_rows(batch: Batch, settings: KeyedSettings, rows: slice) -> None:
    assert batch.x is not None
    x, y = batch.x[rows], batch.y[rows]
    weight = None if batch.weight is None else batch.weight[rows]
    elapsed = None if batch.elapsed is None else batch.elapsed[rows]
    known = Block(x, np.where(np.isnan(y), 0.0, y), weight, elapsed)
    block = known if settings.missing == "refuse" else without_missing(known)
    theta = np.zeros((x.shape[1], *y.shape[1:]))
    checks.check_block(block, settings.loss, theta)


def _check_shape(batch: Batch, key: str, shape: tuple[int, ...] | None) -> None:
    """Raise unless rows have as many features and targets as the model of the key."""
    assert batch.x is not None
    given = (batch.x.shape[1], *batch.y.shape[1:])
    if shape not in (None, given):
        error = StreamError(
            f"The model has learnt from {_words(shape)}. Got {_words(given)} instead."
        )
        raise batch.fail(batch.keys.index(key), error)


def _words(shape: Any) -> str:
    targets = f" and {shape[1]} targets" if len(shape) > 1 else ""
    return f"{shape[0]} features{targets} a round"


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
