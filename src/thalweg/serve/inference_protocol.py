"""The Open Inference Protocol v2 (KServe, Triton, Seldon), for predictions.

A model of the protocol is a key. It takes one tensor ``x``, rows of features, and gives
``prediction``, and ``low`` and ``high`` where the parameter ``interval`` asks for them.
The protocol has no word for learning: that is ``/v1/models/KEY/observe``.
"""

import math
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response

from thalweg import __version__
from thalweg.models import Online
from thalweg.serve.json_response import json_response
from thalweg.serve.key_predictions import copy_model, predict_rows
from thalweg.serve.model_writer import ModelWriter
from thalweg.serve.request_body import (
    check_key,
    quote,
    read_feature_rows,
    read_interval,
    read_json,
)

DATATYPES = frozenset(
    {"FP16", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64"}
    | {"UINT8", "UINT16", "UINT32", "UINT64"}
)
"""The protocol's types of numbers: all but BOOL and BYTES."""
OUTPUTS = ("prediction", "low", "high")


def inference_router(writer: ModelWriter) -> APIRouter:
    """The routes of the protocol."""
    router, limits = APIRouter(prefix="/v2"), writer.limits

    @router.get("")
    async def server_metadata() -> Response:
        """Name and version of the server."""
        return json_response(
            {"name": "thalweg", "version": __version__, "extensions": []}
        )

    @router.get("/health/live")
    async def server_live() -> Response:
        """Whether the server answers."""
        return json_response({"live": True})

    @router.get("/health/ready")
    async def server_ready() -> Response:
        """Whether models can be read."""
        async with writer.reading():
            return json_response({"ready": True})

    @router.get("/models/{name:path}/ready")
    async def model_ready(name: str, request: Request) -> Response:
        """Whether this key has a model."""
        if not request.scope.get("raw_path", b"/ready").endswith(b"/ready"):
            return await model_metadata(f"{name}/ready")  # a key with %2F in it
        key = check_key(name, limits)
        await copy_model(writer, key)
        return json_response({"name": key, "ready": True})

    @router.get("/models/{name:path}")
    async def model_metadata(name: str) -> Response:
        """The tensors that the model of this key takes and gives."""
        key = check_key(name, limits)
        features = _count_features(await copy_model(writer, key))
        shapes = {"x": [-1, features], **dict.fromkeys(OUTPUTS, [-1])}
        tensors = [
            {"name": tensor, "datatype": "FP64", "shape": shape}
            for tensor, shape in shapes.items()
        ]
        return json_response(
            {"name": key, "platform": "thalweg", "inputs": tensors[:1],
             "outputs": tensors[1:]}
        )  # fmt: skip

    @router.post("/models/{name:path}/infer")
    async def infer(name: str, request: Request) -> Response:
        """Predict rows."""
        key = check_key(name, limits)
        body = await read_json(request, limits)
        rows = read_feature_rows({"x": _read_tensor(body)}, limits)[0]
        parameters = body.get("parameters") or {}
        if not isinstance(parameters, dict):
            raise HTTPException(400, "'parameters' must be an object.")
        interval = read_interval(parameters.get("interval"))
        wanted = _wanted_outputs(body, interval)
        found = await predict_rows(writer, key, rows, interval)
        outputs = [
            {"name": tensor, "datatype": "FP64", "shape": [len(rows)],
             "data": found[tensor]}
            for tensor in wanted
        ]  # fmt: skip
        response = {"model_name": key, "outputs": outputs}
        if isinstance(body.get("id"), str):
            response["id"] = body["id"]
        return json_response(response)

    return router


def _count_features(model: Online) -> int:
    """The features of a row; -1, any number, before a target was known."""
    state = model.state
    return -1 if state is None else len(state.theta) - int(model.intercept)


def _read_tensor(body: dict[str, Any]) -> list[list[Any]]:
    """The rows in the one tensor of a request, flat or nested."""
    inputs = body.get("inputs")
    if not isinstance(inputs, list) or len(inputs) != 1:
        raise HTTPException(400, "'inputs' must be a list of one tensor, x.")
    tensor = inputs[0]
    if not isinstance(tensor, dict):
        raise HTTPException(400, f"A tensor must be an object. Got {quote(tensor)}.")
    datatype, shape, data = (tensor.get(name) for name in ("datatype", "shape", "data"))
    if not isinstance(datatype, str) or datatype not in DATATYPES:
        raise HTTPException(
            400,
            f"The datatype must be that of numbers, as FP64. Got {quote(datatype)}.",
        )
    if (
        not isinstance(shape, list)
        or len(shape) not in (1, 2)
        or not all(type(size) is int and size > 0 for size in shape)
    ):
        raise HTTPException(
            400, f"The shape must be [rows, features]. Got {quote(shape)}."
        )
    if not isinstance(data, list):
        raise HTTPException(400, f"The data must be a list. Got {quote(data)}.")
    flat = [
        value for part in data for value in (part if isinstance(part, list) else [part])
    ]
    if len(flat) != math.prod(shape):
        raise HTTPException(
            400, f"The shape {shape} does not fit {len(flat)} numbers of data."
        )
    features = shape[-1]
    return [flat[k : k + features] for k in range(0, len(flat), features)]


def _wanted_outputs(body: dict[str, Any], interval: float | None) -> list[str]:
    """The names of the tensors that a request asks for; all, if it names none."""
    known = OUTPUTS if interval is not None else OUTPUTS[:1]
    outputs = body.get("outputs")
    if outputs is None:
        return list(known)
    if not isinstance(outputs, list) or not all(isinstance(o, dict) for o in outputs):
        raise HTTPException(400, "'outputs' must be a list of objects with a name.")
    names = [output.get("name") for output in outputs]
    for name in names:
        if name not in known:
            raise HTTPException(
                400,
                f"The outputs are {', '.join(known)}. Got {quote(name)} instead. (low "
                "and high need the parameter interval.)",
            )
    return names
