"""``python -m benchmarks.bench``."""

from benchmarks.bench.command import APP

APP(prog_name="python -m benchmarks.bench")
