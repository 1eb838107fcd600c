"""A slice of the fuzzer; ``make fuzz`` plays all of it."""

import pytest

from tests.contracts.examples import public_classes
from tests.fuzz import fuzz_checks
from tests.fuzz.fuzz_cases import ORACLE_STRIDE, make_case
from tests.fuzz.fuzz_checks import check_case
from tests.fuzz.random_settings import NAMES, SETTINGS
from thalweg import learners
from thalweg.learners import Learner

STREAMS = 160
"""Of each learner, in a test run: about a minute of processor time in all."""
FIRST_SEED = 1_000_000
"""Other seeds than those of ``make fuzz``."""


def test_every_public_learner_is_fuzzed():
    assert set(SETTINGS) == set(public_classes(learners, Learner))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_promises_hold_on_hostile_streams(name):
    failures, judged = [], 0
    for seed in range(FIRST_SEED, FIRST_SEED + STREAMS):
        failure, rounds = check_case(make_case(name, seed))
        judged += rounds > 0
        if failure is not None:
            failures.append(
                f"{failure.category}: {failure.message}\n"
                f"    python tools/fuzz.py --replay {name}:{seed}"
            )
    assert not failures, "\n".join([f"{len(failures)} of {STREAMS} streams", *failures])
    assert judged >= STREAMS // ORACLE_STRIDE // 2


def test_a_case_is_the_same_whenever_it_is_drawn():
    first, second = (make_case("RecursiveLeastSquares", 7) for _ in range(2))
    assert first.describe() == second.describe()
    assert fuzz_checks._input_bytes(first) == fuzz_checks._input_bytes(second)
