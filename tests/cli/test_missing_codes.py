"""Codes for missing values: runs and forecasts are those of files with blanks."""

import json

import numpy as np
import pytest

from tests.cli.streams import RUNNER, thalweg, written
from tests.cli.test_resume import stopped_after
from thalweg.cli.main import app
from thalweg.runs.checkpoint import load_checkpoint

ROWS = 300
NOTE = "'y': 7 values of 9999 lie far outside of all others and are taken as missing;"


def lines(code, feature_code, shop="", seed=0):
    rng = np.random.default_rng(seed)
    y = 20 + 8 * np.sin(np.arange(ROWS) / 24 * 2 * np.pi) + rng.normal(size=ROWS)
    x = rng.uniform(0, 100, ROWS)
    hours = np.datetime64("2024-01-01T00") + np.arange(ROWS)
    made = []
    for k, hour in enumerate(hours):
        target = code if k % 40 == 13 and k < 290 else f"{y[k]:.3f}"
        feature = feature_code if k % 50 == 20 else f"{x[k]:.3f}"
        made.append(",".join([shop, str(hour), target, feature][not shop :]) + "\n")
    return made


HEADER = "when,y,x\n"
CODED, BLANK = lines("9999", "-99.9"), lines("", "")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_that_of_a_file_with_blanks(folder):
    written(folder / "coded.csv", [HEADER, *CODED])
    written(folder / "blank.csv", [HEADER, *BLANK])
    done = thalweg("run", "coded.csv", "-t", "y", "--no-report")
    assert done.exit_code == 0, done.output
    assert NOTE in done.stderr.replace("\n", " ")
    assert "'x': 6 values of -99.9" in done.stderr
    assert thalweg("run", "blank.csv", "-t", "y", "--no-report").exit_code == 0
    coded, blank = (folder / f"out/{n}/predictions.csv" for n in ("coded", "blank"))
    assert coded.read_text() == blank.read_text()


def test_codes_are_kept_if_asked(folder):
    written(folder / "coded.csv", [HEADER, *CODED])
    for command in ("run", "forecast"):
        done = thalweg(
            command, "coded.csv", "-t", "y", "--codes", "keep", "--no-report"
        )
        assert done.exit_code == 0, done.output
        assert "taken as missing" not in done.stderr
    assert "9999.0" in (folder / "out/coded/predictions.csv").read_text()
    wrong = thalweg("run", "coded.csv", "-t", "y", "--codes", "drop")
    assert "--codes takes missing or keep. Got 'drop' instead." in wrong.stderr


def test_a_run_that_was_stopped_resumes_to_the_last_byte(folder, monkeypatch):
    written(folder / "coded.csv", [HEADER, *CODED])
    whole = thalweg("run", "coded.csv", "-t", "y", "--no-report", "--out", "whole")
    assert whole.exit_code == 0, whole.output
    with monkeypatch.context() as patch:
        stopped_after(3, patch)
        stopped = thalweg("run", "coded.csv", "-t", "y", "--no-report", "--out", "cut")
    assert stopped.exit_code == 130, stopped.output
    done = thalweg("run", "coded.csv", "--resume", "cut/model.thalweg", "--no-report")
    assert done.exit_code == 0, done.output
    assert NOTE in done.stderr.replace("\n", " ")
    first, second = (folder / kind / "predictions.csv" for kind in ("whole", "cut"))
    assert first.read_bytes() == second.read_bytes()
    one, other = (
        load_checkpoint(folder / kind / "model.thalweg")[0]
        .sessions[()]
        .encoder.state.ranges
        for kind in ("whole", "cut")
    )
    assert one == other and one[0].counts == (7,)


def test_a_pipe_finds_codes_once_it_has_seen_other_values(folder):
    text = "".join([HEADER, *CODED])
    done = RUNNER.invoke(app, ["run", "-", "-t", "y", "--no-report"], input=text)
    assert done.exit_code == 0, done.output
    assert NOTE in done.stderr.replace("\n", " ")
    assert ",9999.0" not in done.stdout


def test_each_series_of_a_file_has_its_codes(folder):
    glued = [*lines("9999", "-99.9", "north"), *lines("9999", "-99.9", "south", 1)]
    written(folder / "shops.csv", ["shop," + HEADER, *glued])
    done = thalweg("run", "shops.csv", "-t", "y", "--no-report")
    assert done.exit_code == 0, done.output
    assert "'y': 14 values of 9999" in done.stderr
    done = thalweg("forecast", "shops.csv", "-t", "y", "--no-report")
    assert done.exit_code == 0, done.output
    assert "'y': 14 values of 9999" in done.stderr


def test_a_forecast_is_that_of_a_file_with_blanks_also_resumed(folder):
    written(folder / "coded.csv", [HEADER, *CODED])
    written(folder / "blank.csv", [HEADER, *BLANK])
    written(folder / "first.csv", [HEADER, *CODED[:200]])
    for name in ("coded", "blank", "first"):
        options = ("-t", "y", "--horizon", "5", "--no-report", "--json")
        done = thalweg("forecast", f"{name}.csv", *options)
        assert done.exit_code == 0, done.output
    expected = (folder / "out/blank-forecast/forecast.csv").read_text()
    assert (folder / "out/coded-forecast/forecast.csv").read_text() == expected
    model = "out/first-forecast/model.thalweg"
    done = thalweg("forecast", "coded.csv", "--resume", model, "--json", "--no-report")
    assert done.exit_code == 0, done.output
    notes = json.loads(done.stdout)["notes"]
    assert any("values of 9999" in note for note in notes)
    assert (folder / "out/first-forecast/forecast.csv").read_text() == expected
