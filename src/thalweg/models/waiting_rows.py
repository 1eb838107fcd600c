"""The rows of a model that wait for their labels, by key and in the order asked for.

A row joins, receives its label or is given up, and leaves. Each of these changes
several fields, and an interrupt may come in between. So the change is noted first
(``Change``), and ``settle`` makes it, or completes what an interrupt has left undone.
"""

from collections import deque
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.checks import MAX_MAGNITUDE
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.rules import Array, Condition, Count, Number
from thalweg.types import FloatArray, Interval

Key = str | int
"""The key under which the label of a waiting row is given."""


class Ticket(NamedTuple):
    """The prediction of a row that waits for its label."""

    prediction: Any  # a number, or (k,) of k targets
    interval: Interval | None  # where one was asked for
    key: Key  # to tell the label by


class TicketCounts(NamedTuple):
    """Numbers of the rows that a model was asked for."""

    asked: int
    answered: int  # their labels were given
    given_up: int  # their labels will not come, or too many rows waited
    waiting: int  # their labels are still to come


MAX_LOST_KEYS = 1024
"""Limit of the number of keys remembered of rows that were given up, for messages."""
MAX_INTEGER = 2**63 - 1
"""Largest integer that a file can hold."""


class WaitingRow:
    """A row that was predicted, and its label once it is known."""

    __slots__ = ("key", "label", "number", "weight", "x")

    def __init__(
        self, key: Key, number: int, x: FloatArray, label: Any = None,
        weight: float = 0.0,
    ) -> None:  # fmt: skip
        self.key, self.number = key, number  # of rows that were asked for before
        self.x = x  # (n,) features, without a constant one
        self.label, self.weight = label, weight  # None and 0: not known, or given up


class Change(NamedTuple):
    """A change of a row that is noted before it is made."""

    row: WaitingRow
    kind: str  # "join", "leave" or "play"
    rounds: int | None = None  # it has, once more rounds than these are learnt
    label: Any = None
    weight: float = 0.0
    waited: float = 0.0
    given_up: int = 0


# Rules of files, of models of ``given`` features (None: not known) and a ``delay``.
LARGEST = MAX_MAGNITUDE[np.dtype(np.float64)]
W = "len(keys)"
KEYS = "strings, or integers that files can hold"
DISTINCT = Condition("has_distinct_keys()", "1 of rows with different keys")
IN_LINE = Condition(
    "(np.diff(numbers) == 1 if delay else np.diff(numbers) > 0).all()", "in their order"
)
FEATURES = Array(
    (W, "given if keys else 0"), -LARGEST, LARGEST, may_be_nan="accepts_missing"
)
ALL_WAIT = Condition("is_waiting.all() or delay > 0", "1 of all rows without a delay")
LABELS = (
    "Array((len(keys), None)[: max(labels.ndim, 1)], -LARGEST, LARGEST, False, True)"
)
NOT_WAITING = Condition(
    "not (has_label & (is_waiting > 0)).any()", "NaN of rows that wait"
)
FINITE_SQUARES = Condition("has_finite_squares()", "those of finite squares of labels")
FEW_LOST = Condition("len(lost_keys) <= min(given_up, MAX_LOST_KEYS)", "few given up")


class WaitingRowsState(NamedTuple):
    """Waiting rows as a file holds them: w of them, oldest first."""

    keys: Annotated[tuple[Any, ...], Condition("all(map(is_key, keys))", KEYS)]
    # (w,) of rows asked for before each
    numbers: Annotated[FloatArray, Array((W,), 0.0, "asked - 1.0", whole=True), IN_LINE]
    # (w, n) features, without a constant one
    x: Annotated[FloatArray, FEATURES]
    # (w,) 1, or 0: known or given up, and not due yet
    is_waiting: Annotated[
        FloatArray, Array((W,), 0.0, 1.0, whole=True), ALL_WAIT, DISTINCT
    ]
    # (w,) or (w, k); NaN: not known
    labels: Annotated[FloatArray, LABELS, NOT_WAITING]
    weights: Annotated[FloatArray, Array((W,), 0.0, LARGEST), FINITE_SQUARES]  # (w,)
    next_number: Annotated[int, Count("asked")]
    asked: int
    given_up: Annotated[int, Count("asked - int(is_waiting.sum())")]
    lost_keys: Annotated[
        tuple[Any, ...], FEW_LOST, Condition("all(map(is_key, lost_keys))", KEYS)
    ]
    waited: Annotated[float, Number(0.0, LARGEST)]

    @property
    def has_label(self) -> npt.NDArray[np.bool_]:
        """(w,) whether the label of each row is known."""
        axes = tuple(range(1, self.labels.ndim))
        return np.asarray(~np.isnan(self.labels).any(axis=axes))

    def has_distinct_keys(self) -> bool:
        """Whether those of rows that wait are different ones."""
        waiting = [self.keys[k] for k in np.flatnonzero(self.is_waiting)]
        return len(set(waiting)) == len(waiting)

    def has_finite_squares(self) -> bool:
        """Whether weighted squares of the labels are."""
        axes = tuple(range(1, self.labels.ndim))
        sizes = np.abs(np.nan_to_num(self.labels)).max(axis=axes, initial=0)
        return bool((sizes * np.sqrt(np.maximum(self.weights, 1)) <= LARGEST).all())


