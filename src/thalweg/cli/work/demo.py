"""Every learner on real data."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from thalweg.cli.console import remarks
from thalweg.cli.options import Wanted
from thalweg.cli.runs import study_files
from thalweg.cli.work.comparing import compared, present
from thalweg.cli.work.show import titled
from thalweg.errors import StreamError
from thalweg.evaluation.study import Study
from thalweg.lab.datasets import Task
from thalweg.lab.demo import ROUNDS, Shown, available


def show_demo(rounds: int | None, folder: Path, wanted: Wanted) -> None:
    """Compare on every stream that is installed; three numbers come last."""
    wanted = study_files.possible(wanted)
    found, missing = available()
    if not found:
        raise StreamError(missing[0])
    for sentence in missing:
        remarks().print(sentence, markup=False, style="yellow")
    remarks().print("Runs every learner on real streams: about a minute.")
    studies, names = _studies(found, rounds or ROUNDS), [one.title for one in found]
    present(studies, names, folder, wanted, _three_numbers)


def _studies(found: dict[Shown, Task], most: int) -> Iterator[Study]:
    for shown, task in found.items():
        x, y = task.x[-most:], task.y[-most:]
        note = f"The last {len(y):,} of {len(task.y):,} rounds: {task.what}."
        yield compared(shown.title, shown.target, shown.features, x, y, [note])


def _three_numbers(console: Console, studies: Sequence[Study]) -> None:
    """What to remember, a line a stream."""
    table = titled("Three numbers that matter")
    table.add_column("the Tracker on")
    heads = (
        "error over\npersistence's",
        "over best\nfixed one's",
        "rounds\nthat count",
    )
    for head in heads:
        table.add_column(head, justify="right")
    for study in studies:
        own, fixed = study.tracker.name, study.of_role("fixed")[0].name
        ratios = (study.ratio(own, study.persistence.name), study.ratio(own, fixed))
        assert study.inside is not None
        memory = np.median(study.inside.memory.mean)
        table.add_row(study.title, *(f"{r:.3f}" for r in ratios), f"{memory:,.0f}")
    console.print(table)
