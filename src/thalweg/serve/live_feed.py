"""The last rows that keys have learnt, and those who watch them come."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

MAX_ROWS = 300
"""Rows of a key that are kept for a page that is opened later."""
MAX_KEYS = 256
"""Keys of which rows are kept: those that have learnt most recently."""


class LiveRow(NamedTuple):
    """A row that was learnt. The band and the memory are known of watched keys only."""

    x: Any
    y: float
    prediction: float
    low: float | None = None
    high: float | None = None
    memory: float | None = None  # how many past rows count


class Watcher:
    """What one reader has not yet fetched: the newest rows, should it be slow."""

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
        """Tell the reader that no more rows will come."""
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
    """Rows by key, for pages that watch them. Only the event loop's thread calls it."""

    def __init__(self) -> None:
        self._recent: OrderedDict[str, deque[LiveRow]] = OrderedDict()
        self._watchers: dict[str, set[Watcher]] = {}

    @property
    def watched_keys(self) -> Iterable[str]:
        """The keys whose bands and memory are wanted."""
        return self._watchers.keys()

    def count_watchers(self) -> int:
        """How many readers there are."""
        return sum(map(len, self._watchers.values()))

    def publish(self, key: str, row: LiveRow) -> None:
        """Give a row, which has been committed, to those who watch its key."""
        recent = self._recent.get(key)
        if recent is None:
            recent = self._recent[key] = deque(maxlen=MAX_ROWS)
            if len(self._recent) > MAX_KEYS:
                self._recent.popitem(last=False)
        else:
            self._recent.move_to_end(key)
        recent.append(row)
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
        """Tell all readers that no more rows will come."""
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.close()
