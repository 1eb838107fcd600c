"""Rows a second are those of the data: compiling kernels is not counted."""

from thalweg.runs import run_command
from thalweg.runs.run_command import Stopwatch


def test_the_time_of_the_compiler_is_left_out(monkeypatch):
    now, compiled = [100.0], [7.0]
    monkeypatch.setattr(run_command.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(run_command, "compilation_seconds", lambda: compiled[0])
    watch = Stopwatch()
    now[0], compiled[0] = 135.0, 37.0
    assert watch.seconds() == 5.0
    now[0], compiled[0] = 130.0, 37.0  # all of the time was the compiler's
    assert watch.seconds() > 0
