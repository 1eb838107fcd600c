"""kill -9 of the server under load: nothing acknowledged is lost or learnt twice.

    PYTHONPATH=. python tools/serve_kills.py --kills 200

Clients send rows of a few keys, by turns with a seq and with an idempotency key, and
repeat every request until it is answered. The server is killed at random moments and
started anew on the same file. In the end each request was acknowledged; the models
must be, to the last bit, those of a dict of ``Online`` that learns each row once, in
the order of the acknowledged sequence numbers. ``--early`` is a negative control: a
server that answers before it commits, of which rows get lost.
"""

import argparse
import http.client
import itertools
import json
import os
import random
import socket
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

import numpy as np

import thalweg as tw
from thalweg.keyed import KeyedModels
from thalweg.learners import RecursiveLeastSquares
from thalweg.persistence import SavedModel, dumps
from thalweg.serve.model_writer import ModelWriter
from thalweg.serve.server import run_server

LEARNER = RecursiveLeastSquares(0.95)
CLIENTS, KEYS_OF_CLIENT = 6, 2
MAX_SECONDS_TO_KILL = 0.4


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_server(path: Path, port: int, is_early: bool) -> int:
    """The number of a forked process that serves; imports are done once, here."""
    child = os.fork()
    if child:
        return child
    try:
        if is_early:
            ModelWriter._commit = _commit_late(  # type: ignore[method-assign]
                ModelWriter._commit
            )
        sys.stderr = open(os.devnull, "w")
        run_server(path, LEARNER, port=port)
    finally:
        os._exit(1)


def _commit_late(commit):  # type: ignore[no-untyped-def]
    """Wrong: the rows of a group are committed with those of the tenth group after."""
    groups = itertools.count()

    def commit_late(writer, group, watched):  # type: ignore[no-untyped-def]
        flush = KeyedModels.flush
        if next(groups) % 10:
            KeyedModels.flush = lambda models: None  # type: ignore[method-assign]
        try:
            return commit(writer, group, watched)
        finally:
            KeyedModels.flush = flush  # type: ignore[method-assign]

    return commit_late


class LoadClient(threading.Thread):
    """Sends rows of its own keys and of one that all share, until told to stop."""

    def __init__(self, number: int, port: int) -> None:
        super().__init__(daemon=True)
        self.number, self.port = number, port
        self.rng = np.random.default_rng(number)
        self.must_stop = threading.Event()
        self.acknowledged: list[tuple[str, int, list[float], float]] = []
        self.counts: Counter[str] = Counter()

    def run(self) -> None:
        """One request after the other."""
        for count in itertools.count():
            if self.must_stop.is_set():
                return
            if count % 2:
                self._send_numbered(count)
            else:
                self._send_named(count)

    def _send_numbered(self, count: int) -> None:
        key = f"own-{self.number}-{count % KEYS_OF_CLIENT}"
        x, y = self._row()
        body = {"x": x, "y": y, "seq": count}
        answer = self._repeat(f"/v1/models/{key}/observe", body, {})
        self.acknowledged.append((key, answer["seq"], x, y))

    def _send_named(self, count: int) -> None:
        rows = [
            (key, *self._row()) for key in ("shared", f"named-{self.number}", "shared")
        ]
        body = {"rows": [{"key": key, "x": x, "y": y} for key, x, y in rows]}
        headers = {"Idempotency-Key": f"{self.number}-{count}"}
        answer = self._repeat("/v1/observe", body, headers)
        for (key, x, y), result in zip(rows, answer["results"], strict=True):
            self.acknowledged.append((key, result["seq"], x, y))

    def _row(self) -> tuple[list[float], float]:
        return self.rng.normal(size=3).tolist(), float(self.rng.normal())

    def _repeat(self, path: str, body: object, headers: dict[str, str]) -> dict:
        headers = headers | {"Content-Type": "application/json"}
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                with closing(connection):
                    connection.request("POST", path, json.dumps(body), headers)
                    with closing(connection.getresponse()) as response:
                        answer = json.loads(response.read())
                if response.status != 200:
                    raise RuntimeError(f"{response.status} {answer}")
                self.counts["acknowledged"] += 1
                return dict(answer)
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                self.counts["repeated"] += 1
                time.sleep(0.03)


def compare(
    path: Path, rows: list[tuple[str, int, list[float], float]]
) -> Counter[str]:
    """What is wrong in the file, given all rows that were acknowledged."""
    by_key = defaultdict(list)
    for key, seq, x, y in rows:
        by_key[key].append((seq, x, y))
    wrong: Counter[str] = Counter(lost=0, learnt_twice=0, different=0)
    with KeyedModels(path, LEARNER) as models:
        for key, known in by_key.items():
            model = tw.Online(LEARNER)
            for _, x, y in sorted(known):
                model.update(np.array(x), y)
            found = models[key]
            wrong["lost"] += max(model.rounds - found.rounds, 0)
            wrong["learnt_twice"] += max(found.rounds - model.rounds, 0)
            wrong["learnt_twice"] += len(known) - len({seq for seq, _, _ in known})
            wrong["different"] += _as_bytes(found) != _as_bytes(model)
    return wrong


def _as_bytes(model: tw.Online) -> bytes:
    return dumps(SavedModel(LEARNER, tw.SquaredError(), model.state))


def kill_under_load(
    path: Path, kills: int, seed: int = 0, is_early: bool = False
) -> tuple[Counter[str], Counter[str]]:
    """Counts of what was done, and of what was wrong."""
    rng, port = random.Random(seed), free_port()
    tw.Online(LEARNER).update(np.zeros(3), 0.0)  # loads what was compiled
    server = start_server(path, port, is_early)
    clients = [LoadClient(number, port) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    done: Counter[str] = Counter()
    for _ in range(kills):
        acknowledged = sum(client.counts["acknowledged"] for client in clients)
        while sum(client.counts["acknowledged"] for client in clients) == acknowledged:
            time.sleep(0.005)  # the server has come up
        time.sleep(rng.uniform(0, MAX_SECONDS_TO_KILL))
        os.kill(server, 9)
        os.waitpid(server, 0)
        done["kills"] += 1
        server = start_server(path, port, is_early)
    for client in clients:
        client.must_stop.set()
    for client in clients:
        client.join()
        done += client.counts
    os.kill(server, 15)
    os.waitpid(server, 0)
    rows = [row for client in clients for row in client.acknowledged]
    done["rows"] = len(rows)
    return done, compare(path, rows)


def main() -> None:
    """Run, print, and fail where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--early", action="store_true", help="the negative control")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done, wrong = kill_under_load(
            Path(folder) / "m.sqlite", options.kills, options.seed, options.early
        )
    print(dict(done))
    print(f"wrong: {dict(wrong)}")
    raise SystemExit(any(wrong.values()))


if __name__ == "__main__":
    main()
