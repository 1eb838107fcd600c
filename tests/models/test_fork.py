"""A process forks while a thread of it calls a model; each test in its own process."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.nightly

PRELUDE = """
import os, signal, sys, threading, time
import numpy as np, thalweg as tw
from thalweg.keyed import KeyedModels

class SlowLabel:
    "Stops the call that reads it, in the middle, until it is told to go on."
    def __init__(self):
        self.is_read, self.may_go_on = threading.Event(), threading.Event()
    def __array__(self, dtype=None, copy=None):
        self.is_read.set()
        self.may_go_on.wait()
        return np.array(1.0)

def fork_amid(call, in_child):
    "Fork while another thread is in call(label); the child's exit status."
    label = SlowLabel()
    thread = threading.Thread(target=call, args=(label,), daemon=True)
    thread.start()
    label.is_read.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(15)  # ends a child that waits for ever
        try:
            in_child()
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    label.may_go_on.set()
    thread.join()
    return status

X = np.random.default_rng(0).normal(size=(40, 3))
"""
MODEL = """
learner, missing = {learner}, "{missing}"
model, twin = tw.Online(learner, missing=missing), tw.Online(learner, missing=missing)
for x in X[:20]:
    model.update(x, x.sum())
    twin.update(x, x.sum())

def in_child():
    for x in X[20:]:
        assert model.predict(x) == twin.predict(x)
        model.update(x, x.sum())
        twin.update(x, x.sum())
    assert model.rounds == 40
    np.testing.assert_array_equal(model.state[0], twin.state[0])

status = fork_amid(lambda label: model.update(X[0], label), in_child)
assert status == 0, f"child: status {{status}}"
assert model.rounds == 21  # of the parent, whose call went on
model.update(X[0], 1.0)
"""
KEYED = """
models = KeyedModels(sys.argv[1] + "/keyed.db", tw.RecursiveLeastSquares())
models.observe("a", X[0], 1.0, 0)

def in_child():
    try:
        models.observe("b", X[0], 1.0, 1)
    except tw.errors.StorageError as error:
        assert "fork" in str(error)
    else:
        raise AssertionError("the child has used its parent's connection")

status = fork_amid(lambda label: models.observe("a", X[0], label, 1), in_child)
assert status == 0, f"child: status {status}"
models.close()
"""


def run(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "learner", ["tw.RecursiveLeastSquares()", "tw.SlidingWindow()"]
)
@pytest.mark.parametrize("missing", ["refuse", "impute"])
def test_a_forked_child_goes_on_with_a_model_that_a_thread_was_calling(
    learner, missing
):
    result = run(MODEL.format(learner=learner, missing=missing))
    assert result.returncode == 0, result.stderr


def test_a_forked_child_is_refused_keyed_models_that_a_thread_was_calling(tmp_path):
    result = run(KEYED, str(tmp_path))
    assert result.returncode == 0, result.stderr


KNOWN_KEY = """
import warnings
warnings.simplefilter("error")
models = KeyedModels(sys.argv[1] + "/keyed.db", tw.RecursiveLeastSquares())
for k in range(3):
    models.observe("a", X[k], 1.0, k)
models.flush()
models.observe("a", X[3], 1.0, 3)
calls = [
    lambda: models.observe("a", X[4], 1.0, 4),
    lambda: models.observe_many(["a"], X[4:5], [1.0], [4]),
    lambda: models.predict("a", X[4]),
    lambda: models.last_seq("a"),
    lambda: models["a"],
    lambda: models.keys(),
    lambda: "a" in models,
    lambda: len(models),
    lambda: models.flush(),
    lambda: models.close(),
]
child = os.fork()
if child == 0:
    try:
        for number, call in enumerate(calls):
            try:
                call()
            except tw.errors.StorageError as error:
                assert "fork" in str(error), error
            else:
                raise AssertionError(f"call {number} was accepted")
        del models
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
models.observe("a", X[4], 1.0, 4)
models.close()
with KeyedModels(sys.argv[1] + "/keyed.db") as again:
    assert again.last_seq("a") == 4 and again["a"].rounds == 5
"""


def test_a_forked_child_is_refused_a_key_that_its_parent_has_in_memory(tmp_path):
    """What it learnt would be lost with it."""
    result = run(KNOWN_KEY, str(tmp_path))
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
