"""Connections of the server: their number, and how long a request may take.

uvicorn has neither limit: a client that sends half a request keeps its connection for
ever, and enough of them leave no file for anybody else.
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from thalweg.serve.limits import Limits

RESERVED_FILES = 64
"""Number of open files that are kept for the models, the log and the libraries."""


def connection_class(limits: Limits) -> type[asyncio.Protocol]:
    """The protocol of one server's connections, which share these limits."""
    waiting: dict[LimitedConnection, None] = {}  # those that wait, the oldest first
    settings = {"limits": limits, "waiting": waiting, "capacity": _capacity(limits)}
    return type("Connection", (LimitedConnection,), settings)


def _capacity(limits: Limits) -> int:
    """The limit of connections, less where the process may open fewer files."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(1, min(limits.connections, files - RESERVED_FILES))


class LimitedConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A connection that is closed if its request does not come in time.

    Where there are too many connections, the one that has waited longest for its client
    makes room for a new one; if none waits, the new one is closed.
    """

    limits: Limits
    waiting: dict["LimitedConnection", None]
    capacity: int
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        if len(self.connections) > self.capacity:
            oldest = next(iter(self.waiting), self)
            oldest.transport.abort()
            oldest.connections.discard(oldest)
            self.waiting.pop(oldest, None)
            if oldest is self:
                return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request have come."""
        super().data_received(data)
        if self._is_complete():
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def on_response_complete(self) -> None:
        """A response was sent; the next request may have begun already."""
        super().on_response_complete()
        if not self._is_complete():
            self.waiting[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection was closed."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_complete(self) -> bool:
        """Whether a whole request has come that is not answered yet."""
        cycle = self.cycle
        return cycle is not None and not (cycle.response_complete or cycle.more_body)

    def _wait(self) -> None:
        """Close the connection unless a whole request comes in time."""
        self.waiting[self] = None
        seconds = self.limits.request_seconds
        self._deadline = self.loop.call_later(seconds, self._close)

    def _stop_waiting(self) -> None:
        self.waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close(self) -> None:
        self._deadline = None
        if not self._is_complete() and not self.transport.is_closing():
            self.transport.abort()
