"""The process of ``thalweg serve``: one port, one writer, until a signal ends it."""

import asyncio
import gc
import logging
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI

from thalweg.errors import InvalidParameterError, StorageError
from thalweg.imputer import MissingPolicy
from thalweg.learners import Learner
from thalweg.models import Online
from thalweg.serve.application import create_app
from thalweg.serve.connections import connection_class
from thalweg.serve.limits import Limits
from thalweg.serve.model_writer import ModelWriter

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
GC_THRESHOLDS = (50_000, 20, 50)
"""Thresholds of garbage collection: with Python's own, (700, 10, 10), it takes half of
the time of a commit of 32 rows."""
BACKLOG = 2048
"""Limit of the number of connections that wait to be accepted."""
ACCEPTED = 8
"""Limit of the connections that asyncio accepts before it looks at any of them: so that
too many are refused while there are files left."""
SHUTDOWN_S = 10
"""Seconds that a server waits for open requests before it ends."""


def run_server(
    path: Path, learner: Learner[Any] | None = None, host: str = "127.0.0.1",
    port: int = 8000, token: str | None = None, limits: Limits | None = None,
    missing: MissingPolicy | None = None, allowed_hosts: Iterable[str] = (),
    on_ready: Callable[[str], None] | None = None, **storage: Any,
) -> None:  # fmt: skip
    """Serve the models in the file ``path`` until SIGTERM or SIGINT.

    ``learner`` and ``missing`` are as in ``KeyedModels``: those of the file, if not
    given; so are ``memory`` and ``ttl``, in ``storage``. ``allowed_hosts`` are names of
    this server besides ``host`` and those of the loopback interface. ``on_ready`` gets
    the address once requests are taken.
    """
    if token is None and host not in LOOPBACK:
        raise InvalidParameterError(
            f"On {host} others could reach the models. Give a token: --token-file FILE."
        )
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    with open_port(host, port) as listener:  # before a file is made
        writer = ModelWriter(path, learner, limits, missing, **storage)
        _compile(writer.learner)
        app = create_app(writer, token, {host, *LOOPBACK, *allowed_hosts})
        run_app(app, writer, listener, on_ready)


def open_port(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
        # Connections inherit it. Without it the second half of an answer waits for the
        # client to acknowledge the first, some 40 ms; asyncio does not know by the
        # protocol 0 of such a socket that it is one of TCP.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        raise StorageError(
            f"The port {port} of {host} cannot be opened: {error.strerror}. Choose "
            "another: --port."
        ) from None


def run_app(
    app: FastAPI, writer: ModelWriter, listener: socket.socket,
    on_ready: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Serve an application on a socket until SIGTERM or SIGINT."""
    config = uvicorn.Config(
        app, access_log=False, log_level="warning",
        http=connection_class(writer.limits),
        timeout_graceful_shutdown=SHUTDOWN_S, server_header=False, backlog=ACCEPTED,
    )  # fmt: skip
    # Imported objects stay, so the cycle collector need not visit them again; and rows
    # are freed without it, while each of its passes visits all models.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    asyncio.run(ModelServer(config, writer, on_ready).serve([listener]))


class ModelServer(uvicorn.Server):
    """A server that closes live pages when it is asked to end."""

    def __init__(
        self, config: uvicorn.Config, writer: ModelWriter,
        on_ready: Callable[[str], None] | None,
    ) -> None:  # fmt: skip
        super().__init__(config)
        self._writer, self._on_ready = writer, on_ready

    async def startup(self, sockets: Any = None) -> None:
        """Open the port, and say where it is."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # asyncio has made it that of its own
        if self.started and self._on_ready is not None:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            name = f"[{host}]" if ":" in host else host
            self._on_ready(f"http://{name}:{port}")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End soon: streams of events would never end by themselves."""
        super().handle_exit(sig, frame)
        asyncio.get_running_loop().call_soon_threadsafe(self._writer.feed.close)


def _compile(learner: Learner[Any] | None) -> None:
    """Compile what the first rows need, before clients wait for it."""
    model = Online(learner)
    for _ in range(2):
        model.update(np.zeros(1), 0.0)
