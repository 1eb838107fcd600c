import sys

import numpy as np
import pytest

from benchmarks.bench import processes
from benchmarks.bench.bench_plan import BenchPlan
from benchmarks.bench.processes import IMPORT, measure_startup
from thalweg.learners import RecursiveLeastSquares
from thalweg.models import Online


def test_the_import_is_timed_in_a_process_of_its_own():
    message, (timing,) = next(measure_startup(BenchPlan(repeats=1)))
    assert message == timing.name == IMPORT and 0 < timing.ns < 60e9


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_file_is_run_in_parts_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "ROUNDS_PER_PART", 1000)
    processes.write_stream(tmp_path, 2500)
    model = Online(RecursiveLeastSquares())
    ((rounds, peak, own),) = processes.watch_memory(model, tmp_path)
    assert rounds == model.rounds == 2500 and peak >= own > 0
    whole = Online(RecursiveLeastSquares())
    whole.run(np.load(tmp_path / "x.npy"), np.load(tmp_path / "y.npy"))
    np.testing.assert_array_equal(model.coefficients, whole.coefficients)
