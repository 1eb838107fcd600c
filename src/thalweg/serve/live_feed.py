"""The last rows that keys have learnt, and those who watch them come.

What is kept of a row has a bounded size, whatever the client sent: its target and
prediction, and the first columns, by which changes are found.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

MAX_ROWS = 300
"""Limit of the rows of a key that are kept for a page that is opened later."""
MAX_COLUMNS = 16
"""Limit of the number of columns that are kept: the change detector uses no more."""
MAX_NAME = 60
"""Limit of the characters of a column's name that are kept."""
ROW_BYTES = 500
"""Bytes of a row without its columns: Python's objects, and its place in a queue."""


class LiveRow(NamedTuple):
    """A row that was learnt. The band and the memory are known of watched keys only."""

    columns: tuple[float, ...]
    names: tuple[str, ...]  # of these columns
    y: float
    prediction: float
    low: float | None = None
    high: float | None = None
    memory: float | None = None  # how many past rows count


def live_columns(x: Any) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The first columns of numbers of a row, and their names.

    Named columns are in the order of their names: that of a JSON object means nothing.
    """
    if not isinstance(x, dict):
        values = tuple(map(float, x[:MAX_COLUMNS]))
        return values, tuple(f"x[{k}]" for k in range(len(values)))
    names = sorted(name for name, value in x.items() if not isinstance(value, str))
    names = names[:MAX_COLUMNS]
    return tuple(float(x[name]) for name in names), tuple(n[:MAX_NAME] for n in names)


class Watcher:
    """Rows that one reader has not fetched yet; only the newest, if it is slow."""

    def __init__(self) -> None:
        self.rows: deque[LiveRow] = deque(maxlen=MAX_ROWS)
        self.missed = 0  # rows that were dropped before they were fetched
        self.is_closed = False
        self._arrived = asyncio.Event()

    def add(self, row: LiveRow) -> None:
        """Put a row where the reader will fetch it."""
        self.missed += len(self.rows) == MAX_ROWS
        self.rows.append(row)
        self._arrived.set()

    def close(self) -> None:
        """Notify the reader that no more rows will come."""
        self.is_closed = True
        self._arrived.set()

    async def fetch(self, timeout: float) -> tuple[list[LiveRow], int]:
        """New rows, and how many were missed before them; none after ``timeout``."""
        try:
            await asyncio.wait_for(self._arrived.wait(), timeout)
        except TimeoutError:
            pass
        self._arrived.clear()
        rows, missed = list(self.rows), self.missed
        self.rows.clear()
        self.missed = 0
        return rows, missed


class LiveFeed:
    """Rows by key, for pages that watch them. Only the event loop's thread calls it.

    Rows of ``max_bytes`` are kept for pages that are opened later: those of the keys
    that learnt most recently.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes, self.bytes = max_bytes, 0
        self._recent: OrderedDict[str, deque[LiveRow]] = OrderedDict()
        self._watchers: dict[str, set[Watcher]] = {}

    @property
    def watched_keys(self) -> Iterable[str]:
        """The keys whose bands and memory are wanted."""
        return self._watchers.keys()

    def count_watchers(self) -> int:
        """The number of readers."""
        return sum(map(len, self._watchers.values()))

    def publish(self, key: str, row: LiveRow) -> None:
        """Give a row, which has been committed, to those who watch its key."""
        recent = self._recent.get(key)
        if recent is None:
            recent = self._recent[key] = deque()
        elif recent and recent[-1].names == row.names:
            row = row._replace(names=recent[-1].names)  # one object for all rows
        self._recent.move_to_end(key)
        recent.append(row)
        self.bytes += _count_bytes(row)
        if len(recent) > MAX_ROWS:
            self.bytes -= _count_bytes(recent.popleft())
        while self.bytes > self.max_bytes:
            _, oldest = self._recent.popitem(last=False)
            self.bytes -= sum(map(_count_bytes, oldest))
        for watcher in self._watchers.get(key, ()):
            watcher.add(row)

    def recent(self, key: str) -> list[LiveRow]:
        """The last rows of a key that were learnt since the server was started."""
        return list(self._recent.get(key, ()))

    @contextmanager
    def watch(self, key: str) -> Iterator[Watcher]:
        """A watcher of the key's rows from now on."""
        watcher = Watcher()
        self._watchers.setdefault(key, set()).add(watcher)
        try:
            yield watcher
        finally:
            self._watchers[key].discard(watcher)
            if not self._watchers[key]:
                del self._watchers[key]

    def close(self) -> None:
        """Notify all readers that no more rows will come."""
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.close()


def _count_bytes(row: LiveRow) -> int:
    """The size of a row in memory, with names that it might not share with others."""
    return ROW_BYTES + 32 * len(row.columns) + sum(map(len, row.names))
