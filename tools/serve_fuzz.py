"""Thousands of malformed requests to the server: none is a 500, and memory stays.

    PYTHONPATH=. python tools/serve_fuzz.py --requests 10000

The application runs in this process, and requests come from a seeded generator: JSON
with values of all kinds at all places, bodies that are no JSON, paths, methods and
headers. Between them valid rows are learnt, which must go on to be possible. Prints the
statuses, and the memory after a tenth of the requests and after all.
"""

import argparse
import asyncio
import json
import random
import resource
import tempfile
from collections import Counter
from pathlib import Path

import httpx

from thalweg.learners import Learner, RecursiveLeastSquares, Tracker
from thalweg.serve.application import create_app
from thalweg.serve.limits import Limits
from thalweg.serve.model_writer import ModelWriter

KEYS = ["a", "pump 7", "x/y", "ключ", "观测", "a" * 256, "a" * 257, "%", "..", "a?b#c"]
LIMITS = Limits(body_bytes=20_000, rows=50, features=20)
ROUTES = (
    "/v1/models/{}/observe",
    "/v1/models/{}/predict",
    "/v1/models/{}/forecast",
    "/v2/models/{}/infer",
    "/v2/models/{}",
    "/v2/models/{}/ready",
    "/v1/observe",
    "/v1/models",
    "/v2",
    "/metrics",
    "/health",
    "/openapi.json",
    "/nothing/{}",
)
POSTED = (0, 1, 2, 3, 6)
"""The routes that take a body."""
NUMBERS = (0, 1, -1, 0.5, 1e-300, 1e149, 1e150, 1e151, 1.7e308, 2**63 - 1, 2**63, -5)
WORDS = ("", "a", "NaN", "é", "\x00", "\ud83d\ude00", "x" * 400, "1")
RAW_BODIES = (
    b"", b"{", b"null", b"[]", b'"x"', b"1e999", b"[" * 5000, b'{"x":' * 500,
    b"\xff\xfe", b'{"x":[NaN],"y":1,"seq":1}', b'{"x":[1],"y":Infinity,"seq":1}',
    b'{"x":[1e999],"y":1,"seq":1}', b'{"x":[1],"y":-1e999,"seq":1}',
    b'{"x":[1],"y":"\\ud800","seq":1}', b'{"\\ud800":1}', b"9" * 6000,
    b"\x80\x04K\x01.", b'{"x":[1],"y":1,"seq":1}' + b" " * 30_000,
)  # fmt: skip


