"""Predictions and forecasts of a key, from its model as it is on the disk."""

import asyncio
from typing import Any

from fastapi import HTTPException

from thalweg.models import Online
from thalweg.serve.json_response import json_numbers
from thalweg.serve.model_writer import ModelWriter
from thalweg.serve.request_body import quote

Columns = dict[str, list[Any]]


async def predict_rows(
    writer: ModelWriter, key: str, rows: list[Any], interval: float | None
) -> Columns:
    """The prediction of each row as the next one, with bands where wanted."""
    if len(rows) == 1 and interval is None:
        async with writer.reading() as models:
            if models.last_seq(key) is None:
                raise _unknown_key(key)
            prediction = models.predict(key, rows[0])
        writer.metrics.predictions += 1
        return {"prediction": [json_numbers(prediction)]}
    model = await copy_model(writer, key)
    writer.metrics.predictions += len(rows)
    return await asyncio.to_thread(_predict_rows, model, rows, interval)


async def forecast_rows(
    writer: ModelWriter, key: str, rows: list[Any], interval: float
) -> Columns:
    """Predictions of rows to come, with bands; no target is known in between."""
    model = await copy_model(writer, key)
    writer.metrics.predictions += len(rows)
    return await asyncio.to_thread(_forecast_rows, model, rows, interval)


async def copy_model(writer: ModelWriter, key: str) -> Online:
    """An independent copy of the model of a key."""
    async with writer.reading() as models:
        if models.last_seq(key) is None:
            raise _unknown_key(key)
        return models[key]


def _unknown_key(key: str) -> HTTPException:
    return HTTPException(404, f"No row of the key {quote(key)} has been learnt.")


def _predict_rows(model: Online, rows: list[Any], interval: float | None) -> Columns:
    if interval is None:
        return {"prediction": [json_numbers(model.predict(x)) for x in rows]}
    return _as_columns([model.predict(x, interval) for x in rows])


def _forecast_rows(model: Online, rows: list[Any], interval: float) -> Columns:
    bands = []
    for x in rows:
        band = model.predict(x, interval)
        bands.append(band)
        # A round of weight zero: time passes, nothing is learnt, and the Tracker's
        # bands widen with the rounds since the last target.
        model.update(x, band.mean, 0.0)
    return _as_columns(bands)


def _as_columns(bands: list[Any]) -> Columns:
    return {
        "prediction": [json_numbers(band.mean) for band in bands],
        "low": [json_numbers(band.low) for band in bands],
        "high": [json_numbers(band.high) for band in bands],
    }
