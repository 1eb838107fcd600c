"""Slices of the tools that look for faults: fuzzed requests, and kill -9 under load."""

import asyncio

import pytest

from thalweg.learners import RecursiveLeastSquares, Tracker
from tools.serve_fuzz import fuzz
from tools.serve_kills import kill_under_load

pytestmark = pytest.mark.nightly


@pytest.mark.parametrize(
    ("learner", "count"), [(RecursiveLeastSquares(0.95), 400), (Tracker(), 200)]
)
def test_no_fuzzed_request_is_a_500(tmp_path, learner, count):
    statuses, faults, _ = asyncio.run(fuzz(tmp_path / "m", count, 1, learner))
    assert faults == []
    assert {200, 400, 404, 422} <= set(statuses)


def test_kill_9_under_load_loses_nothing_and_learns_nothing_twice(tmp_path):
    done, wrong = kill_under_load(tmp_path / "m", kills=3)
    assert done["rows"] > 10 and done["kills"] == 3
    assert wrong == {"lost": 0, "learnt_twice": 0, "different": 0}
