"""Checkpoints that no run has written, each of which is resumed if it can be.

python -m tests.runs.made_up FOLDER FIRST LAST    # cases by number; any may be repeated

In a process of its own: kernels check nothing, so that what is let through may end it.
"""

import json
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np

from tests.cli.streams import rows, written
from tests.persistence.mutations import (
    SIGNED_MUTATIONS,
    UNSIGNED_MUTATIONS,
    mutate_tree,
)
from thalweg import tables
from thalweg.errors import ThalwegError
from thalweg.persistence import dumps, loads
from thalweg.report.classification_section import section_of
from thalweg.runs import checkpoint
from thalweg.runs.checkpoint import RunOrigin
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.model_store import ModelFile
from thalweg.tables import Recipe

RECIPES = (
    Recipe(("y",)),
    Recipe(("y", "b"), delay=3, missing="impute"),
    Recipe(("y",), time="when", calendar="when", lags=(1, 3), categories=2),
    Recipe(("site",), features=("a", "b"), delay=3, missing="impute"),  # classes
)
SEEN, MORE = (20, 90, 300), 60
"""Rows before the file, of each recipe: too few to score, enough; and rows after it."""
NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 0.5, 1e9, -5e8, 2.0**63, 1e300, 5e-324)
OTHERS = (None, True, -1, 2**62, 1.5, np.nan, "x", (), (1,), np.zeros(3), np.int64(7))


def checkpoints(folder):
    """Files of runs, by recipe and rows seen, and the rows that come next."""
    path, found = folder / "m.thalweg", []
    stream = written(folder / "stream.csv", rows(SEEN[-1] + MORE))
    for recipe in RECIPES:
        for seen in SEEN:
            with tables.read_table(str(stream)) as table:
                (chunk,) = table.chunks()
            session = KeyedSession(recipe)
            session.play(chunk.slice_rows(0, seen))
            save(path, session)
            found.append((path.read_bytes(), chunk.slice_rows(seen, seen + MORE)))
    return found


def save(path, session):
    origin = RunOrigin("stream.csv", None, 0)
    checkpoint.save_checkpoint(ModelFile(path), session, origin)


def as_record(value):
    """What a file has given, in a form that can be written again."""
    if isinstance(value, dict):
        kind = namedtuple("Record", value)
        return kind(*map(as_record, value.values()))
    if type(value) is tuple:
        return tuple(map(as_record, value))
    return value


def with_run(saved, run, name="run"):
    return dumps(saved._replace(extra={**saved.extra, name: as_record(run)}))


def with_other_recipe(rng, data):
    """The recipe, which is JSON, disturbed."""
    saved = loads(data)
    run = dict(saved.extra["run"])
    run["recipe"] = json.dumps(mutate_tree(rng, json.loads(run["recipe"])))
    return with_run(saved, run)


def with_other_parts(rng, data):
    """One to three numbers, arrays, states or tuples of the session replaced."""
    saved = loads(data)
    run = dict(saved.extra["run"])
    for _ in range(rng.integers(1, 4)):
        run["session"] = _replaced(rng, run["session"])
    return with_run(saved, run)


def with_other_fields(rng, data):
    """Any field of the checkpoint, or of the run's progress, replaced."""
    saved, name = loads(data), rng.choice(["run", "run_progress"])
    return with_run(saved, _replaced(rng, saved.extra[name]), name)


def _replaced(rng, value):
    if isinstance(value, dict) and rng.random() < 0.95:
        name = list(value)[rng.integers(len(value))]
        return value | {name: _replaced(rng, value[name])}
    if isinstance(value, dict) and rng.random() < 0.5:
        names = list(value)
        rng.shuffle(names)
        return {name: value[name] for name in names[1:]}
    if isinstance(value, tuple) and value and rng.random() < 0.95:
        parts, k = list(value), rng.integers(len(value))
        parts[k] = _replaced(rng, parts[k])
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if (
        isinstance(value, tuple)
        and not hasattr(value, "_fields")
        and rng.random() < 0.5
    ):
        return value[:-1] if rng.random() < 0.5 else value + value[-1:]
    if isinstance(value, np.ndarray) and rng.random() < 0.9:
        return _other_array(rng, value)
    if isinstance(value, int | float) and rng.random() < 0.7:
        return type(value)(
            rng.choice([0, -1, 1, value + 1, value - 1, 2**53, -(2**60)])
        )
    return OTHERS[rng.integers(len(OTHERS))]


def _other_array(rng, array):
    how = rng.integers(7)
    if how == 0:
        return array[: rng.integers(len(array) + 1)].copy()
    if how == 1:
        return np.concatenate([array, array[: rng.integers(1, 9)]])
    if how == 2:
        return np.ascontiguousarray(array.T) if array.ndim > 1 else array[:, None]
    if how == 3:
        kinds = (np.float32, np.int64, np.int32, np.bool_)
        with np.errstate(all="ignore"):
            return array.astype(kinds[rng.integers(len(kinds))])
    if how == 4:
        return np.asfortranarray(array)
    changed = array.copy()
    if changed.size:
        # The first ones are what kernels count and index by.
        most = changed.size if how == 5 else min(changed.size, 16)
        where = rng.integers(most, size=rng.integers(1, 4))
        changed.reshape(-1)[where] = rng.choice(NUMBERS, len(where))
    return changed


MUTATIONS = (
    *UNSIGNED_MUTATIONS[:1], *SIGNED_MUTATIONS,
    *[with_other_recipe] * 6, *[with_other_fields] * 2,
    *[with_other_parts] * 24,
)  # fmt: skip


def outcome(path, rows_after):
    """The outcome of resuming a file: nothing but our own errors is let out."""
    try:
        with np.errstate(all="ignore"):  # where numbers were made up
            session, _ = checkpoint.load_checkpoint(path)
            _shown(session)
            session.columns().lines(session.play(rows_after))
            _shown(session)
            save(path, session)
    except ThalwegError as error:
        assert str(error).endswith((".", "?")), error
        return "refused"
    return "played"


def _shown(session):
    if session.scored_rounds():
        studies = [section_of(study).numbers for study in session.studies("")]
        json.dumps(studies, allow_nan=False)


def main(folder, first, last):
    path, runs = Path(folder) / "made-up.thalweg", checkpoints(Path(folder))
    counts = {"refused": 0, "played": 0}
    for case in range(int(first), int(last)):
        rng = np.random.default_rng(case)
        data, after = runs[rng.integers(len(runs))]
        mutation = MUTATIONS[rng.integers(len(MUTATIONS))]
        print("case", case, mutation.__name__, file=sys.stderr, flush=True)
        path.write_bytes(mutation(rng, data))
        counts[outcome(path, after)] += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main(*sys.argv[1:])