class WaitingRows:
    """Rows by key, from ``Online.ask`` until ``Online.tell``.

    With the ``delay`` of a Tracker, rows are in ``line`` as well, until it has learnt
    their labels.
    """

    __slots__ = (
        "_asked", "change", "delay", "given_up", "line", "lost_keys", "next_number",
        "rows", "waited",
    )  # fmt: skip

    def __init__(self, delay: int = 0) -> None:
        self.delay = delay
        # The rows whose labels are neither known nor given up, in the order asked for.
        self.rows: dict[Key, WaitingRow] = {}
        self.line: deque[WaitingRow] = deque()
        self.next_number = 0  # of the first row in the line that was not played yet
        self.given_up = 0
        self.lost_keys: dict[Key, None] = {}  # of the last rows that were given up
        self.waited = 0.0  # time that rows given up took since a label was learnt
        self._asked = 0  # a lower limit of the rows asked for, besides waiting rows
        self.change: Change | None = None  # a change that was noted, not yet settled

    def count_asked(self) -> int:
        """The number of rows asked for, which is the number of the next one."""
        for row in reversed(self.rows.values()):
            return max(self._asked, row.number + 1)
        return self._asked

    def counts(self) -> TicketCounts:
        """Numbers of all rows so far, by their state."""
        asked, waiting = self.count_asked(), len(self.rows)
        answered = asked - self.given_up - waiting
        return TicketCounts(asked, answered, self.given_up, waiting)

    def new_key(self, key: Any) -> Key:
        """The key of the next row; raises if it waits already, or is no key."""
        if key is None:
            number = self.count_asked()
            while number in self.rows:  # a caller chose it as a key
                number += 1
            return number
        wanted = _as_key(key)
        if wanted in self.rows:
            raise StreamError(
                f"A row waits for its label under the key {wanted!r} already."
            )
        return wanted

    def find(self, key: Any) -> WaitingRow:
        """The row of a key, or the oldest; raises if none waits."""
        if key is None:
            for oldest in self.rows.values():
                return oldest
            raise StreamError("No row waits for its label.")
        key = _as_key(key)
        row = self.rows.get(key)
        if row is not None:
            return row
        if key in self.lost_keys:
            raise StreamError(
                f"The row of the key {key!r} was given up before its label came."
            )
        raise StreamError(
            f"No row waits for its label under the key {key!r}: no such row was asked "
            f"for, or its label came already. Rows that wait: {len(self.rows):,}."
        )

    def is_waiting(self, row: WaitingRow) -> bool:
        """Whether the label of a row is neither known nor given up."""
        return self.rows.get(row.key) is row

    def join(self, key: Key, x: FloatArray) -> None:
        """Add a row that waits."""
        row = WaitingRow(key, self.count_asked(), x)
        if self.delay:
            self.change = Change(row, "join")
            self.settle(0)
        else:
            self.rows[key] = row
        if key in self.lost_keys:
            del self.lost_keys[key]

    def begin_learning(self, row: WaitingRow, rounds: int) -> None:
        """A row leaves as soon as more rounds than these are learnt."""
        self.change = Change(row, "leave", rounds, None, 0.0, 0.0, self.given_up)

    def tell(self, row: WaitingRow, label: Any, weight: float) -> None:
        """Set the label of a row in the line, which is learnt when it is due."""
        self.change = Change(
            row, "leave", None, label, weight, self.waited, self.given_up
        )
        self.settle(0)

    def give_up(self, row: WaitingRow, time: float = 0.0) -> None:
        """Let a row leave without a label; ``time`` is added to that of the next."""
        waited, given_up = self.waited + time, self.given_up + 1
        self.change = Change(row, "leave", waited=waited, given_up=given_up)
        self.settle(0)

    def begin_giving_up(self, row: WaitingRow, rounds: int) -> None:
        """A row leaves without a label once more rounds than these are learnt."""
        self.change = Change(row, "leave", rounds, given_up=self.given_up + 1)

    def begin_playing(self, row: WaitingRow, rounds: int) -> None:
        """The next row of the line is played once more rounds than these are learnt."""
        self.change = Change(row, "play", rounds)

    def cancel(self) -> None:
        """Drop the noted change, which was refused."""
        self.change = None

    def settle(self, rounds: int) -> None:
        """Make the change that was noted, if ``rounds`` learnt so far say so."""
        change = self.change
        if change is None:
            return
        if change.rounds is None or rounds > change.rounds:
            row = change.row
            if change.kind == "play":
                self.next_number = row.number + 1
                self._leave_line()
            elif change.kind == "leave":
                self._leave(change)
            else:
                self.rows[row.key] = row
                if not (self.line and self.line[-1] is row):
                    self.line.append(row)
        self.change = None

    def _leave(self, change: Change) -> None:
        row = change.row
        row.label, row.weight = change.label, change.weight
        if change.given_up > self.given_up:
            self.lost_keys[row.key] = None
            while len(self.lost_keys) > MAX_LOST_KEYS:
                del self.lost_keys[next(iter(self.lost_keys))]
        self.waited, self.given_up = change.waited, change.given_up
        if row.number >= self._asked:
            self._asked = row.number + 1
        if self.rows.get(row.key) is row:
            del self.rows[row.key]

    def _leave_line(self) -> None:
        """Forget the rows whose labels have been learnt."""
        while self.line and self.line[0].number < self.next_number - self.delay:
            self.line.popleft()

    def clear_line(self) -> None:
        """Forget all rows of the line: none of them waits."""
        self.next_number = self.count_asked()
        self.line.clear()

    def copy(self, change: Callable[[Any], Any] | None = None) -> "WaitingRows":
        """The same rows by themselves, their features as ``change`` has them."""
        copy = restore_waiting_rows(self.snapshot(), self.delay)
        if change is not None:
            for row in copy.line or copy.rows.values():
                row.x = change(row.x)
        return copy

    def snapshot(self) -> WaitingRowsState:
        """All rows as a file holds them."""
        rows = list(self.line) if self.delay else list(self.rows.values())
        shapes = {np.shape(row.label) for row in rows if row.label is not None}
        shape = shapes.pop() if shapes else ()
        unknown = np.full(shape, np.nan)
        labels = [unknown if row.label is None else row.label for row in rows]
        return WaitingRowsState(
            tuple(row.key for row in rows),
            np.array([row.number for row in rows], np.float64),
            np.array([row.x for row in rows]) if rows else np.empty((0, 0)),
            np.array([self.is_waiting(row) for row in rows], np.float64),
            np.array(labels, np.float64).reshape(len(rows), *shape),
            np.array([row.weight for row in rows], np.float64),
            self.next_number, self.count_asked(), self.given_up,
            tuple(self.lost_keys), self.waited,
        )  # fmt: skip


