"""Learning the rows of a micro-batch, key by key: what every key's models become.

Pure functions of stored models and rows, without Spark.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import ThalwegError
from thalweg.integrations.spark.key_models import KeyedLearning, ModelBytes
from thalweg.integrations.spark.model_cache import ModelCache
from thalweg.keyed.keyed_model import KeyedModel
from thalweg.keyed.rows import are_legal_keys
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
TextArray = npt.NDArray[np.object_]
NO_KEY = "A key is text that is not empty and that UTF-8 can write."
NOT_GREATER = "Its sequence is not greater than the last one of its key."
NO_SEQUENCE = "A sequence is a whole number from 0 to 2⁶³ - 1."


class KeyedRows(NamedTuple):
    """Rows of any keys, in any order."""

    key: TextArray  # (m,); "" where there is none
    sequence: IntArray  # (m,) int64; -1 where there is none
    x: FloatArray  # (m, n), in C order
    y: FloatArray  # (m,)


class RowResults(NamedTuple):
    """The outcome of each row, in the order of keys and sequences."""

    key: TextArray  # (m,)
    sequence: IntArray  # (m,)
    prediction: FloatArray  # (m,) NaN where the row was not learnt
    refusal: list[str | None]  # why it was not; None where it was


def take_rows(rows: KeyedRows, at: Any) -> KeyedRows:
    """The rows at these indices, or in this slice."""
    key, sequence, x, y = rows
    return KeyedRows(key[at], sequence[at], x[at], y[at])


def learn_rows(
    cache: ModelCache, models: Mapping[str, ModelBytes], rows: KeyedRows, now: int = 0
) -> tuple[dict[str, ModelBytes], RowResults]:
    """Learn the rows of each key in the order of their sequences.

    ``models`` has those of the keys in ``rows`` that have learnt before, and maybe
    others. The result has the models that changed, at the time ``now``, and what came
    of every row. A row whose sequence is not greater than the last one that its key has
    learnt is not learnt; nor is one that the learner refuses, which leaves its model as
    it was. So rows that come again change nothing, and neither does it matter in how
    many calls rows come, as long as those of a key come in the order of sequences.
    ``cache`` has the settings; which models it has in memory changes no result.
    """
    rows = sort_rows(rows)
    predictions = np.full(len(rows.key), np.nan)
    refusals: list[str | None] = [None] * len(rows.key)
    changed: dict[str, ModelBytes] = {}
    for key, part in _parts_by_key(rows.key):
        if not are_legal_keys([key]):
            refusals[part] = [NO_KEY] * (part.stop - part.start)
            continue
        model, own = cache.take(key, models.get(key)), take_rows(rows, part)
        predictions[part], refusals[part] = _learn_key(cache.learning, model, own)
        if not all(refusals[part]):
            changed[key] = cache.put(key, model, now)
    return changed, RowResults(rows.key, rows.sequence, predictions, refusals)


def sort_rows(rows: KeyedRows) -> KeyedRows:
    """The rows by key and sequence.

    Rows that agree in both are sorted by their numbers, since Spark brings the rows of
    a group in no order that would be the same in the next attempt.
    """
    _, codes = np.unique(rows.key, return_inverse=True)
    columns = (rows.y, *rows.x.T, rows.sequence, codes)
    return take_rows(rows, np.lexsort(columns))


def _parts_by_key(keys: TextArray) -> Iterator[tuple[str, slice]]:
    """Each key, and where its rows are, of keys that are sorted."""
    changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    ends = [0, *changes.tolist(), len(keys)]
    for start, stop in pairwise(ends):
        if start < stop:
            yield keys[start], slice(start, stop)


def _learn_key(
    learning: KeyedLearning, model: KeyedModel, rows: KeyedRows
) -> tuple[FloatArray, list[str | None]]:
    """Let a model learn its rows: their predictions, and why they were refused."""
    predictions = np.full(len(rows.key), np.nan)
    refusals: list[str | None] = [None] * len(rows.key)
    numbers = zip(rows.sequence.tolist(), rows.x, rows.y.tolist(), strict=True)
    for at, (sequence, x, y) in enumerate(numbers):
        if sequence < 0:
            refusals[at] = NO_SEQUENCE
        elif sequence <= model.seq:
            refusals[at] = NOT_GREATER
        else:
            try:
                predictions[at] = learning.observe(model, sequence, x, y)
            except ThalwegError as error:
                refusals[at] = str(error)
    return predictions, refusals
