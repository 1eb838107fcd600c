"""Late labels: ``Online.ask`` and ``Online.tell``.

Also known as: delayed feedback, verification latency, ask-and-tell.

Most learners learn a label when it comes, as an ``update`` at that time, in the order
in which labels come. A Tracker with a delay of d learns in the order of rows, as its
runs do: the label of a row is *due* when the row d after it has been asked for, and
until then known labels wait in the line (models/waiting_rows.py). A row is
played, which adds it to the Tracker's own ring of rounds that wait for labels and
learns the oldest of them, as soon as that one's label is known. The line waits for a
label that is later than its delay until that of a later row is known and due: then the
row is played without a label, and given up. docs/decisions/late-labels.md has the
measurements.
"""

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg import checks, models
from thalweg.errors import StreamError, ThalwegError
from thalweg.imputer import (
    POLICY_RULES,
    SKIPPED_WEIGHT,
    without_missing,
)
from thalweg.models.inputs import NUMBERS, as_features, as_number, as_queries, as_row
from thalweg.models.live_state import LiveState
from thalweg.models.named_rows import read_chunk
from thalweg.models.waiting_rows import Ticket, WaitingRow
from thalweg.types import Block, FloatArray

if TYPE_CHECKING:
    from thalweg.models.columns import Columns

FLOAT64 = np.dtype(np.float64)


def ask(model: Any, x: Any, key: Any, interval: float | None) -> Ticket:
    """The prediction at ``x``, a row that waits for its label from now on."""
    with model._suspend(to_learn=True) as live:
        waiting = live.settled_waiting()
        key = waiting.new_key(key)
        if waiting.line:  # an interrupt may have ended an earlier call
            _play_line(model)
            live = model._live
        columns, row = _read_row(model, live, x)
        prediction = _predict(model, live, row, interval)
        while len(waiting.rows) >= model.max_waiting + waiting.delay:
            waiting.give_up(waiting.find(None))
        live.columns = columns
        waiting.join(key, row)
        if waiting.delay:
            live.refuse_updates()
            _play_line(model)
    if interval is None:
        return Ticket(prediction, None, key)
    return Ticket(prediction.mean, prediction, key)


def tell(model: Any, y: Any, key: Any, weight: Any) -> None:
    """Learn the label of a row that waits; None: it will never come."""
    with model._suspend(to_learn=True) as live:
        waiting = live.settled_waiting()
        row = waiting.find(key)
        if y is None:
            _give_up(model, live, row)
            return
        label = _as_label(row, y)
        if live.columns is not None:
            age = waiting.count_asked() - row.number
            live.columns = live.columns.with_label(age, label)
        if not waiting.delay:
            waiting.begin_learning(row, live.count_rounds())
            _learn(model, row, label, as_number(weight), 1.0 + waiting.waited)
            return
        _check_label(model, live, row, label, weight)
        has_gap = not POLICY_RULES[model.missing].learns and np.isnan(row.x).any()
        waiting.tell(row, label, float(weight) * (SKIPPED_WEIGHT if has_gap else 1.0))
        _play_line(model)


def require_no_waiting(live: LiveState, what: str) -> None:
    """Raise if rows of a Tracker with a delay wait; else let it learn by itself."""
    waiting = live.settled_waiting()
    for row in waiting.rows.values():
        raise StreamError(
            f"{what} of a Tracker with a delay cannot learn while rows wait for their "
            f"labels: {len(waiting.rows):,} do, the first under the key {row.key!r}. "
            "Tell their labels, or None for those that will not come."
        )
    for row in waiting.line:
        if row.number < waiting.next_number:
            _set_pending_label(live, row, waiting.next_number - 1 - row.number)
    waiting.clear_line()


def _give_up(model: Any, live: LiveState, row: WaitingRow) -> None:
    """Let a row go whose label will never come: time passes, nothing is learnt."""
    waiting, has_state = live.waiting, live.count_features() is not None
    if waiting.delay:
        waiting.give_up(row)
        _play_line(model)
    elif not model.learner.advances_on_zero_weight:
        waiting.give_up(row, time=1.0)
    elif has_state:
        waiting.begin_giving_up(row, live.count_rounds())
        _learn(model, row, _placeholder(live), 0.0, 1.0)
    else:
        waiting.give_up(row)