def restore_waiting_rows(state: WaitingRowsState, delay: int) -> WaitingRows:
    """The rows of a snapshot; ``delay`` is the learner's."""
    restored = WaitingRows(delay)
    labels = [None if np.isnan(label).any() else label for label in state.labels]
    if state.labels.ndim == 1:
        labels = [None if label is None else float(label) for label in labels]
    for k, key in enumerate(state.keys):
        x, weight = np.array(state.x[k]), float(state.weights[k])
        row = WaitingRow(key, int(state.numbers[k]), x, labels[k], weight)
        if state.is_waiting[k]:
            restored.rows[key] = row
        if delay:
            restored.line.append(row)
    restored.next_number, restored._asked = state.next_number, state.asked
    restored.given_up, restored.waited = state.given_up, state.waited
    restored.lost_keys = dict.fromkeys(state.lost_keys)
    return restored


def is_key(key: Any) -> bool:
    """Whether rows may wait under it: a string, or an integer that files can hold."""
    return type(key) is str or (type(key) is int and abs(key) <= MAX_INTEGER)


def _as_key(key: Any) -> Key:
    if type(key) is not str and isinstance(key, np.integer | np.str_):
        key = key.item()
    if not is_key(key):
        raise InvalidParameterError(
            f"A key must be a string or an integer of 64 bits. Got {key!r:.80} instead."
        )
    return key  # type: ignore[no-any-return]
