"""The speed of ``thalweg serve``, beside an endpoint that does nothing.

    python -m benchmarks.serve_speed [--learner tracker] [--clients 32] [--turns 5]

One server process has all endpoints; clients in another keep their connections and wait
for each answer. Endpoints take turns, so that other load on the machine falls on all of
them. ``nothing`` answers without reading what it was sent. Rows of ``observe`` are on
the disk when they are answered. Prints requests and rows a second (the median of the
turns), the median and the 99th percentile of the time to an answer, and the ratios.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

import numpy as np
from fastapi import Response

from thalweg.learners import RecursiveLeastSquares, Tracker
from thalweg.serve.application import create_app
from thalweg.serve.model_writer import ModelWriter
from thalweg.serve.server import open_port, run_app

FEATURES, KEYS, BATCH = 8, 1000, 50
LEARNERS = {"rls": RecursiveLeastSquares(0.99), "tracker": Tracker()}
KINDS = ("nothing", "predict", "observe", "batch", "mixed")
"""Of ``batch`` all rows are of one key, of ``mixed`` each of another."""


def serve(path: Path, learner: str, port: int) -> None:
    """The server, with one endpoint more."""
    writer = ModelWriter(path, LEARNERS[learner])
    app = create_app(writer)

    @app.post("/nothing")
    async def nothing() -> Response:
        return Response("{}", media_type="application/json")

    # No route is looked at before it: its requests are as quick as can be.
    app.router.routes.insert(0, app.router.routes.pop())
    run_app(app, writer, open_port("127.0.0.1", port))


class Requests:
    """The bytes of requests, all different."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.seq = 0

    def make(self, kind: str, count: int) -> deque[bytes]:
        """Requests of a kind, as many as asked for."""
        return deque(self._make(kind) for _ in range(count))

    def first_rows(self) -> deque[bytes]:
        """A row for every key."""
        return deque(
            _post(f"/v1/models/sensor-{key}/observe", self._row())
            for key in range(KEYS)
        )

    def _make(self, kind: str) -> bytes:
        if kind == "batch":
            body = {"rows": [self._row() for _ in range(BATCH)]}
            return _post(f"/v1/models/{self._key()}/observe", body)
        if kind == "mixed":
            body = {"rows": [self._row() | {"key": self._key()} for _ in range(BATCH)]}
            return _post("/v1/observe", body)
        if kind == "predict":
            body = {"x": self._row()["x"]}
            return _post(f"/v1/models/{self._key()}/predict", body)
        path = "/nothing" if kind == "nothing" else f"/v1/models/{self._key()}/observe"
        return _post(path, self._row())

    def _key(self) -> str:
        return f"sensor-{self.rng.integers(KEYS)}"

    def _row(self) -> dict[str, object]:
        self.seq += 1
        x = self.rng.normal(size=FEATURES)
        y = float(x.sum() + self.rng.normal())
        return {"x": x.round(6).tolist(), "y": y, "seq": self.seq}


def _post(path: str, body: object) -> bytes:
    text = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(text)}\r\n\r\n"
    )
    return head.encode() + text


class Client(asyncio.Protocol):
    """One connection, which sends a request after each answer."""

    def __init__(self, requests: deque[bytes], seconds: list[float]) -> None:
        self.requests, self.seconds = requests, seconds
        self.done = asyncio.get_running_loop().create_future()
        self.buffer, self.repeated = b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = transport
        self._send()

    def _send(self) -> None:
        if not self.requests:
            self.done.set_result(None)
            self.transport.close()
            return
        self.start = time.perf_counter()
        self.transport.write(self.requests.popleft())  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        """Go on, once the answer is complete."""
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        if len(body) < length:
            return
        is_refused = b'"refused":' in body and b'"refused":0' not in body
        if not head.startswith(b"HTTP/1.1 200") or is_refused:
            self.done.set_exception(RuntimeError(f"{head!r} {body!r}"))
            return
        self.seconds.append(time.perf_counter() - self.start)
        # Rows that came after a later one of their key, by another connection.
        self.repeated += body.count(b'"repeated","')
        self.buffer = b""
        self._send()


