"""thalweg serve under attack: what honest clients notice, and what memory it takes.

    PYTHONPATH=. python tools/serve_attacks.py                 # 20 seconds each
    PYTHONPATH=. python tools/serve_attacks.py --seconds 4

Honest clients send a row at a time, at a fixed rate. Beside them, one after the other,
come requests half sent, bodies too long, requests that name another host, bodies of
many wide keys, long names, and numbers far above those of other rows. Prints the
percentiles of the honest clients' times beside those of a quiet run, what was refused
of them, and the server's memory after each attack.
"""

import argparse
import http.client
import json
import multiprocessing
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

CLIENTS, ROWS_PER_SECOND = 4, 20.0
HALF_SENT = 300
"""Number of connections that are kept open with half a request each."""
PAUSE_S = 0.05
"""Seconds between two hostile requests."""


def ask(port: int, path: str, body: bytes, **headers: str) -> int:
    """The status of the answer to a request that posts JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        names = {"Content-Type": "application/json", **headers}
        connection.request("POST", path, body, names)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def send_halves(port: int, number: int) -> None:
    """Open connections, and send half a request on each."""
    held = []
    for _ in range(HALF_SENT):
        with suppress(OSError):
            one = socket.create_connection(("127.0.0.1", port), timeout=5)
            one.sendall(b"POST /v1/models/k/observe HTTP/1.1\r\nHost: localh")
            held.append(one)
    time.sleep(1.0)
    for one in held:
        one.close()


def send_long_body(port: int, number: int) -> None:
    """A body above the limit."""
    ask(port, "/v1/models/long/observe", b'{"x": [' + b"1.0," * 2**21 + b"1.0]}")


def send_as_other_host(port: int, number: int) -> None:
    """A request as of a web page whose name resolves to this machine."""
    row = json.dumps({"x": [1.0], "y": 1.0, "seq": number})
    ask(port, "/v1/models/rebound/observe", row.encode(), Host="evil.example")


def send_wide_keys(port: int, number: int) -> None:
    """Many new keys of as many features as there may be."""
    x = [1.0] * 256
    rows = [
        {"key": f"wide-{number}-{k}", "x": x, "y": 1.0, "seq": 1} for k in range(120)
    ]
    ask(port, "/v1/observe", json.dumps({"rows": rows}).encode())


def send_long_names(port: int, number: int) -> None:
    """A row of 2.5 MB, nearly all of which are names."""
    x = {f"{k}" + "n" * 10_000: 1.0 for k in range(250)}
    row = json.dumps({"x": x, "y": 1.0, "seq": number})
    ask(port, "/v1/models/names/observe", row.encode())


def send_large_seq(port: int, number: int) -> None:
    """A number that would make all later rows of an honest key late."""
    row = json.dumps({"x": [1.0, 1.0], "y": 1.0, "seq": 2**62 + number})
    for client in range(CLIENTS):
        ask(port, f"/v1/models/honest-{client}/observe", row.encode())


ATTACKS: dict[str, Callable[[int, int], None]] = {
    "requests half sent": send_halves,
    "bodies too long": send_long_body,
    "another host": send_as_other_host,
    "numbers far above": send_large_seq,
    "long names": send_long_names,
    "wide keys": send_wide_keys,
}


def attack(send: Callable[[int, int], None], port: int) -> None:
    """Send hostile requests, one after the other, until the process is ended."""
    for number in range(10**9):
        with suppress(OSError, http.client.HTTPException):
            send(port, number)
        time.sleep(PAUSE_S)


class HonestClient(threading.Thread):
    """Sends rows of one key at a fixed rate, and notes how long each takes."""

    def __init__(self, number: int, port: int, first: int, seconds: float) -> None:
        super().__init__()
        self.number, self.port, self.next, self.seconds = number, port, first, seconds
        self.times: list[float] = []
        self.refused: list[int] = []

    def run(self) -> None:
        """One row after the other; a late answer delays the next row."""
        end = time.monotonic() + self.seconds
        while (start := time.monotonic()) < end:
            row = json.dumps({"x": [1.0, 0.5], "y": 1.0, "seq": self.next})
            self.next += 1
            try:
                path = f"/v1/models/honest-{self.number}/observe"
                status = ask(self.port, path, row.encode())
            except (OSError, http.client.HTTPException):
                status = 0
            self.times.append(time.monotonic() - start)
            if status != 200:
                self.refused.append(status)
            pause = start + 1 / ROWS_PER_SECOND - time.monotonic()
            time.sleep(max(pause, 0.0))


def start_server(path: Path, *options: str) -> tuple[subprocess.Popen[str], int]:
    """A server, as users start it, and its port."""
    command = [sys.executable, "-m", "thalweg.cli", "serve", str(path), "--port", "0"]
    server = subprocess.Popen(
        [*command, *options], stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)),
    )  # fmt: skip
    assert server.stderr is not None
    for line in server.stderr:
        if found := re.search(r"http://[\d.]+:(\d+)", line):
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return server, int(found[1])
    raise SystemExit("The server has not started.")


def megabytes(process: int) -> float:
    """The memory that a process has."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def main() -> None:
    """Run each attack beside honest clients, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--attack", action="append", choices=[*ATTACKS])
    options = parser.parse_args()
    fork, first = multiprocessing.get_context("fork"), 0
    print(f"{'beside':20} {'rows':>6} {'refused':>8} {'p50 ms':>8} {'p99 ms':>8} "
          f"{'max ms':>8} {'memory MB':>10}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        server, port = start_server(Path(folder) / "m.db")
        try:
            for name in ["nothing (first)", "nothing", *(options.attack or ATTACKS)]:
                attacker = None
                if name in ATTACKS:
                    attacker = fork.Process(target=attack, args=(ATTACKS[name], port))
                    attacker.start()
                clients = [
                    HonestClient(number, port, first, options.seconds)
                    for number in range(CLIENTS)
                ]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join()
                memory = megabytes(server.pid)
                if attacker is not None:
                    attacker.terminate()
                    attacker.join()
                first = max(client.next for client in clients)
                times = 1000 * np.concatenate([client.times for client in clients])
                refused = sum(len(client.refused) for client in clients)
                p50, p99 = np.percentile(times, [50, 99])
                print(f"{name:20} {len(times):6} {refused:8} {p50:8.1f} {p99:8.1f} "
                      f"{times.max():8.1f} {memory:10.0f}", flush=True)  # fmt: skip
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
