"""Missing values in runs: imputed unless told otherwise; known labels always count."""

import json

import numpy as np
import pytest

from tests.cli.streams import thalweg
from thalweg.evaluation.tracker_run import TrackerRun


def write(path, x, y):
    def cell(value):
        return "" if value != value else repr(float(value))

    lines = [f"{cell(a)},{cell(b)}\n" for a, b in zip(x, y, strict=True)]
    path.write_text("x,y\n" + "".join(lines))
    return path


@pytest.fixture
def gappy(tmp_path, monkeypatch):
    """A file with gaps in the feature, and in the target at the end."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = 3 * x + rng.normal(size=200)
    x[::9] = np.nan
    y[-3:] = np.nan
    return write(tmp_path / "s.csv", x, y)


def predictions(out):
    lines = (out / "predictions.csv").read_text().splitlines()[1:]
    return [line.split(",") for line in lines]


def test_missing_values_are_imputed_and_blank_targets_predicted(gappy):
    done = thalweg("run", "s.csv", "-t", "y", "--no-report", "--json")
    assert done.exit_code == 0, done.stderr
    assert any("filled with means" in n for n in notes(done))
    rows = predictions(gappy.parent / "out/s")
    assert len(rows) == 200
    assert all(np.isfinite(float(row[1])) for row in rows)
    assert [row[-1] for row in rows[-3:]] == ["", "", ""]


def notes(done):
    return json.loads(done.stdout)["studies"][0]["notes"]


def test_missing_values_are_refused_if_asked(gappy):
    done = thalweg("run", "s.csv", "-t", "y", "--missing", "refuse")
    assert done.exit_code == 2
    assert "Row 198 (line 199) of s.csv: 'y' is missing." in done.stderr


def test_compare_imputes_as_well(gappy):
    done = thalweg("compare", "s.csv", "-t", "y", "--no-report", "--json")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("delay", [0, 3])
def test_skipped_rows_still_give_their_label(delay):
    """A random walk, of which most rows lack a feature that says nothing."""
    rng = np.random.default_rng(1)
    y = np.cumsum(rng.normal(size=1500))
    x = rng.normal(size=(1500, 1))
    x[np.arange(1500) % 10 != 0] = np.nan
    run = TrackerRun(1, delay, "skip")
    error = np.mean((run.play(x, y).prediction - y)[300:] ** 2)
    last = np.mean((y[1 + delay :] - y[: -1 - delay])[300:] ** 2)
    # If nine of ten labels were thrown away, it would be some five times as much.
    assert error < 1.2 * last


def test_skipped_rows_teach_coefficients_nothing():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(600, 2))
    y = x @ [1.0, -2.0] + 0.01 * rng.normal(size=600)
    lost = rng.random(600) < 0.5
    y[lost] = 50 * rng.normal(size=lost.sum())  # what must not be learnt
    x[lost, 0] = np.nan
    run = TrackerRun(2, 0, "skip")
    error = (run.play(x, y).prediction - y)[~lost]
    assert np.median(np.abs(error[150:])) < 0.5


def test_a_run_of_skipped_rows_can_be_cut_anywhere():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    x[rng.random((300, 2)) < 0.2] = np.nan
    y[rng.random(300) < 0.1] = np.nan
    whole = TrackerRun(2, 2, "skip").play(x, y).prediction
    run = TrackerRun(2, 2, "skip")
    parts = [run.play(x[s : s + 7], y[s : s + 7]).prediction for s in range(0, 300, 7)]
    assert np.array_equal(np.concatenate(parts), whole)