async def measure(
    port: int, requests: deque[bytes], clients: int, rows: int = 1
) -> tuple[float, list[float]]:
    """Requests a second, and the seconds that each took."""
    loop, seconds = asyncio.get_running_loop(), []
    start = time.perf_counter()
    connections = [
        (
            await loop.create_connection(
                lambda: Client(requests, seconds), "127.0.0.1", port
            )
        )[1]
        for _ in range(clients)
    ]
    await asyncio.gather(*(connection.done for connection in connections))
    rate = len(seconds) / (time.perf_counter() - start)
    repeated = sum(connection.repeated for connection in connections)
    if repeated > 0.05 * rows * len(seconds):
        raise RuntimeError(f"{repeated} rows of {len(seconds)} requests not learnt.")
    return rate, seconds


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server takes connections."""
    while True:
        if server.poll() is not None:
            raise SystemExit("The server has ended.")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_seconds(process: int) -> float:
    """The processor time of a process, with that of the system for it (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compare(server: int, port: int, clients: int, turns: int, count: int) -> None:
    """Measure all endpoints in turn, and print."""
    made = Requests()
    # Every key has learnt before anything is timed.
    asyncio.run(measure(port, made.first_rows(), clients))
    rates: dict[str, list[float]] = {kind: [] for kind in KINDS}
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    used: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(turns):
        for kind in KINDS:
            rows = BATCH if kind in ("batch", "mixed") else 1
            requests = made.make(kind, count if rows == 1 else count // 10)
            start = cpu_seconds(server)
            rate, seconds = asyncio.run(measure(port, requests, clients, rows))
            used[kind].append((cpu_seconds(server) - start) / len(seconds))
            rates[kind].append(rate)
            times[kind] += seconds
    titles = ("requests/s", "rows/s", "median ms", "p99 ms", "CPU µs")
    print(f"{'':8}" + "".join(f"{title:>11}" for title in titles))
    for kind in KINDS:
        rate = statistics.median(rates[kind])
        rows = BATCH if kind in ("batch", "mixed") else 1
        low, high = 1000 * np.quantile(times[kind], [0.5, 0.99])
        cpu = 1e6 * statistics.median(used[kind])
        print(
            f"{kind:8}{rate:12,.0f}{rate * rows:10,.0f}{low:11.1f}{high:9.1f}", end=""
        )
        print(f"{cpu:9,.0f}")
    single = [a / b for a, b in zip(rates["observe"], rates["nothing"], strict=True)]
    print(f"observes / nothing: {statistics.median(single):.2f} (turns: ", end="")
    print(", ".join(f"{ratio:.2f}" for ratio in single) + ")")
    for kind, words in (("batch", "one key"), ("mixed", "many keys")):
        pairs = zip(rates[kind], rates["observe"], strict=True)
        ratios = [BATCH * batch / row for batch, row in pairs]
        print(f"rows in batches of {BATCH} of {words} / single rows: ", end="")
        print(f"{statistics.median(ratios):.1f}")


def main() -> None:
    """Start the server, measure, and end it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learner", choices=tuple(LEARNERS), default="rls")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--requests", type=int, default=4000, help="of a turn")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(Path(options.serve[0]), options.learner, int(options.serve[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        port, path = free_port(), str(Path(folder) / "models.sqlite")
        command = [sys.executable, __file__, "--learner", options.learner, "--serve"]
        server = subprocess.Popen([*command, path, str(port)])
        try:
            wait_for(port, server)
            print(f"{options.learner}, {FEATURES} features, {KEYS:,} keys, ", end="")
            print(f"{options.clients} clients")
            compare(server.pid, port, options.clients, options.turns, options.requests)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
