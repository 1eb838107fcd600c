"""Numbers that are times by their column's name, in all commands."""

import json

import numpy as np
import pytest

from tests.cli.streams import RUNNER, written
from thalweg.cli.main import app

VALUES = np.random.default_rng(0).normal(10, 1, 80).round(3).tolist()
NOTE = "Column 'year' holds the times of the rows."


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{1900 + k},{k % 9},{y}\n" for k, y in enumerate(VALUES)]
    written(tmp_path / "yearly.csv", ["year,size,y\n", *lines])
    lines = [f"{y},{k % 9},{y}\n" for k, y in enumerate(VALUES)]
    written(tmp_path / "measured.csv", ["year,size,y\n", *lines])
    return tmp_path


def outcome(*arguments, **options):
    arguments = (*arguments, "--json", "--no-report")
    done = RUNNER.invoke(app, arguments, **options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_numbers_that_rise_are_the_time_of_a_run_and_no_feature(folder):
    study = outcome("run", "yearly.csv", "-t", "y")["studies"][0]
    assert NOTE in study["notes"] and "year" not in study["features"]
    lines = (folder / "out/yearly/predictions.csv").read_text().splitlines()
    assert lines[0].startswith("row,time,") and lines[1].startswith("1,1900.0,")
    study = outcome("compare", "yearly.csv", "-t", "y")["studies"][0]
    assert "year" not in study["features"]
    study = outcome("run", "measured.csv", "-t", "y")["studies"][0]
    assert NOTE not in study["notes"] and "year" in study["features"]


def test_a_run_with_such_times_is_resumed_to_the_last_bit(folder):
    whole = (folder / "yearly.csv").read_text()
    outcome("run", "yearly.csv", "-t", "y", "--out", "whole")
    written(folder / "yearly.csv", whole.splitlines(keepends=True)[:50])
    outcome("run", "yearly.csv", "-t", "y", "--out", "cut")
    written(folder / "yearly.csv", [whole])
    outcome("run", "yearly.csv", "--resume", "cut/model.thalweg")
    texts = [
        (folder / name / "predictions.csv").read_text() for name in ("whole", "cut")
    ]
    assert texts[0] == texts[1]


def test_on_a_pipe_they_are_a_feature(folder):
    text = (folder / "yearly.csv").read_text()
    study = outcome("run", "-", "-t", "y", "--out", "o", input=text)["studies"][0]
    assert NOTE not in study["notes"] and "year" in study["features"]
