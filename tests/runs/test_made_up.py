import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from tests.cli.streams import rows, thalweg, written
from tests.runs.made_up import SEEN, checkpoints, outcome, with_run
from thalweg import Online, persistence
from thalweg.errors import PersistenceError
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.runs import checkpoint

CASES = (
    pytest.param(0, 400, marks=pytest.mark.slow),
    pytest.param(400, 1500, marks=pytest.mark.nightly),
)


@pytest.mark.parametrize(("first", "last"), CASES)
def test_no_made_up_checkpoint_leads_to_anything_but_our_own_errors(
    tmp_path, first, last
):
    """In a process of its own, which it must not end."""
    command = [sys.executable, "-m", "tests.runs.made_up", tmp_path, first, last]
    done = subprocess.run(map(str, command), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    counts, cases = json.loads(done.stdout), last - first
    assert sum(counts.values()) == cases and min(counts.values()) > cases / 20


def test_a_checkpoint_that_was_not_changed_is_resumed(tmp_path):
    path = tmp_path / "m.thalweg"
    for data, after in checkpoints(tmp_path):
        path.write_bytes(data)
        assert outcome(path, after) == "played"


def shorter(packed):
    return packed[:40].copy()


def with_entry(place, value):
    def changed(packed):
        return np.where(np.arange(len(packed)) == place, value, packed)

    return changed


@pytest.mark.parametrize(
    "changed",
    [shorter, with_entry(layout.SEASON, 1e9), with_entry(layout.ERROR_COUNT, -5e8)],
    ids=["short", "season", "scored"],
)
@pytest.mark.sampled(1)
def test_a_state_that_would_lead_kernels_astray_is_refused(tmp_path, changed):
    """The first Tracker is checked as any model is; the others were not."""
    path = tmp_path / "m.thalweg"
    data, _ = checkpoints(tmp_path)[len(SEEN)]  # of two targets
    path.write_bytes(data)
    saved = persistence.load(path)
    run = saved.extra["run"]
    first, second = run["session"]["runs"]
    state = second["state"]
    second = second | {"state": state._replace(packed=changed(state.packed))}
    run = run | {"session": run["session"] | {"runs": (first, second)}}
    path.write_bytes(with_run(saved, run))
    with pytest.raises(PersistenceError, match=r"no run that could go on: .*Tracker"):
        checkpoint.load_checkpoint(path)


def test_only_files_of_predictions_are_continued(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stream.csv")
    thalweg("run", "stream.csv", "-t", "y", "--no-report")
    path = tmp_path / "out/stream/model.thalweg"
    saved = persistence.load(path)
    progress = saved.extra["run_progress"] | {"predictions": "../../notes.txt"}
    path.write_bytes(with_run(saved, progress, "run_progress"))
    with pytest.raises(PersistenceError, match="its 'predictions' must be a file"):
        checkpoint.load_checkpoint(path)


@pytest.mark.parametrize("policy", ["refuse", "skip", "impute"])
def test_a_checkpoint_is_a_model_that_python_continues_alike(
    tmp_path, monkeypatch, policy
):
    monkeypatch.chdir(tmp_path)
    lines = rows(120)
    if policy != "refuse":
        for k in (50, 80):
            when, a, *others = lines[k].split(",")
            lines[k] = ",".join([when, "", *others])
        lines[60] = lines[60].rpartition(",")[0] + ",\n"
    options = ("-t", "y", "--features", "a,b", "--missing", policy, "--no-report")
    written(tmp_path / "whole.csv", lines)
    written(tmp_path / "begun.csv", lines[:70])
    assert thalweg("run", "whole.csv", *options).exit_code == 0
    assert thalweg("run", "begun.csv", *options).exit_code == 0
    model = Online.load(tmp_path / "out/begun/model.thalweg")
    assert (model.missing, model.rounds) == (policy, 69)
    if model.imputer is not None:
        # The row without its target, and under "skip" the one with a missing feature.
        assert model.imputer.state.skipped == 1 + (policy == "skip")
        assert model.imputer.state.imputed == 1
    columns = zip(*(line.strip().split(",") for line in lines[70:]), strict=True)
    _, a, b, _, y = ([cell or None for cell in column] for column in columns)
    table = pa.table({"a": a, "b": b, "y": y})
    predictions = model.run(table, target="y").prediction
    done = (tmp_path / "out/whole/predictions.csv").read_text().splitlines()[70:]
    assert predictions.tolist() == [float(line.split(",")[2]) for line in done]


def test_a_run_with_a_delay_goes_on_live_by_ask_and_tell(tmp_path, monkeypatch):
    """The labels of its last rows were in the file: the next are those of rows asked
    for.
    """
    monkeypatch.chdir(tmp_path)
    lines, delay = rows(120), 4
    options = ("-t", "y", "--features", "a,b", "--delay", str(delay), "--no-report")
    written(tmp_path / "whole.csv", lines)
    written(tmp_path / "begun.csv", lines[:70])
    assert thalweg("run", "whole.csv", *options).exit_code == 0
    assert thalweg("run", "begun.csv", *options).exit_code == 0
    model, predictions = Online.load(tmp_path / "out/begun/model.thalweg"), []
    cells = [line.strip().split(",") for line in lines[70:]]
    for t, (_, a, b, *_) in enumerate(cells):
        predictions.append(model.ask({"a": float(a), "b": float(b)}).prediction)
        if t >= delay:
            model.tell(float(cells[t - delay][-1]))
    done = (tmp_path / "out/whole/predictions.csv").read_text().splitlines()[70:]
    assert predictions == [float(line.split(",")[2]) for line in done]


def test_a_run_of_another_version_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / "m.thalweg"
    data, _ = checkpoints(tmp_path)[0]
    path.write_bytes(data)
    saved = persistence.load(path)
    for other in ('{"rows": 3}', saved.extra["run"] | {"version": 1}):
        path.write_bytes(with_run(saved, other))
        with pytest.raises(PersistenceError, match="another version of thalweg wrote"):
            checkpoint.load_checkpoint(path)