def _play_line(model: Any) -> None:
    """Play the rows of the line as far as labels that are due are known."""
    while True:
        live = model._live
        waiting = live.waiting
        line, delay = waiting.line, waiting.delay
        place = waiting.next_number - line[0].number if line else 0
        label = _placeholder(live)
        if place >= len(line) or label is None:
            return
        if place >= delay:  # the oldest round of the Tracker's ring is a row of ours
            due = line[place - delay]
            if waiting.is_waiting(due):
                if not _is_overtaken(live):
                    return
                waiting.give_up(due)
            _set_pending_label(live, due, delay - 1)
        row = line[place]
        waiting.begin_playing(row, live.count_rounds())
        _learn(model, row, label, 1.0, 1.0)


def _is_overtaken(live: LiveState) -> bool:
    """Whether a later label than that of the first row is known, and due."""
    line, delay = live.waiting.line, live.waiting.delay
    later = islice(line, 1, max(len(line) - delay, 1))
    return any(row.label is not None for row in later)


def _set_pending_label(live: LiveState, row: WaitingRow, age: int) -> None:
    """Give the Tracker the label of a row that it played, ``age`` rounds ago."""
    if row.label is None:  # it was given up
        live.set_pending_label(age, _placeholder(live), 0.0)
    else:
        live.set_pending_label(age, row.label, row.weight)


def _placeholder(live: LiveState) -> Any:
    """The substitute for an unknown label; None where its shape is unknown as well."""
    if live.count_features() is not None:
        return np.zeros(live.targets) if live.targets else 0.0
    for row in live.waiting.line:
        if row.label is not None:
            return np.zeros(len(row.label)) if np.ndim(row.label) else 0.0
    return None


def _learn(
    model: Any, row: WaitingRow, label: Any, weight: Any, elapsed: float
) -> None:
    """Learn a round; what was noted of its row has then happened."""
    live = model._live
    waiting = live.waiting
    try:
        is_plain = type(weight) in NUMBERS
        if not (is_plain and live.learn_suspended(row.x, label, weight, elapsed)):
            y = np.asarray(label)[None]
            model._run(live, live.columns, row.x[None], y, [weight], [elapsed])
    except ThalwegError:
        waiting.cancel()
        raise
    finally:
        waiting.settle(model._live.count_rounds())


def _predict(model: Any, live: LiveState, x: FloatArray, interval: Any) -> Any:
    if interval is None:
        prediction = live.predict_suspended(x)
        if prediction is not None:
            return prediction
    for row in live.waiting.rows.values():
        if len(row.x) != len(x):
            raise StreamError(
                f"The rows that wait have {len(row.x)} features. Got {len(x)} instead."
            )
        break
    state, features = as_queries(model._settings(), live, x[None])
    return model._predict(live, state, features[0], interval)


def _read_row(
    model: Any, live: LiveState, x: Any
) -> tuple["Columns | None", FloatArray]:
    """The columns of the model after a row, and its features (n,), a copy."""
    if type(x) is not np.ndarray:
        x = as_row(x, live.columns)
    if type(x) is np.ndarray and x.dtype is FLOAT64 and x.ndim == 1:
        return live.columns, x.copy()
    chunk = read_chunk(x)
    if chunk is None:
        return live.columns, np.array(as_features(x)[0], np.float64)
    if len(chunk) != 1:
        raise StreamError(
            f"Online.ask predicts one row, Online.predict several. Got {len(chunk)} "
            "rows."
        )
    columns, rows = models.named_rounds.encode_features(live, model.missing, chunk)
    return columns, rows[0].copy()


def _as_label(row: WaitingRow, y: Any) -> Any:
    """A label as a float, or an array of several; refused unless it is finite."""
    if type(y) is float and y - y == 0:
        return y
    label = checks.check_numbers("label", as_number(y))
    if label.ndim > 1 or not np.isfinite(label).all():
        raise StreamError(
            f"The label of the row {row.key!r} must be a finite number, or a row of "
            f"them, or None if it will not come. Got {y!r:.80} instead."
        )
    return label.astype(np.float64) if label.ndim else float(label)


def _check_label(
    model: Any, live: LiveState, row: WaitingRow, label: Any, weight: Any
) -> None:
    """Raise unless a row with this label and weight can be learnt later."""
    expected = _placeholder(live)
    if expected is not None and np.shape(label) != np.shape(expected):
        raise StreamError(
            f"The model has {np.size(expected)} targets a row. Got the label "
            f"{label!r:.80} instead."
        )
    block = Block(row.x[None], np.asarray(label)[None], [weight])
    theta = np.zeros((len(row.x), *np.shape(label)))
    checks.check_block(without_missing(block), model.loss, theta)
