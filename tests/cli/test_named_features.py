"""--features: columns that are named, or none; times are found all the same."""

import csv
import json

import numpy as np
import pytest

from tests.cli.streams import thalweg, written

ROWS = 20 * 24


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A German file of hours, whose price is a sum of the other columns."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    base, extra = rng.normal(size=ROWS).cumsum(), rng.normal(size=ROWS)
    lines = ["Zeit;Preis;Sockel;Zuschlag\n"]
    for k, hour in enumerate(np.datetime64("2024-02-01T00", "h") + np.arange(ROWS)):
        day, clock = str(hour).split("T")
        date = ".".join(reversed(day.split("-")))
        values = (base[k] + extra[k], base[k], extra[k])
        cells = (f"{value:.4f}".replace(".", ",") for value in values)
        lines.append(f"{date} {clock}:00;{';'.join(cells)}\n")
    written(tmp_path / "preise.csv", lines)
    return tmp_path


def run(*options):
    arguments = ("run", "preise.csv", "-t", "Preis", "--json", "--no-report")
    done = thalweg(*arguments, *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["studies"][0]


def times_of(folder):
    with (folder / "out/preise/predictions.csv").open() as lines:
        return [row["time"] for row in csv.DictReader(lines)]


@pytest.mark.parametrize("names", [None, "Sockel", "none"])
def test_dates_are_read_alike_whichever_columns_are_named(folder, names):
    run(*(() if names is None else ("--features", names)))
    times = times_of(folder)
    assert times[0] == "2024-02-01T00:00:00"
    assert times[-1] == "2024-02-20T23:00:00"
    assert times == sorted(times)


def test_none_leaves_out_all_columns_but_the_past_and_the_times():
    study = run("--features", "none")
    assert not {"Sockel", "Zuschlag"} & {*study["features"]}
    assert "forecast of Preis by its past" in study["features"]


def test_columns_that_add_up_to_the_target_are_pointed_out():
    assert any("of the same row explain most of Preis" in s for s in run()["summary"])
    alone = run("--features", "none")
    assert not any("of the same row explain" in s for s in alone["summary"])
