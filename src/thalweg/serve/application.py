"""The application: the server's own routes under /v1, those of a standard under /v2."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import ClientDisconnect

from thalweg import __version__
from thalweg.errors import ThalwegError
from thalweg.serve.access import AccessMiddleware
from thalweg.serve.inference_protocol import inference_router
from thalweg.serve.json_response import (
    error_response,
    error_status,
    json_numbers,
    json_response,
)
from thalweg.serve.key_predictions import forecast_rows, predict_rows
from thalweg.serve.live_page import live_router
from thalweg.serve.metrics import CONTENT_TYPE
from thalweg.serve.model_writer import ModelWriter
from thalweg.serve.openapi_bodies import (
    FORECAST,
    OBSERVE,
    OBSERVE_MANY,
    PREDICT,
    describe_routes,
)
from thalweg.serve.request_body import (
    parse_object,
    quote,
    read_body,
    read_feature_rows,
    read_interval,
    read_json,
    read_key,
    read_rows,
)
from thalweg.serve.request_journal import request_digest
from thalweg.serve.row_outcomes import OUTCOMES, RowResult

IDEMPOTENCY_KEY = "idempotency-key"
DEFAULT_BAND = 0.9
"""Default coverage of the bands of forecasts."""
MAX_LISTED_KEYS = 1000
logger = logging.getLogger(__name__)


def create_app(
    writer: ModelWriter, token: str | None = None, hosts: Iterable[str] | None = None
) -> FastAPI:
    """The application that serves the models of ``writer``, which it starts and stops.

    Where there is a ``token``, requests must bring it; where there is none, they must
    name one of the ``hosts`` (None: any).
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        writer.start()
        yield
        writer.feed.close()
        await writer.stop()

    app = FastAPI(
        title="thalweg", version=__version__, lifespan=lifespan,
        docs_url=None, redoc_url=None,  # their pages load scripts from elsewhere
    )  # fmt: skip
    app.state.writer = writer
    app.add_middleware(
        AccessMiddleware, token=token, hosts=hosts, metrics=writer.metrics
    )
    app.add_exception_handler(StarletteHTTPException, _answer_http_error)
    app.add_exception_handler(ThalwegError, _answer_library_error)
    app.add_exception_handler(ClientDisconnect, _answer_disconnected)
    app.add_exception_handler(Exception, _answer_defect)
    _add_hot_routes(app, writer)
    app.include_router(_router(writer))
    app.include_router(inference_router(writer))
    app.include_router(live_router(writer))
    describe_routes(app)
    return app


def _add_hot_routes(app: FastAPI, writer: ModelWriter) -> None:
    """The routes that are called for every row.

    They are Starlette's, on which FastAPI is built: reading parameters in FastAPI's way
    takes longer than a row does. What is said of them: openapi_bodies.py.
    """
    limits = writer.limits

    async def observe(request: Request) -> Response:
        return await _observe(writer, request, read_key(request, limits))

    async def observe_many(request: Request) -> Response:
        return await _observe(writer, request, None)

    async def predict(request: Request) -> Response:
        body = await read_json(request, limits)
        _require_fields(body, {"x", "interval"})
        rows, is_single = read_feature_rows(body, limits)
        interval = read_interval(body.get("interval"))
        key = read_key(request, limits)
        found = await predict_rows(writer, key, rows, interval)
        if is_single:
            return json_response({name: values[0] for name, values in found.items()})
        return json_response(found)

    async def forecast(request: Request) -> Response:
        body = await read_json(request, limits)
        _require_fields(body, {"x", "interval"})
        rows, _ = read_feature_rows(body, limits)
        interval = read_interval(body.get("interval")) or DEFAULT_BAND
        key = read_key(request, limits)
        return json_response(await forecast_rows(writer, key, rows, interval))

    for path, endpoint in (
        (OBSERVE, observe),
        (OBSERVE_MANY, observe_many),
        (PREDICT, predict),
        (FORECAST, forecast),
    ):
        app.router.add_route(path, endpoint, ["POST"])


def _router(writer: ModelWriter) -> APIRouter:
    router = APIRouter()

    @router.get("/v1/models")
    async def models(prefix: str = "", after: str = "") -> Response:
        """Keys in order, those that begin with `prefix`, `after` another."""
        async with writer.reading() as keyed:
            keys = await asyncio.to_thread(keyed.keys)
        found = [key for key in keys if key.startswith(prefix) and key > after]
        return json_response(
            {"keys": found[:MAX_LISTED_KEYS], "more": len(found) > MAX_LISTED_KEYS}
        )

    @router.head("/health", include_in_schema=False)  # as load balancers ask
    @router.get("/health")
    async def health() -> Response:
        """Whether models can be read: 200, or 503 with the reason."""
        async with writer.reading() as keyed:
            offset = keyed.offset
        waiting = writer.metrics.waiting_rows
        return json_response(
            {"status": "ok", "version": __version__, "last_seq": offset,
             "waiting_rows": waiting}
        )  # fmt: skip

    @router.get("/metrics")
    async def metrics() -> Response:
        """Counters for Prometheus."""
        writer.metrics.watchers = writer.feed.count_watchers()
        return Response(writer.metrics.as_text(), media_type=CONTENT_TYPE)

    return router


async def _observe(writer: ModelWriter, request: Request, key: str | None) -> Response:
    limits = writer.limits
    raw = await read_body(request, limits)
    body, digest = parse_object(raw), b""
    name = request.headers.get(IDEMPOTENCY_KEY)
    if name is not None:
        if not 0 < len(name) <= limits.key_bytes:
            raise HTTPException(
                400,
                f"An Idempotency-Key is text of 1 to {limits.key_bytes} characters. "
                f"Got {quote(name)} instead.",
            )
        digest = request_digest(request.url.path, raw)
    rows = read_rows(body, limits, key, needs_seq=name is None)
    results = await writer.observe(rows, name, digest)
    if "rows" not in body:
        return _single_response(results[0])
    outcomes = [result.outcome for result in results]
    counts = {name: outcomes.count(name) for name in OUTCOMES}
    return json_response({**counts, "results": [*map(_as_json, results)]})


def _single_response(result: RowResult) -> Response:
    if result.error is not None:
        return error_response(result.error, 409 if result.outcome == "late" else 422)
    return json_response(_as_json(result))


def _as_json(result: RowResult) -> dict[str, Any]:
    head = {"key": result.key, "seq": result.seq, "outcome": result.outcome}
    if result.error is not None:
        return {**head, "error": result.error}
    return {**head, "prediction": json_numbers(result.prediction)}


def _require_fields(body: dict[str, Any], known: set[str]) -> None:
    unknown = sorted(body.keys() - known)
    if unknown:
        raise HTTPException(
            400,
            f"The body may have {' and '.join(sorted(known))}. Got {quote(unknown[0])} "
            "as well.",
        )


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    return error_response(str(error.detail), error.status_code, error.headers)


async def _answer_library_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ThalwegError)
    return error_response(str(error), error_status(error))


async def _answer_disconnected(request: Request, error: Exception) -> Response:
    return error_response("The client has closed the connection.", 400)


async def _answer_defect(request: Request, error: Exception) -> Response:
    logger.error("A request failed.", exc_info=error)
    return error_response("The server failed. Its log says why.", 500)
