"""What a terminal shows while rows are played."""

from thalweg.report import console
from thalweg.report.console import ProgressBar


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
