"""Small parts of commands that whole runs do not reach, or not visibly."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from thalweg.cli.main import app
from thalweg.report import console
from thalweg.report.console import ProgressBar
from thalweg.runs import memory
from thalweg.runs.output_paths import _prediction_path
from thalweg.runs.signals import StoppedError, StopSignal


def test_help_offers_no_installation_of_completions():
    assert "completion" not in CliRunner().invoke(app, ["run", "--help"]).output


class RecordingDisplay:
    """A progress display that remembers the last rate."""

    def add_task(self, description, total):
        return 0

    def update(self, task, completed, rate):
        self.rate = rate


def test_progress_shows_the_rate_after_the_first_rows(monkeypatch):
    times = iter([100.0, 104.0, 110.0])
    monkeypatch.setattr(console.time, "perf_counter", lambda: next(times))
    display = RecordingDisplay()
    bar = ProgressBar(display, "rows", None)
    bar.update(0.1, rows=500)
    assert display.rate == 0  # kernels may have been compiled meanwhile
    bar.update(0.2, rows=900)
    assert display.rate == 100
    bar.update(0.3, rows=2500)
    assert display.rate == 200


def test_without_a_list_of_memory_all_that_is_built_in_counts(monkeypatch):
    def missing(self, encoding):
        raise FileNotFoundError

    monkeypatch.setattr(memory.Path, "read_text", missing)
    sizes = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert memory._available_bytes() == 4_096_000


@pytest.mark.parametrize(
    ("given", "out", "rows", "earlier", "live", "expected"),
    [
        ("own.csv", None, 0, None, False, "own.csv"),
        (None, None, 0, None, False, "folder/predictions.csv"),
        (None, None, 0, None, True, None),
        # A model that has seen rows goes on as it was told before.
        (None, None, 7, None, False, None),
        (None, "folder", 7, None, False, "folder/predictions.csv"),
        (None, None, 7, "folder/p.csv", False, "folder/p.csv"),
        (None, "folder", 7, "before/p.csv", False, "folder/p.csv"),
    ],
)
def test_where_predictions_are_written(given, out, rows, earlier, live, expected):
    def path(text):
        return None if text is None else Path(text)

    chosen = _prediction_path(
        live,
        SimpleNamespace(rows=rows),
        SimpleNamespace(predictions=path(earlier)),
        SimpleNamespace(predictions=path(given), out=path(out)),
        Path("folder"),
    )
    assert chosen == path(expected)


@pytest.mark.parametrize("waiting", [True, False])
def test_a_signal_during_a_checkpoint_takes_effect_after_it(waiting):
    saved = []

    def save_while_a_signal_comes(stop):
        with stop.defer_interrupt():
            os.kill(os.getpid(), signal.SIGTERM)
            saved.append(True)

    with StopSignal() as stop:
        if waiting:
            with pytest.raises(StoppedError), stop.allow_interrupt():
                save_while_a_signal_comes(stop)
        else:
            save_while_a_signal_comes(stop)
        assert saved and stop.exit_code == 128 + signal.SIGTERM
