"""The live page of a key, and the server-sent events that bring it rows."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from markupsafe import Markup

from thalweg.evaluation.change_detector import ChangeDetector
from thalweg.report.live_charts import (
    MAX_ROWS,
    live_memory_figure,
    live_stream_figure,
)
from thalweg.report.page import chart_specs, render_page
from thalweg.serve.json_response import json_numbers
from thalweg.serve.live_feed import LiveRow, Watcher
from thalweg.serve.model_writer import ModelWriter
from thalweg.serve.request_body import check_key

ASSETS = Path(__file__).parent / "assets"
KEEP_ALIVE_S = 15.0
"""After so long without rows a comment is sent, lest proxies close the connection."""
GATHER_S = 0.1
"""Rows that come within this time are sent together."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src "
    "'unsafe-inline'; connect-src 'self'; img-src data: blob:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)


def live_router(writer: ModelWriter) -> APIRouter:
    """The page, and the events of a key."""
    router = APIRouter()

    @router.get("/")
    async def live_page() -> Response:
        """The live page: rows, forecasts, bands, memory and changes of a key."""
        page = await asyncio.to_thread(_render_live_page)
        headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-store"}
        return Response(page, headers=headers, media_type="text/html")

    @router.get("/v1/models/{key:path}/events")
    async def events(key: str) -> Response:
        """Rows of this key as they are learnt, as server-sent events."""
        stream = _events(writer, check_key(key, writer.limits))
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(
            stream, headers=headers, media_type="text/event-stream"
        )

    return router


@cache
def _render_live_page() -> str:
    figures = {
        figure.name: figure for figure in (live_stream_figure(), live_memory_figure())
    }
    return render_page(
        "live.html",
        ASSETS,
        figures=figures,
        specs=chart_specs(figures),
        max_rows=MAX_ROWS,
        script=Markup((ASSETS / "live.js").read_text(encoding="utf-8")),
    )


async def _events(writer: ModelWriter, key: str) -> AsyncIterator[str]:
    """First the last rows, then each that comes."""
    feed = writer.feed
    with feed.watch(key) as watcher:
        async with writer.reading() as models:
            is_known = models.last_seq(key) is not None
            rounds = models[key].rounds if is_known else 0
            recent = feed.recent(key)
            await watcher.fetch(0.0)  # these are among the recent ones
        story = LiveStory(rounds - len(recent))
        yield await story.event(recent, is_first=True)
        async for message in _new_rows(watcher, story):
            yield message


async def _new_rows(watcher: Watcher, story: "LiveStory") -> AsyncIterator[str]:
    while not watcher.is_closed:
        rows, missed = await watcher.fetch(KEEP_ALIVE_S)
        if not rows:
            yield ": waiting\n\n"
            continue
        await asyncio.sleep(GATHER_S)
        more, missed_more = await watcher.fetch(0.0)
        story.last_row += missed + missed_more
        yield await story.event([*rows, *more])


class LiveStory:
    """What one reader is told of a key: numbered rows, and the changes in them."""

    def __init__(self, last_row: int) -> None:
        self.last_row = last_row  # the number of the row told last
        self._detector: ChangeDetector | None = None
        self._alarms = 0  # of the detector, that were told

    async def event(self, rows: list[LiveRow], is_first: bool = False) -> str:
        """The event for these rows."""
        first = self.last_row + 1
        self.last_row += len(rows)
        told = [
            [number, *map(json_numbers, row[1:])]
            for number, row in enumerate(rows, first)
        ]
        # Statistics of rows may take a moment, and are compiled at first use.
        changes = await asyncio.to_thread(self._find_changes, rows, first)
        data = {"is_first": is_first, "rows": told, "changes": changes}
        return f"data: {json.dumps(data, allow_nan=False)}\n\n"

    def _find_changes(self, rows: list[LiveRow], first: int) -> list[list[Any]]:
        """[row of the onset, row of the alarm, words] of each new change."""
        numeric = [(k, row) for k, row in enumerate(rows, first) if _has_columns(row)]
        if not numeric:
            return []
        columns = np.array([_columns(row) for _, row in numeric])
        if self._detector is None or self._detector.columns != columns.shape[1]:
            self._detector, self._alarms = ChangeDetector(columns.shape[1]), 0
        detector = self._detector
        y = np.array([row.y for _, row in numeric])
        detector.add(y, columns, np.array([float(k) for k, _ in numeric]))
        count = detector.total - self._alarms
        self._alarms = detector.total
        alarms = detector.alarms(_names(rows[-1]))[-count:] if count else ()
        return [[alarm.onset, alarm.row, alarm.text] for alarm in alarms]


MAX_COLUMNS = 16
"""Columns that the change detector looks at."""


def _has_columns(row: LiveRow) -> bool:
    values = row.x.values() if isinstance(row.x, dict) else ()
    return not any(isinstance(value, str) for value in values)


def _columns(row: LiveRow) -> Any:
    values = list(row.x.values()) if isinstance(row.x, dict) else row.x
    return np.asarray(values, np.float64)[:MAX_COLUMNS]


def _names(row: LiveRow) -> list[str]:
    if isinstance(row.x, dict):
        return list(row.x)
    return [f"x[{k}]" for k in range(len(row.x))]
