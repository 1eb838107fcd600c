"""The live page of a key, and the server-sent events that bring it rows."""

import asyncio
import json
from collections.abc import AsyncIterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from markupsafe import Markup

from thalweg.changes.change_detector import ChangeDetector
from thalweg.report.charts.live_charts import (
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
"""Seconds without rows after which a comment is sent, so that proxies do not close the
connection."""
GATHER_S = 0.1
"""Seconds within which rows are sent together."""
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
    """The events of a key for one reader: numbered rows, and the changes in them."""

    def __init__(self, last_row: int) -> None:
        self.last_row = last_row  # the number of the last row sent
        self._detector: ChangeDetector | None = None
        self._names: tuple[str, ...] = ()  # of the detector's columns
        self._alarms = 0  # number of the detector's alarms that were sent

    async def event(self, rows: list[LiveRow], is_first: bool = False) -> str:
        """The event for these rows."""
        first = self.last_row + 1
        self.last_row += len(rows)
        numbered = [
            [number, *map(json_numbers, row[2:])]
            for number, row in enumerate(rows, first)
        ]
        # Statistics of rows may take a moment, and are compiled at first use.
        changes = await asyncio.to_thread(self._find_changes, rows, first)
        data = {"is_first": is_first, "rows": numbered, "changes": changes}
        return f"data: {json.dumps(data, allow_nan=False)}\n\n"

    def _find_changes(self, rows: list[LiveRow], first: int) -> list[list[Any]]:
        """[row of the onset, row of the alarm, words] of each new change."""
        changes = []
        for names, group in groupby(enumerate(rows, first), lambda one: one[1].names):
            changes += self._add_to_detector(names, list(group))
        return changes

    def _add_to_detector(
        self, names: tuple[str, ...], rows: list[tuple[int, LiveRow]]
    ) -> list[list[Any]]:
        """The new changes after rows of the same columns, each with its number."""
        if self._detector is None or self._names != names:
            self._detector, self._alarms = ChangeDetector(len(names)), 0
            self._names = names
        detector = self._detector
        columns = np.array([row.columns for _, row in rows]).reshape(len(rows), -1)
        y = np.array([row.y for _, row in rows])
        detector.add(y, columns, np.array([float(k) for k, _ in rows]))
        count = detector.total - self._alarms
        self._alarms = detector.total
        alarms = detector.alarms(names)[-count:] if count else ()
        return [[alarm.onset, alarm.row, alarm.text] for alarm in alarms]
