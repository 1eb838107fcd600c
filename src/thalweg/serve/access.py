"""Access to the server: by its own name, and with the token where there is one.

A web page can let its own host name resolve to 127.0.0.1 (DNS rebinding) and then reads
and writes what a server without a token serves there. Its requests carry its own name
in the header Host, so that those of other names are refused.
"""

import hmac
from collections.abc import Iterable
from typing import Any

from thalweg.serve.json_response import error_response
from thalweg.serve.metrics import Metrics

OPEN_PATHS = frozenset({"/", "/health", "/v2/health/live", "/v2/health/ready"})
"""Paths without a token: those of probes, and the page, which asks for the token."""


class AccessMiddleware:
    """Refuses requests to other hosts and those without the token; counts responses.

    ``hosts`` are the names in the header Host that are served; None: all of them, as
    where a token is asked for, which a foreign page does not have.
    """

    def __init__(
        self, app: Any, token: str | None, hosts: Iterable[str] | None, metrics: Metrics
    ) -> None:
        self.app, self.metrics = app, metrics
        self._expected = None if token is None else f"Bearer {token}".encode()
        self._hosts = None
        if hosts is not None and token is None:
            self._hosts = frozenset(host.lower().encode() for host in hosts)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_and_count(message: Any) -> None:
            if message["type"] == "http.response.start":
                # Not by path: paths contain keys, and there are too many of them.
                name = getattr(scope.get("endpoint"), "__name__", "none")
                self.metrics.responses[name, message["status"]] += 1
            await send(message)

        if not self._is_our_host(scope["headers"]):
            response = error_response(
                "This server does not serve the host that the request names. Name it: "
                "--allowed-host.",
                421,
            )
        elif scope["path"] in OPEN_PATHS or self._is_authorised(scope["headers"]):
            await self.app(scope, receive, send_and_count)
            return
        else:
            response = error_response(
                "This needs the server's token, in the header Authorization: Bearer "
                "TOKEN.",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
        await response(scope, receive, send_and_count)

    def _is_our_host(self, headers: list[tuple[bytes, bytes]]) -> bool:
        if self._hosts is None:
            return True
        given = [value for name, value in headers if name == b"host"]
        return len(given) == 1 and _without_port(given[0]).lower() in self._hosts

    def _is_authorised(self, headers: list[tuple[bytes, bytes]]) -> bool:
        if self._expected is None:
            return True
        given = [value for name, value in headers if name == b"authorization"]
        # In constant time, so that the duration of a comparison does not reveal how
        # much of a guess is right.
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def _without_port(host: bytes) -> bytes:
    """The name or address: of ``[::1]:8000`` that is ``::1``."""
    if host.startswith(b"["):
        return host[1:].partition(b"]")[0]
    return host.partition(b":")[0]
