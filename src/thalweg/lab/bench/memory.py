"""Memory of a run over a stream that lies in a file and is read in pieces."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from thalweg.lab.bench.contender import Model
from thalweg.lab.bench.found import Memory
from thalweg.lab.bench.stream import draw

CHUNK = 100_000
FEATURES = 8
STATUS = Path("/proc/self/status")
CHILD = """
import json, pathlib, sys, thalweg
from thalweg.lab.bench.memory import watch
model = thalweg.Online(getattr(thalweg, sys.argv[1])())
print(json.dumps(watch(model, pathlib.Path(sys.argv[2]))))
"""


def memory(learner: str, rounds: int) -> list[Memory]:
    """A process of its own plays a file of so many rounds; none where /proc is not."""
    if not STATUS.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rounds)
        done = subprocess.run(
            [sys.executable, "-c", CHILD, learner, folder],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return [Memory(learner, *mark) for mark in json.loads(done.stdout)]


def write(folder: Path, rounds: int) -> None:
    """x.npy and y.npy, a piece at a time."""
    create = np.lib.format.open_memmap
    x = create(folder / "x.npy", "w+", np.float64, (rounds, FEATURES))
    y = create(folder / "y.npy", "w+", np.float64, (rounds,))
    for start in range(0, rounds, CHUNK):
        part = slice(start, min(start + CHUNK, rounds))
        piece = draw(part.stop - start, FEATURES, seed=start)
        x[part], y[part] = piece.x, piece.y


def watch(model: Model, folder: Path) -> list[tuple[int, float, float]]:
    """Play the file; (rounds, peak, own memory) after each power of ten, in MiB."""
    rounds = len(np.load(folder / "y.npy", mmap_mode="r"))
    marks = [10**k for k in range(5, 12) if 10**k < rounds]
    found = []
    for start in range(0, rounds, CHUNK):
        # Opened anew for each piece: pages of a closed file no longer count as ours.
        x, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "xy")
        part = slice(start, start + CHUNK)
        model.run(x[part], y[part])
        if (done := min(start + CHUNK, rounds)) in (*marks, rounds):
            found.append((done, _status("VmHWM"), _status("RssAnon")))
    return found


def _status(name: str) -> float:
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[name].split()[0]) / 1024
