"""Who may ask for what: a token for all but the health and the empty page."""

import hmac
from typing import Any

from thalweg.serve.json_response import error_response
from thalweg.serve.metrics import Metrics

OPEN_PATHS = frozenset({"/", "/health", "/v2/health/live", "/v2/health/ready"})
"""Probes have no token; the page asks for one, and shows nothing without."""


class TokenMiddleware:
    """Refuses requests without the token, where there is one, and counts responses."""

    def __init__(self, app: Any, token: str | None, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics
        self._expected = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_and_count(message: Any) -> None:
            if message["type"] == "http.response.start":
                # Not by path: those hold keys, of which there are too many.
                name = getattr(scope.get("endpoint"), "__name__", "none")
                self.metrics.responses[name, message["status"]] += 1
            await send(message)

        if scope["path"] in OPEN_PATHS or self._is_authorised(scope["headers"]):
            await self.app(scope, receive, send_and_count)
            return
        response = error_response(
            "This needs the server's token, in the header Authorization: Bearer TOKEN.",
            401,
            {"WWW-Authenticate": "Bearer"},
        )
        await response(scope, receive, send_and_count)

    def _is_authorised(self, headers: list[tuple[bytes, bytes]]) -> bool:
        if self._expected is None:
            return True
        given = [value for name, value in headers if name == b"authorization"]
        # In constant time: how long a comparison takes must not tell how much of a
        # guess is right.
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)
