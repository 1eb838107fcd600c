"""Learning many rows of many keys at once: ``KeyedModels.observe_many``.

A batch is refused as a whole. Rows of numbers are checked before the first is learnt.
Whether a row with names can be encoded shows only when it is: such rows are learnt by
copies of the models, which take their places in the end.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import StreamError, ThalwegError
from thalweg.imputer import without_missing
from thalweg.keyed.cache import KeyedCache
from thalweg.keyed.codec import KeyedSettings
from thalweg.keyed.keyed_model import KeyedModel
from thalweg.keyed.row_log import Segment
from thalweg.keyed.rows import Batch, IntArray
from thalweg.types import Block, FloatArray


def observe_batch(cache: KeyedCache, batch: Batch) -> FloatArray:
    """Predict and learn the rows in their order; the predictions."""
    cache.settle_flight()
    if cache.log.is_too_long():
        cache.write_states()
    if batch.x is None or not batch.keys:
        return _observe_copies(cache, batch)
    _check_numbers(batch, cache.settings)
    groups, given = _group_rows(batch.keys), (batch.x.shape[1], *batch.y.shape[1:])
    found = [cache.models.get(key) or cache.find(key) for key in groups.keys]
    for key, model in zip(groups.keys, found, strict=True):
        if model is not None and model.shape != given and model.shape is not None:
            raise _other_shape(batch, key, model.shape, given)
    predictions = np.full(batch.y.shape, np.nan)
    if not all(key in cache.models for key in groups.keys):
        # A key is new to the memory. An eviction would write the offset of a row while
        # rows before it have yet to be learnt: rows are learnt in their order.
        for row, key in enumerate(batch.keys):
            _observe_rows(cache, batch, key, (row,), predictions)
    elif not _learn_together(cache, batch, groups, predictions):
        # Rows of one key together, while its model is in the processor's cache.
        for k, key in enumerate(groups.keys):
            _observe_rows(cache, batch, key, groups.rows_of(k), predictions)
    return predictions


class Groups(NamedTuple):
    """The rows of a batch key by key."""

    keys: list[str]  # K, each once
    starts: IntArray  # (K + 1,) where in ``rows`` those of each begin, and the last end
    rows: IntArray  # (T,) indices of rows, those of a key in their order
    numbers: IntArray  # (T,) which of the keys each row has

    def rows_of(self, k: int, first: int = 0) -> list[int]:
        """The rows of a key from row ``first`` on."""
        rows = self.rows[self.starts[k] + first : self.starts[k + 1]]
        return rows.tolist()  # type: ignore[no-any-return]


def _group_rows(keys: list[str]) -> Groups:
    number_of = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    numbers = np.fromiter(map(number_of.__getitem__, keys), np.int64, len(keys))
    # Sixteen bits are sorted by a radix sort.
    small = numbers.astype(np.uint16) if len(number_of) <= 2**16 else numbers
    starts = np.zeros(len(number_of) + 1, np.int64)
    np.cumsum(np.bincount(numbers), out=starts[1:])
    order = np.argsort(small, kind="stable")
    return Groups(list(number_of), starts, order, numbers)


def _learn_together(
    cache: KeyedCache, batch: Batch, groups: Groups, predictions: FloatArray
) -> bool:
    """Learn all rows in one call of a kernel; False, and nothing, if there is none.

    It takes one target, keys in memory, and no row that is late or comes twice.
    """
    keys, starts, rows = groups[:3]
    models = [cache.models[key] for key in keys]
    addresses = [0 if model.pending else model.address for model in models]
    kernels = models[0].batch if all(addresses) else None
    if kernels is None:
        return False
    seqs = batch.seq[rows]
    before = np.roll(seqs, 1)
    before[starts[:-1]] = [model.last[0] for model in models]
    if (seqs <= before).any():
        return False
    ones, learnt = np.ones(len(rows)), np.empty(len(models), np.int64)
    weight = ones if batch.weight is None else np.array(batch.weight, np.float64)
    elapsed = ones if batch.elapsed is None else np.array(batch.elapsed, np.float64)
    cache.log.in_flight = keys  # first, so that no row that was learnt goes unsaved
    for model, start in zip(models, starts.tolist(), strict=False):
        model.pending = (seqs, start)
    kernels.learn_rows(
        np.array(addresses), starts, rows, batch.x, batch.y, weight, elapsed,
        predictions, learnt,
    )  # fmt: skip
    last = starts[:-1] + learnt - 1
    ends = zip(
        keys, models, learnt.tolist(), seqs[last].tolist(),
        predictions[rows[last]].tolist(), strict=True,
    )  # fmt: skip
    move_to_end = cache.models.move_to_end
    for key, model, count, seq, prediction in ends:
        if count:
            model.last = (seq, prediction, model.last[2] + count)
        model.pending = None
        move_to_end(key)
    refused = np.flatnonzero(learnt < np.diff(starts)).tolist()
    if refused:
        cache.settle_flight()
    else:
        cache.log.add_batch(_as_segment(batch, groups, weight, elapsed), keys)
        cache.log.in_flight = None
    for k in refused:
        _observe_rows(cache, batch, keys[k], groups.rows_of(k, learnt[k]), predictions)
    return True


def _as_segment(
    batch: Batch, groups: Groups, weight: FloatArray, elapsed: FloatArray
) -> Segment:
    """The rows of a batch for the log: copies, since the caller may change them."""
    assert batch.x is not None
    count, features = batch.x.shape
    has_rates = batch.weight is not None or batch.elapsed is not None
    rates = np.stack([weight, elapsed]) if has_rates else np.empty((2, 0))
    return Segment(
        json.dumps(groups.keys), groups.numbers.astype(np.int32), batch.seq,
        np.full(count, features, np.int32), batch.x.flatten(), batch.y.copy(), rates,
    )  # fmt: skip


def _observe_rows(
    cache: KeyedCache, batch: Batch, key: str, rows: Sequence[int],
    predictions: FloatArray,
) -> None:  # fmt: skip
    """``KeyedModels.observe`` of these rows of a key, in their order."""
    models, x, seqs, (weight, elapsed) = cache.models, batch.rows, batch.seq, (1.0, 1.0)
    model, has_one_target, log = models.get(key), batch.y.ndim == 1, cache.log
    has_rates = batch.weight is not None or batch.elapsed is not None
    for row in rows:
        seq = int(seqs[row])
        y = float(batch.y[row]) if has_one_target else batch.y[row]
        if has_rates:
            weight, elapsed = batch.rates(row)
        if (
            model is not None
            and model.pending is None
            and seq > model.last[0]
            and has_one_target
        ):
            live = model.online._live
            log.in_flight = key  # first, so that no row that was learnt goes unsaved
            model.pending = ((seq,), 0)
            prediction = live.learn(live.buffer, x[row], y, weight, elapsed, True)
            if prediction == prediction:  # else it is a REFUSAL
                model.last = (seq, prediction, model.last[2] + 1)
                if key not in cache.unsaved:
                    log.rows.append((key, seq, x[row].tobytes(), y, weight, elapsed))
                model.pending = None
                log.in_flight = None
                predictions[row] = prediction
                continue
        try:
            found = cache.observe(key, x[row], y, seq, weight, elapsed)
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
    for row, (key, seq) in enumerate(zip(batch.keys, batch.seq.tolist(), strict=True)):
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


def _other_shape(
    batch: Batch, key: str, shape: tuple[int, ...], given: tuple[int, ...]
) -> ThalwegError:
    """The model of a key has learnt from rows of another shape."""
    error = StreamError(
        f"The model has learnt from {_words(shape)}. Got {_words(given)} instead."
    )
    return batch.fail(batch.keys.index(key), error)


def _words(shape: Any) -> str:
    targets = f" and {shape[1]} targets" if len(shape) > 1 else ""
    return f"{shape[0]} features{targets} a round"
