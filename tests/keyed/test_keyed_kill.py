r"""kill -9 at random moments: nothing acknowledged is lost, nothing is torn.

    THALWEG_KILLS=200 THALWEG_KILL_SECONDS=1 \
        python -m pytest tests/keyed/test_keyed_kill.py

A kill leaves what the system has taken over to write; a loss of power would not. That
each commit waits for the disk (synchronous=FULL) is tested in test_keyed_store.py.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from bisect import bisect_right
from collections import Counter, defaultdict

import numpy as np
import pytest

import thalweg as tw
from tests.keyed.streamer import GROUP, LEARNER, row
from thalweg.keyed import KeyedModels
from thalweg.keyed.codec import KeyedSettings
from thalweg.persistence import SavedModel, dumps
from thalweg.persistence.raw_values import RawValue

pytestmark = pytest.mark.nightly

KILLS = int(os.environ.get("THALWEG_KILLS", "20"))
# From before the file is opened to some ten commits; a busy machine needs longer.
MAX_SECONDS_TO_KILL = float(os.environ.get("THALWEG_KILL_SECONDS", "0.2"))
MAX_ATTEMPTS = 400
"""Upper limit of the kills of one test. A busy machine needs more of them: it gets to
fewer commits before each."""
NEVER = 2**40
SETTINGS = KeyedSettings.of(LEARNER)


class Reference:
    """The same stream, never interrupted and never written."""

    def __init__(self):
        self.predictions = []
        self.models = {}
        self.history = defaultdict(list)  # of each key: (seq, its model then)

    def advance(self, seq):
        for t in range(len(self.predictions), seq + 1):
            key, x, y = row(t)
            model = self.models.setdefault(key, tw.Online(LEARNER))
            self.predictions.append(float(model.run(x[None], [y]).prediction[0]).hex())
            self.history[key].append((t, model.state))

    def at(self, key, seq):
        """The state of ``key`` after round ``seq`` of the stream, as bytes."""
        past = self.history[key]
        count = bisect_right(past, seq, key=lambda entry: entry[0])
        return as_bytes(past[count - 1][1]) if count else None


def as_bytes(state):
    return dumps(SavedModel(LEARNER, tw.SquaredError(), state))


@pytest.fixture(scope="module")
def streamer():
    command = [sys.executable, "-m", "tests.keyed.streamer"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.stdin.close()


class Trial:
    """A file, the processes that wrote to it, and counts of what was wrong then."""

    def __init__(self, streamer, folder, kind, seed=0):
        self.streamer = streamer
        self.path, self.folder, self.kind = folder / "models.db", folder, kind
        self.rng, self.runs = np.random.default_rng(seed), 0
        self.reference, self.counts = Reference(), Counter()
        self.offset = self.flushed = -1

    def run(self, until=NEVER):
        """Stream until killed at a random moment, or to the end; then compare."""
        self.runs += 1
        log = self.folder / f"log-{self.runs}"
        order = f"{self.path} {log} {self.kind} {until}"
        print(order, file=self.streamer.stdin, flush=True)
        child = int(self.streamer.stdout.readline())
        if until == NEVER:
            time.sleep(self.rng.uniform(0, MAX_SECONDS_TO_KILL))
            os.kill(child, signal.SIGKILL)
        status = int(self.streamer.stdout.readline())
        assert status == (-signal.SIGKILL if until == NEVER else 0)
        self.compare_with_reference(log)

    def compare_with_reference(self, log):
        KeyedModels(self.path, LEARNER).close()  # the kill has released the lock
        text = log.read_text() if log.exists() else ""  # killed before all else
        lines = [line.split() for line in text.split("\n")[:-1]]
        predictions = [
            (int(seq), value) for event, seq, value in lines if event == "predicted"
        ]
        flushed = [int(seq) for event, seq, _ in lines if event == "flushed"]
        self.flushed = max([self.flushed, *flushed])
        last = max([0, *(seq for seq, _ in predictions)])
        is_in_flush = last % GROUP == GROUP - 1 and last not in flushed
        self.counts["within a flush"] += is_in_flush
        with sqlite3.connect(self.path) as file:
            models = {
                key: as_bytes(SETTINGS.decode(RawValue(layout, data), key).online.state)
                for key, layout, data in file.execute(
                    "SELECT key, layouts.layout, model FROM models "
                    "JOIN layouts ON layouts.id = models.layout"
                )
            }
            query = "SELECT value FROM source WHERE name = 'offset'"
            (offset,) = file.execute(query).fetchone() or (-1,)
        file.close()
        self.reference.advance(max([offset, *(seq for seq, _ in predictions)]))
        self.counts["runs"] += 1
        self.counts["rounds"] = len(self.reference.predictions)
        self.counts["lost"] += offset < self.flushed or offset < self.offset
        self.counts["wrong"] += sum(
            self.reference.predictions[seq] != value for seq, value in predictions
        )
        self.counts["torn"] += any(
            self.reference.at(key, offset) != models.get(key)
            for key in {*models, *self.reference.history}
        )
        self.offset = offset


def test_kill_9_loses_and_tears_nothing(streamer, tmp_path, capsys):
    trial = Trial(streamer, tmp_path, "KeyedModels")
    while trial.runs < KILLS or trial.counts["rounds"] <= 20 * KILLS:
        trial.run()
        assert trial.runs < MAX_ATTEMPTS + KILLS, trial.counts
    trial.run(until=trial.offset + 200)
    with capsys.disabled():
        print(f"\n{dict(trial.counts)}", end=" ")
    assert (trial.counts["lost"], trial.counts["torn"], trial.counts["wrong"]) == (
        0,
        0,
        0,
    )


@pytest.mark.parametrize(
    "kind, sign", [("OffsetApart", "torn"), ("AcknowledgesEarly", "lost")]
)
def test_a_wrong_order_is_caught(streamer, tmp_path, kind, sign):
    trial = Trial(streamer, tmp_path, kind, seed=1)
    while not trial.counts[sign]:
        trial.run()
        assert trial.runs < MAX_ATTEMPTS, f"kills did not show that {kind} is wrong"
