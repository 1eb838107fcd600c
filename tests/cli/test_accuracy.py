import json

import numpy as np

from tests.cli.streams import thalweg
from thalweg.cli.accuracy import lab_accuracy
from thalweg.lab.datasets import MissingDataError


def noise():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 2)), rng.normal(size=200)


def missing():
    raise MissingDataError("The stream needs a package. Run: make data")


def test_the_table_fits_and_says_what_was_left_out(monkeypatch):
    monkeypatch.setattr(
        lab_accuracy, "public_streams", lambda: {"noise": noise, "gone": missing}
    )
    done = thalweg("accuracy", "--quick")
    assert done.exit_code == 0, done.output
    assert "noise" in done.stdout and "on average" in done.stdout
    assert done.stderr == "Left out, as make data was not run: gone.\n"
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_no_data_at_all_name_the_command_that_brings_them(monkeypatch):
    monkeypatch.setattr(lab_accuracy, "public_streams", lambda: {"gone": missing})
    done = thalweg("accuracy")
    assert done.exit_code == 2 and done.stderr.endswith("Run: make data\n")


def test_json_holds_the_rows(monkeypatch):
    monkeypatch.setattr(
        lab_accuracy, "synthetic_streams", lambda seeds: {"noise": noise}
    )
    (row,) = json.loads(thalweg("accuracy", "--synthetic", "--json").stdout)
    assert row["stream"] == "noise" and row["tracker"] > 0


def test_rivals_need_real_streams():
    done = thalweg("accuracy", "--synthetic", "--rivals")
    assert done.exit_code == 2 and "real streams only" in done.stderr


def test_ctrl_c_shows_what_was_done_until_then(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    streams = {"noise": noise, "long": interrupted}
    monkeypatch.setattr(lab_accuracy, "public_streams", lambda: streams)
    done = thalweg("accuracy")
    assert done.exit_code == 130 and "noise" in done.stdout
    monkeypatch.setattr(lab_accuracy, "public_streams", lambda: {"long": interrupted})
    nothing = thalweg("accuracy")
    assert (nothing.exit_code, nothing.stdout) == (130, "")
    assert nothing.stderr == "Stopped.\n"
