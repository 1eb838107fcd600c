"""Draw the Tracker's effective memory on a stream whose changes are known.

python benchmarks/tracker_memory.py out/memory.png
"""

import sys
from pathlib import Path

import altair as alt
import numpy as np

from thalweg.evaluation.change_detector import ChangeDetector
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block

CHANGES = (800, 2000, 2600)
ROUNDS = 4000


def main(path: Path) -> None:
    """Run, draw, and print where changes were noticed."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(len(CHANGES) + 1, 5))
    theta = points[np.searchsorted(CHANGES, np.arange(ROUNDS), side="right")]
    x = rng.normal(size=(ROUNDS, 5))
    block = Block(x, (x * theta).sum(axis=1) + 0.3 * rng.normal(size=ROUNDS))
    learner = Tracker()
    _, trace = learner.run(learner.init(np.zeros(5)), SquaredError(), block, ["memory"])
    memory = trace.extras["memory"]
    detector = ChangeDetector(columns=5)
    detector.add(block.y, block.x)
    onsets = [alarm.onset for alarm in detector.alarms("abcde")]
    print("changes", CHANGES, "noticed", onsets)
    path.parent.mkdir(parents=True, exist_ok=True)
    chart(memory).save(str(path), scale_factor=2)
    print(f"saved {path}")


def chart(memory: np.ndarray) -> alt.LayerChart:
    """Memory against rounds, changes marked."""
    rows = [{"round": t, "memory": float(m)} for t, m in enumerate(memory) if m > 0]
    line = (
        alt.Chart(alt.Data(values=rows[::4]))
        .mark_line(color="#1f77b4", strokeWidth=1.6)
        .encode(
            x=alt.X("round:Q", title="round"),
            y=alt.Y("memory:Q", title="rounds that count").scale(type="log"),
        )
    )
    marks = alt.Chart(alt.Data(values=[{"round": t} for t in CHANGES]))
    rules = marks.mark_rule(color="#d1495b", strokeDash=[4, 3]).encode(x="round:Q")
    title = "The Tracker's memory falls at every change (dashed) and grows again"
    return (
        (line + rules).properties(width=620, height=260, title=title)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_title(anchor="start", fontSize=15)
        .configure_axis(gridColor="#e8ebf0")
        .configure_view(stroke=None)
    )  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/memory.png"))
