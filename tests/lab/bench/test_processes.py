import sys

import numpy as np
import pytest

from thalweg.lab.bench import memory
from thalweg.lab.bench.plan import Plan
from thalweg.lab.bench.startup import IMPORT, startup
from thalweg.learners import RecursiveLeastSquares
from thalweg.models import Online


def test_the_import_is_timed_in_a_process_of_its_own():
    word, (row,) = next(startup(Plan(repeats=1)))
    assert word == row.name == IMPORT and 0 < row.ns < 60e9


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_file_is_played_in_pieces_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CHUNK", 1000)
    memory.write(tmp_path, 2500)
    model = Online(RecursiveLeastSquares())
    ((rounds, peak, own),) = memory.watch(model, tmp_path)
    assert rounds == model.rounds == 2500 and peak >= own > 0
    whole = Online(RecursiveLeastSquares())
    whole.run(np.load(tmp_path / "x.npy"), np.load(tmp_path / "y.npy"))
    np.testing.assert_array_equal(model.coefficients, whole.coefficients)