class RequestFuzzer:
    """Requests from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seq = 0

    def request(self) -> tuple[str, str, dict[str, object]]:
        """Method, address and settings of httpx."""
        rng = self.random
        key = rng.choice(KEYS)
        route = rng.choice(ROUTES[: rng.choice((4, 7, 13))])
        address = route.format(httpx.URL("/" + key).raw_path.decode()[1:])
        method = "POST" if ROUTES.index(route) in POSTED else "GET"
        method = method if rng.random() < 0.95 else rng.choice(("PUT", "DELETE"))
        headers = {"Content-Type": "application/json"}
        if rng.random() < 0.03:
            headers["Content-Type"] = rng.choice(
                ("text/plain", "", "application/pickle")
            )
        if rng.random() < 0.2:
            headers["Idempotency-Key"] = rng.choice(
                ("k", "", "l" * 300, str(rng.random()))
            )
        if rng.random() < 0.1:
            return (
                method,
                address,
                {"content": rng.choice(RAW_BODIES), "headers": headers},
            )
        body = json.dumps(self.body(route))
        if rng.random() < 0.05:
            cut = rng.randrange(len(body) + 1)
            body = body[:cut] + rng.choice(("", "}", '"', "\x00")) + body[cut + 1 :]
        return method, address, {"content": body.encode(), "headers": headers}

    def body(self, route: str) -> object:
        """A body that is right for the route, with some values replaced."""
        rng = self.random
        self.seq += 1
        x = [rng.gauss(0, 1) for _ in range(rng.choice((2, 2, 2, 3)))]
        row: dict[str, object] = {"x": x, "y": rng.gauss(0, 1), "seq": self.seq}
        body: object = row
        if "infer" in route:
            tensor = {"name": "x", "shape": [1, len(x)], "datatype": "FP64", "data": x}
            body = {"id": "1", "inputs": [tensor], "parameters": {"interval": 0.9}}
        elif "predict" in route or "forecast" in route:
            body = {"x": rng.choice((x, [x, x])), "interval": rng.choice((0.9, None))}
        elif route == "/v1/observe":
            body = {"rows": [row | {"key": rng.choice(KEYS)} for _ in range(3)]}
        elif rng.random() < 0.3:
            body = {"rows": [row, row | {"seq": self.seq + 1}]}
        return self.spoil(body) if rng.random() < 0.8 else body

    def spoil(self, value: object) -> object:
        """The value, or a part of it, replaced by something else."""
        rng = self.random
        if rng.random() < 0.15 or not isinstance(value, dict | list) or not value:
            return self.value(0)
        copied = dict(value) if isinstance(value, dict) else list(value)
        place = rng.choice(
            list(copied) if isinstance(copied, dict) else range(len(copied))
        )
        action = rng.random()
        if action < 0.1:
            del copied[place]
        elif action < 0.2 and isinstance(copied, dict):
            copied[rng.choice(WORDS)] = self.value(0)
        elif action < 0.25 and isinstance(copied, list):
            copied = copied * rng.choice((2, 30))
        else:
            copied[place] = self.spoil(copied[place])
        return copied

    def value(self, depth: int) -> object:
        """Any JSON."""
        rng = self.random
        kind = rng.randrange(7 if depth < 3 else 5)
        if kind == 5:
            return [self.value(depth + 1) for _ in range(rng.randrange(4))]
        if kind == 6:
            return {
                rng.choice(WORDS): self.value(depth + 1)
                for _ in range(rng.randrange(4))
            }
        return (None, True, rng.choice(NUMBERS), rng.choice(WORDS), rng.gauss(0, 1e6))[
            kind
        ]


async def fuzz(
    path: Path, count: int, seed: int, learner: Learner
) -> tuple[Counter[int], list[str], list[int]]:
    """Counts by status, what went wrong, and the memory in kB after 10 % and all."""
    writer, fuzzer = ModelWriter(path, learner, LIMITS), RequestFuzzer(seed)
    app = create_app(writer)
    statuses: Counter[int] = Counter()
    faults, memory = [], []
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://s"
        ) as client:
            for number in range(count):
                method, address, settings = fuzzer.request()
                response = await client.request(method, address, **settings)
                statuses[response.status_code] += 1
                is_sentence = response.status_code < 400 or response.json()["error"]
                if response.status_code >= 500 or not is_sentence:
                    faults.append(f"{response.text} to {method} {address} {settings}")
                if number % 100 == 99:
                    row = {"x": [0.5, 1.0], "y": 1.0, "seq": number}
                    answer = await client.post("/v1/models/steady/observe", json=row)
                    if answer.json().get("outcome") != "learnt":
                        faults.append(f"A valid row was refused: {answer.text}")
                if number + 1 in (max(count // 10, 1), count):
                    memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return statuses, faults, memory


def main() -> None:
    """Run, print, and fail where anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learner", choices=("rls", "tracker"), default="rls")
    options = parser.parse_args()
    learner = Tracker() if options.learner == "tracker" else RecursiveLeastSquares(0.95)
    with tempfile.TemporaryDirectory() as folder:
        statuses, faults, memory = asyncio.run(
            fuzz(Path(folder) / "m.sqlite", options.requests, options.seed, learner)
        )
    print(f"{options.requests:,} requests by status: {dict(sorted(statuses.items()))}")
    print(
        f"largest memory after a tenth and after all, MB: {[m // 1024 for m in memory]}"
    )
    for fault in faults[:20]:
        print(fault)
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
