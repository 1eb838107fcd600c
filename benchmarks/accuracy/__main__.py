"""``python -m benchmarks.accuracy``."""

from benchmarks.accuracy.command import APP

APP(prog_name="python -m benchmarks.accuracy")
