import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import thalweg as tw
from thalweg.errors import StreamError
from thalweg.models.model_lock import ModelLock

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4000, 4))
Y = X @ [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(1.0), tw.Tracker()])
@pytest.mark.parametrize("missing", ["refuse", "impute"])
def test_threads_that_share_a_model_lose_no_round(learner, missing):
    """With γ = 1 and no noise the order of rounds does not matter to the fit."""
    model = tw.Online(learner, intercept=False, missing=missing)
    model.update(X[0], Y[0])
    errors = []

    def feed(part):
        try:
            for x, y in zip(X[part], Y[part], strict=True):
                assert np.isfinite(model.predict(x))
                model.update(x, y)
        except Exception as error:
            errors.append(error)

    parts = [slice(1 + k, 1200, 4) for k in range(4)]
    threads = [threading.Thread(target=feed, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert model.rounds == 1200
    if missing == "impute":
        assert (model.imputer.state.counts == 1200).all()
    if learner == tw.RecursiveLeastSquares(1.0):
        np.testing.assert_allclose(model.coefficients, [1, 2, 3, 4], rtol=1e-2)


def test_pure_learners_run_side_by_side():
    learner, loss = tw.RecursiveLeastSquares(0.99), tw.SquaredError()
    start, block = learner.init(np.zeros(4)), tw.Block(X, Y)
    expected, _ = learner.run(start, loss, block)
    states = [None] * 4

    def run(k):
        states[k] = learner.run(start, loss, block)[0]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for state in states:
        np.testing.assert_array_equal(state.theta, expected.theta)
        np.testing.assert_array_equal(state.factor, expected.factor)


def test_a_model_can_be_pickled_and_goes_on_as_it_was():
    model = tw.Online()
    model.run(X[:500], Y[:500])
    other = pickle.loads(pickle.dumps(model))
    expected = model.run(X[500:600], Y[500:600]).prediction
    np.testing.assert_array_equal(
        other.run(X[500:600], Y[500:600]).prediction, expected
    )


def test_several_threads_can_make_their_first_models_at_once():
    code = """
import threading
import numpy as np, thalweg as tw
failed, together = [], threading.Barrier(4)
def first():
    model = tw.Online(tw.RecursiveLeastSquares())
    together.wait()
    try:
        model.update(np.ones(3), 1.0)
    except Exception as error:
        failed.append(error)
threads = [threading.Thread(target=first) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not failed, failed
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_call_within_a_suspended_call_does_not_resume_the_model():
    """As a signal handler may: the outer call still reads one round through."""
    model = tw.Online(tw.RecursiveLeastSquares(1.0), intercept=False)
    model.update(X[0], Y[0])
    with model._suspend() as live:
        assert model.health().rounds == 1
        raw = model._live_buffer()
        call, buffer = raw.call, raw.buffer
        assert np.isnan(call(buffer, X[1], Y[1], 1.0, 1.0, True))
        assert live.count_rounds() == 1
    model.update(X[1], Y[1])
    assert model.rounds == 2


def test_an_interrupt_leaves_state_and_means_together(monkeypatch):
    model = tw.Online(missing="impute", intercept=False)
    model.run(X[:10], Y[:10])

    def interrupted(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("thalweg.models.online.LiveState", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.run(X[10:20], Y[10:20])
    assert model.rounds == 10
    assert (model.imputer.state.counts == 10).all()
    model.update(X[10], Y[10])
    assert (model.imputer.state.counts == 11).all()


def test_a_second_thread_waits_until_the_first_has_released_the_lock():
    lock, held, release, second_in = (ModelLock(), *(threading.Event() for _ in "abc"))

    def hold():
        with lock:
            held.set()
            release.wait()

    def follow():
        with lock:
            second_in.set()

    threads = [threading.Thread(target=hold), threading.Thread(target=follow)]
    threads[0].start()
    held.wait()
    threads[1].start()
    assert not second_in.wait(0.2)
    release.set()
    assert second_in.wait(60)
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    "learner", [tw.RecursiveLeastSquares(1.0), tw.SlidingWindow(9)]
)
def test_threads_that_tell_late_labels_learn_each_of_them_once(learner):
    """Two threads bring every label: one of them is refused."""
    model, refused = tw.Online(learner), []
    for t in range(400):
        model.ask(X[t])

    def tell():
        for t in range(400):
            try:
                model.tell(Y[t], t)
            except StreamError:
                refused.append(t)

    def update():
        for t in range(400, 600):
            model.update(X[t], Y[t])

    threads = [threading.Thread(target=work) for work in (tell, tell, update)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(refused) == list(range(400))
    assert model.rounds == 600 and model.ticket_counts == (400, 400, 0, 0)
