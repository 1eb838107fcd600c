"""A flush that fails or ends at any call of the system loses no acknowledged round."""

import numpy as np
import pytest

import thalweg as tw
from tests.persistence.fault_injection import (
    KILLED,
    FaultInjection,
    Killed,
    exit_code_of,
)
from thalweg.errors import StorageError
from thalweg.learners import RecursiveLeastSquares

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(40, 2)), RNG.normal(size=40)
KEYS = ("a", "b", "c")
MAX_CALLS = 200


def open_models(path):
    return tw.KeyedModels(path, RecursiveLeastSquares())


def observe(models, rounds):
    for t in rounds:
        models.observe(KEYS[t % 3], X[t], Y[t], seq=t)


def predictions(models):
    return [models.predict(key, X[0]) for key in KEYS]


def expected_predictions(tmp_path, rounds):
    with open_models(tmp_path / f"expected-{rounds}.sqlite") as models:
        observe(models, range(rounds))
        return predictions(models)


@pytest.mark.parametrize("fault", [5, "kill"])
def test_a_flush_that_fails_at_any_call_can_be_repeated(tmp_path, fault):
    ten, twenty = (expected_predictions(tmp_path, rounds) for rounds in (10, 20))
    for at in range(MAX_CALLS):
        path = tmp_path / f"{at}.sqlite"
        with open_models(path) as models:
            observe(models, range(10))
            models.flush()
            observe(models, range(10, 20))
            with FaultInjection(at, fault) as injection:
                try:
                    models.flush()
                    error = None
                except (StorageError, Killed) as raised:
                    error = raised
            if injection.was_reached and isinstance(error, StorageError):
                assert str(path) in str(error)
            assert predictions(models) == twenty, injection.calls
            if at % 2:  # the next flush saves what this one did not
                models.flush()
        with open_models(path) as models:
            assert predictions(models) == twenty, injection.calls
        if not injection.was_reached:
            break
    assert 3 <= at < MAX_CALLS and ten != twenty


def test_the_end_of_the_process_at_any_call_of_a_flush_leaves_a_whole_commit(tmp_path):
    ten, twenty = (expected_predictions(tmp_path, rounds) for rounds in (10, 20))

    def flush_until(path, at):
        models = open_models(path)
        observe(models, range(10))
        models.flush()
        observe(models, range(10, 20))
        with FaultInjection(at, "exit"):
            models.flush()

    results = []
    for at in range(MAX_CALLS):
        path = tmp_path / f"{at}.sqlite"
        code = exit_code_of(lambda: flush_until(path, at))  # noqa: B023
        with open_models(path) as models:
            results.append(predictions(models))
            observe(models, range(20))  # a source that sends all its rounds again
            assert predictions(models) == twenty
        if code == 0:
            break
        assert code == KILLED
    assert all(result in (ten, twenty) for result in results)
    assert ten in results and results[-1] == twenty
