"""The process of ``thalweg serve``: one port, one writer, until a signal ends it."""

import asyncio
import gc
import logging
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import uvicorn
from fastapi import FastAPI

from thalweg.errors import InvalidParameterError, StorageError
from thalweg.learners import Learner
from thalweg.models import Online
from thalweg.preprocessing.imputer import MissingPolicy
from thalweg.serve.application import create_app
from thalweg.serve.limits import Limits
from thalweg.serve.model_writer import ModelWriter

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
GC_THRESHOLDS = (50_000, 20, 50)
"""Python's own, (700, 10, 10), take half of the time of a commit of 32 rows."""
SHUTDOWN_S = 10
"""How long a server that was asked to end waits for requests in hand."""


def run_server(
    path: Path, learner: Learner[Any] | None = None, host: str = "127.0.0.1",
    port: int = 8000, token: str | None = None, limits: Limits | None = None,
    missing: MissingPolicy | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Serve the models in the file ``path`` until SIGTERM or SIGINT.

    ``learner`` and ``missing`` are as in ``KeyedModels``: those of the file, if not
    given. ``on_ready`` gets the address once requests are taken.
    """
    if token is None and host not in LOOPBACK:
        raise InvalidParameterError(
            f"On {host} others could reach the models. Give a token: --token-file FILE."
        )
    logging.basicConfig(level=logging.WARNING)
    writer = ModelWriter(path, learner, limits, missing)
    _compile(writer.learner)
    run_app(create_app(writer, token), writer, host, port, on_ready)


def run_app(
    app: FastAPI, writer: ModelWriter, host: str, port: int,
    on_ready: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Serve an application until SIGTERM or SIGINT."""
    config = uvicorn.Config(
        app, host=host, port=port, access_log=False, log_level="warning",
        timeout_graceful_shutdown=SHUTDOWN_S, server_header=False,
    )  # fmt: skip
    # What was imported stays, so the collector of cycles need not look at it again; and
    # rows come and go without cycles, while each of its looks goes through all models.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        asyncio.run(ModelServer(config, writer, on_ready).serve())
    except SystemExit:  # uvicorn has logged that the port could not be opened
        raise StorageError(
            f"The port {port} of {host} cannot be opened: another program has it, or "
            "it is not allowed. Choose another: --port."
        ) from None


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
