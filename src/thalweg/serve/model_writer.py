"""The one writer of a server: requests are learnt in one order, and committed together.

Requests wait in a queue. The writer takes all that are there, learns their rows one
after the other, flushes once (a group commit) and only then answers. Requests that
arrive meanwhile are the next group: the slower the disk, the larger the groups.

Readers wait for the present group, so that nothing is predicted from rows that a crash
could still undo. After a failed commit the models in memory are dropped and the file is
opened again: the disk is authoritative.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fastapi import HTTPException

from thalweg.errors import PersistenceError, StorageError
from thalweg.imputer import MissingPolicy
from thalweg.keyed import KeyedModels
from thalweg.keyed.keyed_model import count_array_bytes
from thalweg.learners import Learner
from thalweg.serve.limits import Limits
from thalweg.serve.live_feed import LiveFeed, LiveRow
from thalweg.serve.metrics import Metrics
from thalweg.serve.request_body import Row
from thalweg.serve.request_journal import JournalEntry, RequestJournal
from thalweg.serve.row_outcomes import (
    LastSeqs,
    ModelBudget,
    RowResult,
    is_written,
    learn_row,
)

OTHER_REQUEST = (
    "This Idempotency-Key was used for another request. Each request needs its own."
)
logger = logging.getLogger(__name__)


class ObserveRequest:
    """Rows to learn, and the future that is resolved when they are on the disk."""

    def __init__(
        self, rows: list[Row], idempotency_key: str | None, digest: bytes
    ) -> None:
        self.rows, self.idempotency_key, self.digest = rows, idempotency_key, digest
        self.done: asyncio.Future[list[RowResult]] = (
            asyncio.get_running_loop().create_future()
        )


class CommittedGroup(NamedTuple):
    """The outcome of each request of a group: results, or an error."""

    results: list[list[RowResult] | Exception]
    live_rows: list[tuple[str, LiveRow]]
    seconds: float


class ModelWriter:
    """``KeyedModels`` for concurrent requests."""

    def __init__(
        self, path: Path, learner: Learner[Any] | None = None,
        limits: Limits | None = None, missing: MissingPolicy | None = None,
        **storage: Any,
    ) -> None:  # fmt: skip
        self.path, self.learner, self.missing = path, learner, missing
        self._storage = storage  # further arguments of ``KeyedModels``
        self.limits = Limits() if limits is None else limits
        self.metrics = Metrics()
        self.feed = LiveFeed(self.limits.live_bytes)
        self._queue: deque[ObserveRequest] = deque()
        self._lock = asyncio.Lock()  # held by readers, and while a group is committed
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "thalweg-writer")
        self._models: KeyedModels | None = None
        self._journal: RequestJournal | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._last_seqs = LastSeqs()
        self._model_sizes: dict[int, int] = {}  # bytes of a new model, by features
        self._open()  # a file that cannot be used is refused before a port is open

    def start(self) -> None:
        """Begin to work off the queue, in the running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """Commit what waits, and close the file."""
        self._is_stopping = True
        self._arrived.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()
        try:
            self._close()
        except StorageError as error:
            # Not an error of the rows: what was acknowledged is in the file.
            logger.error("The models could not be written once more: %s", error)
            self._discard()

    async def observe(
        self, rows: list[Row], idempotency_key: str | None = None, digest: bytes = b""
    ) -> list[RowResult]:
        """Learn rows; returns when they are on the disk."""
        metrics = self.metrics
        if metrics.waiting_rows + len(rows) > self.limits.waiting_rows:
            raise HTTPException(
                503,
                f"{metrics.waiting_rows:,} rows wait to be written. Try again later.",
                {"Retry-After": "1"},
            )
        request = ObserveRequest(rows, idempotency_key, digest)
        metrics.waiting_rows += len(rows)
        self._queue.append(request)
        self._arrived.set()
        return await request.done

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[KeyedModels]:
        """The models, with nothing in them that is not on the disk."""
        async with self._lock:
            yield self._open()

    async def _work(self) -> None:
        """Commit one group after the other."""
        while not self._is_stopping:
            await self._arrived.wait()
            self._arrived.clear()
            while group := self._next_group():
                async with self._lock:
                    watched = frozenset(self.feed.watched_keys)
                    committed = await asyncio.get_running_loop().run_in_executor(
                        self._thread, self._commit, group, watched
                    )
                self._answer(group, committed)

    def _next_group(self) -> list[ObserveRequest]:
        """The next requests that are committed together, limited in rows and in bytes
        of models to write, so that other requests need not wait long."""
        group: list[ObserveRequest] = []
        rows = size = 0
        while self._queue:
            request = self._queue[0]
            rows += len(request.rows)
            size += self._written_model_bytes(request)
            if group and (
                rows > self.limits.commit_rows or size > self.limits.model_bytes
            ):
                break
            group.append(self._queue.popleft())
        return group

    def _written_model_bytes(self, request: ObserveRequest) -> int:
        """The bytes of models that a request may have written.

        A request alone never makes more than ``limits.model_bytes``.
        """
        features = {
            row.key: len(row.x)
            for row in request.rows
            if is_written(row.key not in self._last_seqs, row)
        }
        size = sum(map(self._model_size, features.values()))
        return min(size, self.limits.model_bytes)

    def _model_size(self, features: int) -> int:
        """The bytes of a new model's state."""
        if features not in self._model_sizes:
            learner = self._open().learner
            state = learner.init(np.zeros(features + 1))
            self._model_sizes[features] = count_array_bytes(state)
        return self._model_sizes[features]

    def _answer(self, group: list[ObserveRequest], committed: CommittedGroup) -> None:
        metrics, rows = self.metrics, sum(len(request.rows) for request in group)
        metrics.waiting_rows -= rows
        for request, results in zip(group, committed.results, strict=True):
            is_gone = request.done.done()  # its client has closed the connection
            if isinstance(results, Exception):
                if not is_gone:
                    request.done.set_exception(results)
                continue
            for result in results:
                metrics.rows[result.outcome] += 1
            if not is_gone:
                request.done.set_result(results)
        if all(isinstance(results, StorageError) for results in committed.results):
            metrics.failed_commits += 1
            return
        metrics.add_commit(committed.seconds)
        for key, row in committed.live_rows:
            self.feed.publish(key, row)

    def _commit(
        self, group: list[ObserveRequest], watched: frozenset[str]
    ) -> CommittedGroup:
        """Learn the rows of a group and flush. Runs in the writer's thread."""
        start = time.perf_counter()
        live_rows: list[tuple[str, LiveRow]] = []
        results: list[list[RowResult] | Exception] = []
        try:
            models, seqs = self._open(), self._last_seqs
            for rows in self._number_rows(models, group):
                if isinstance(rows, Exception):
                    results.append(rows)
                    continue
                budget = ModelBudget(self._model_size, self.limits.model_bytes)
                results.append(
                    [
                        learn_row(
                            models, seqs, row, row.key in watched, live_rows, budget
                        )
                        for row in rows
                    ]
                )
            models.flush()
        except Exception as error:
            self._discard()
            if not isinstance(error, StorageError):
                # A model that cannot be saved is no reason to refuse other clients.
                if len(group) > 1:
                    return self._commit_one_by_one(group, watched)
                logger.warning("A commit failed.", exc_info=error)
            return CommittedGroup([error] * len(group), [], 0.0)
        return CommittedGroup(results, live_rows, time.perf_counter() - start)

    def _commit_one_by_one(
        self, group: list[ObserveRequest], watched: frozenset[str]
    ) -> CommittedGroup:
        """Each request in a transaction of its own."""
        parts = [self._commit([request], watched) for request in group]
        return CommittedGroup(
            [result for part in parts for result in part.results],
            [row for part in parts for row in part.live_rows],
            sum(part.seconds for part in parts),
        )

    def _number_rows(
        self, models: KeyedModels, group: list[ObserveRequest]
    ) -> list[list[Row] | Exception]:
        """The rows of each request with their sequence numbers, which are then safe."""
        if all(request.idempotency_key is None for request in group):
            return [request.rows for request in group]
        assert self._journal is not None
        entries: dict[str, JournalEntry] = {}
        numbered: list[list[Row] | Exception] = []
        newest: dict[str, int] = {}  # of each key, after the requests before
        for request in group:
            name, rows = request.idempotency_key, request.rows
            if name is not None:
                try:
                    known = _find_seqs(self._journal, entries, name)
                except PersistenceError as error:
                    numbered.append(HTTPException(422, str(error)))
                    continue
                if known is not None and known[0] != request.digest:
                    numbered.append(HTTPException(422, OTHER_REQUEST))
                    continue
                rows = self._assign(models, rows, newest, known)
                if known is None:
                    entries[name] = JournalEntry(name, request.digest, tuple(rows))
            for row in rows:
                newest[row.key] = max(newest.get(row.key, -1), row.seq or 0)
            numbered.append(rows)
        self._journal.commit(entries.values())
        return numbered

    def _assign(
        self, models: KeyedModels, rows: list[Row], newest: dict[str, int],
        known: tuple[bytes, list[int]] | None,
    ) -> list[Row]:  # fmt: skip
        """The rows with the numbers that they had, or with the next ones."""
        if known is not None:
            return [
                row._replace(seq=seq) for row, seq in zip(rows, known[1], strict=True)
            ]
        numbered = []
        for row in rows:
            last = max(newest.get(row.key, -1), self._last_seqs.get(models, row.key))
            newest[row.key] = last + 1
            numbered.append(row._replace(seq=last + 1))
        return numbered

    def _open(self) -> KeyedModels:
        """The models; after a failure, those on the disk."""
        if self._models is None:
            models = KeyedModels(
                self.path, self.learner, missing=self.missing, **self._storage
            )
            try:
                capacity = self.limits.idempotency_keys
                self._journal = RequestJournal(models.path, capacity)
                _settle(models, self._journal)
            except BaseException as error:
                models.__exit__(type(error), error, None)
                raise
            self._models, self.learner = models, models.learner
        return self._models

    def _discard(self) -> None:
        """Forget what is in memory only."""
        models, journal = self._models, self._journal
        self._models = self._journal = None
        self._last_seqs.clear()
        with suppress(StorageError):
            if journal is not None:
                journal.close()
        with suppress(StorageError):
            if models is not None:  # a block left by an error is not flushed
                models.__exit__(StorageError, None, None)

    def _close(self) -> None:
        if self._models is not None:
            self._models.close()
        if self._journal is not None:
            self._journal.close()


def _find_seqs(
    journal: RequestJournal, entries: dict[str, JournalEntry], name: str
) -> tuple[bytes, list[int]] | None:
    if name in entries:  # twice in one group
        entry = entries[name]
        return entry.digest, [row.seq or 0 for row in entry.rows]
    return journal.find(name)


def _settle(models: KeyedModels, journal: RequestJournal) -> None:
    """Learn the rest of requests that a crash has interrupted, or none of them."""
    forgotten, entries, seqs = [], journal.open_requests(), LastSeqs()
    for entry in entries:
        if any(_is_learnt(models, row) for row in entry.rows):
            for row in entry.rows:
                learn_row(models, seqs, row, False, [])
        else:
            forgotten.append(entry.idempotency_key)
    models.flush()
    if entries:
        journal.settle(forgotten)


def _is_learnt(models: KeyedModels, row: Row) -> bool:
    last = models.last_seq(row.key)
    return last is not None and row.seq is not None and row.seq <= last
