"""The application in this process: requests by httpx, without a port."""

import asyncio
import itertools
from contextlib import asynccontextmanager

import httpx

from thalweg.learners import RecursiveLeastSquares
from thalweg.serve.application import create_app
from thalweg.serve.limits import Limits
from thalweg.serve.model_writer import ModelWriter

LEARNER = RecursiveLeastSquares(0.95)
TOKEN = "a-token-of-a-good-length"


@asynccontextmanager
async def running(path, learner=LEARNER, token=None, **limits):
    """(client, writer) of a server on this file, which is closed in the end."""
    writer = ModelWriter(path, learner, Limits(**limits))
    app = create_app(writer, token)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://server"
        ) as client:
            yield client, writer


def ask(path, *requests, learner=LEARNER, token=None, **limits):
    """The responses to these requests, (method, path, settings of httpx), in turn."""

    async def run():
        async with running(path, learner, token, **limits) as (client, _):
            return [
                await client.request(method, address, **settings)
                for method, address, settings in requests
            ]

    return asyncio.run(run())


def post(address, body, **headers):
    """A request that posts JSON."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return "POST", address, {"json": body, "headers": names}


def get(address, **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return "GET", address, {"headers": names}


def observe(key, x, y, seq, **fields):
    return post(f"/v1/models/{key}/observe", {"x": x, "y": y, "seq": seq, **fields})


def rows_of(rng, key, count, features=2, start=0):
    """``count`` rows of a key, as JSON, with a seq each."""
    return [
        {"key": key, "x": rng.normal(size=features).tolist(),
         "y": float(rng.normal()), "seq": seq}
        for seq in itertools.islice(itertools.count(start), count)
    ]  # fmt: skip
