"""``Online.ask`` and ``Online.tell``: what is learnt, and in which order."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import thalweg as tw
from tests.contracts.examples import example_learners
from thalweg.errors import InvalidParameterError, StreamError, ThalwegError
from thalweg.evaluation.prequential import predictions
from thalweg.evaluation.tracker_run import TrackerRun
from thalweg.losses import LinearLoss
from thalweg.models.delayed_labels import DelayedLabels
from thalweg.tables import Recipe

RNG = np.random.default_rng(5)
T = 60
X = RNG.normal(size=(T, 3))
Y = X @ [1.0, -2.0, 0.5] + np.sin(np.arange(T) / 4) + 0.1 * RNG.normal(size=T)
LEARNERS = [
    example for example in example_learners() if isinstance(example[1], LinearLoss)
]
PAGE = Path(__file__).parents[2] / "docs/late-labels.md"
RLS = tw.RecursiveLeastSquares(0.95)


def labels_for(loss):
    return 1.0 * (Y > 0) if isinstance(loss, tw.Logistic) else Y


def contents(model):
    """All that a model remembers, as bytes, but for how many calls it has refused."""
    return pickle.dumps({**model.__getstate__(), "refusals": 0})


def ask_and_tell(model, x, y, delay, between=lambda model, t: model):
    """Predictions of rows whose labels come ``delay`` rows late; NaN: never."""
    made = []
    for t in range(len(x)):
        made.append(model.ask(x[t]).prediction)
        model = between(model, t)
        if t >= delay:
            label = y[t - delay]
            model.tell(None if np.isnan(label).any() else label)
    return np.array(made), model


def delayed_updates(model, x, y, delay):
    """The same by the queue of models/delayed_labels.py and single updates."""
    due, made, waited = DelayedLabels(delay, x.shape[1]).push(x, y), [], 0.0
    for t in range(len(x)):
        made.append(model.predict(x[t]))
        waited += float(due.elapsed[t])
        if due.learnable[t]:
            model.update(due.x[t], float(due.y[t]), 1.0, waited)
            waited = 0.0
    return np.array(made)


@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("learner, loss", LEARNERS, ids=lambda e: type(e).__name__)
def test_labels_of_a_fixed_delay_are_learnt_as_updates_from_the_queue(
    learner, loss, delay
):
    model, oracle = tw.Online(learner, loss), tw.Online(learner, loss)
    y = labels_for(loss).copy()
    if not learner.advances_on_zero_weight:
        y[20:23] = y[40] = np.nan
    made, model = ask_and_tell(model, X, y, delay)
    np.testing.assert_array_equal(made, delayed_updates(oracle, X, y, delay))
    assert model.predict(X[0]) == oracle.predict(X[0])
    assert pickle.dumps(model.state) == pickle.dumps(oracle.state)
    assert model.waiting == tuple(range(T - delay, T))


@pytest.mark.parametrize("learner", [RLS, tw.SlidingWindow(9), tw.Tracker()])
@pytest.mark.parametrize("missing", ["skip", "impute"])
def test_rows_with_gaps_wait_like_others(learner, missing):
    x = X.copy()
    x[::6, 1] = x[13] = np.nan
    model, oracle = (tw.Online(learner, missing=missing) for _ in range(2))
    made, model = ask_and_tell(model, x, Y, 2)
    np.testing.assert_array_equal(made, delayed_updates(oracle, x, Y, 2))
    assert model.imputer.state.skipped == oracle.imputer.state.skipped


def test_a_label_that_never_comes_is_a_round_without_one_to_a_tracker():
    y = Y.copy()
    y[20:25] = y[40] = np.nan
    made, model = ask_and_tell(tw.Online(), X, y, 0)
    run = tw.Online(missing="skip")
    np.testing.assert_array_equal(made, run.run(X, y).prediction)
    assert pickle.dumps(model.state) == pickle.dumps(run.state)


def restarts(path):
    """A function that saves and loads, pickles or clones a model now and then."""

    def restart(model, t):
        if t % 11 == 3:
            model.save(path)
            return tw.Online.load(path)
        if t % 11 == 7:
            return pickle.loads(pickle.dumps(model))
        return model.clone() if t % 11 == 9 else model

    return restart


@pytest.mark.parametrize("delay", [1, 4])
@pytest.mark.parametrize("missing", ["refuse", "skip", "impute"])
def test_a_tracker_with_a_delay_gives_its_run_to_the_last_bit(delay, missing, tmp_path):
    learner, x, y = tw.Tracker(delay=delay), X.copy(), Y.copy()
    if missing != "refuse":
        x[::7, 1] = x[12, :] = np.nan
    y[30:32] = y[44] = np.nan
    run = tw.Online(learner, missing="skip" if missing == "refuse" else missing)
    trace = run.run(x, y)
    path = tmp_path / "m.thalweg"
    model = tw.Online(learner, missing=missing)
    made, model = ask_and_tell(model, x, y, delay, restarts(path))
    np.testing.assert_array_equal(made, trace.prediction)
    assert model.ticket_counts == (T, T - delay - 3, 3, delay)


def test_predictions_with_late_labels_are_those_that_an_evaluation_scores():
    """By single calls, as the command line's ``--delay`` and ``compare`` have them."""
    for learner, delayed in ((RLS, RLS), (tw.Tracker(), tw.Tracker(delay=3))):
        scored = predictions(learner, tw.Block(X, Y), delay=3)
        model = tw.Online(delayed, intercept=False)
        np.testing.assert_array_equal(ask_and_tell(model, X, Y, 3)[0], scored)
    played = TrackerRun(3, delay=3).play(X, Y).prediction  # of ``thalweg run``
    np.testing.assert_array_equal(played, scored)


class OwnUpdate(tw.Tracker):
    """A Tracker that is played by its ``update``, and has no live buffer."""

    def update(self, state, f):
        return super().update(state, f)


def test_a_tracker_without_a_live_buffer_gives_its_run_too():
    learner = OwnUpdate(delay=2, curvature=False)
    expected = tw.Online(learner).run(X[:12], Y[:12]).prediction
    model = tw.Online(learner)
    assert model._live_buffer() is None
    made, model = ask_and_tell(model, X[:12], Y[:12], 2)
    np.testing.assert_array_equal(made, expected)


def test_labels_in_any_order_give_the_run_if_they_come_in_time():
    delay = 4
    expected = tw.Online(tw.Tracker(delay=delay)).run(X, Y).prediction
    model, due, made = tw.Online(tw.Tracker(delay=delay)), {}, []
    for t in range(T):
        made.append(model.ask(X[t], key=f"row {t}").prediction)
        due.setdefault(t + int(RNG.integers(delay + 1)), []).append(t)
        for row in RNG.permutation(due.pop(t, [])):
            model.tell(Y[row], f"row {row}")
    np.testing.assert_array_equal(made, expected)


def test_a_tracker_with_a_delay_goes_on_from_a_run_and_to_one():
    learner, weight = tw.Tracker(delay=3), RNG.uniform(0.5, 2, T)
    run = tw.Online(learner)
    trace = run.run(X, Y, weight)
    model = tw.Online(learner)
    made = list(model.run(X[:20], Y[:20], weight[:20]).prediction)
    for t in range(20, 40):
        made.append(model.ask(X[t]).prediction)
        if t >= 23:
            model.tell(Y[t - 3], weight=weight[t - 3])
    for learn in (model.run, model.update):
        before = contents(model)
        with pytest.raises(StreamError, match=r"3 do, the first under the key 17\."):
            learn(X[40:41] if learn == model.run else X[40], Y[40:41])
        assert contents(model) == before
    for t in range(37, 40):
        model.tell(Y[t], weight=weight[t])
    made.append(model.predict(X[40]))
    model.update(X[40], Y[40], weight[40])
    made += list(model.run(X[41:50], Y[41:50], weight[41:50]).prediction)
    for t in range(50, T):  # also by the kernel
        made.append(model.predict(X[t]))
        model.update(X[t], Y[t], weight[t])
    np.testing.assert_array_equal(made, trace.prediction)
    assert pickle.dumps(model.state) == pickle.dumps(run.state)


def test_a_label_later_than_the_delay_is_waited_for_until_it_is_overtaken():
    model = tw.Online(tw.Tracker(delay=1))
    for t in range(4):
        model.ask(X[t])
    model.tell(Y[1], 1)  # that of row 0 was due before
    with pytest.raises(StreamError, match="key 0 was given up before its label came"):
        model.tell(Y[0], 0)
    model.tell(Y[2], 2)
    model.tell(Y[3], 3)  # not due yet
    labels = np.array([np.nan, *Y[1:4]])
    run = tw.Online(tw.Tracker(delay=1), missing="skip")
    run.run(X[:4], labels)
    assert model.predict(X[4]) == run.predict(X[4])
    assert model.ticket_counts == (4, 3, 1, 0)
    in_order = tw.Online(tw.Tracker(delay=1))
    for t in range(10):  # labels that all come three rows late are all learnt
        in_order.ask(X[t])
        if t >= 3:
            in_order.tell(Y[t - 3])
    assert in_order.ticket_counts == (10, 7, 0, 3)
    run = tw.Online(tw.Tracker(delay=1))
    run.run(X[:8], Y[:8])
    assert in_order.predict(X[8]) == run.predict(X[8])


@pytest.mark.parametrize("learner", [RLS, tw.Tracker(), tw.Tracker(delay=2)])
def test_several_targets_come_late_as_well(learner, tmp_path):
    y = np.column_stack([Y, -2 * Y + 1])
    delay = getattr(learner, "delay", 0)
    trace = tw.Online(learner).run(X[:30], y[:30])
    model, path = tw.Online(learner), tmp_path / "m.thalweg"
    made = []
    for t in range(30):
        made.append(np.broadcast_to(model.ask(X[t]).prediction, 2))
        if t % 10 == 5:
            model.save(path)
            model = tw.Online.load(path)
        if t >= delay:
            model.tell(y[t - delay])
    np.testing.assert_array_equal(made, trace.prediction)
    before = contents(model)
    model.ask(X[30])
    for wrong in (1.0, [1.0, 2.0, 3.0], [1.0, np.nan], [[1.0, 2.0]]):
        with pytest.raises(ThalwegError):
            model.tell(wrong)
    assert model.ticket_counts.waiting == delay + 1
    assert contents(model) != before


WRONG_LABELS = {
    "a NaN": np.nan, "infinity": np.inf, "too large": 1e200, "text": "1.0",
    "a matrix": [[1.0]], "an int beyond float64": 10**400,
}  # fmt: skip


@pytest.mark.parametrize("learner", [RLS, tw.SlidingWindow(9), tw.Tracker(delay=2)])
def test_what_is_refused_leaves_the_model_as_it_was(learner):
    model = tw.Online(learner)
    for t in range(12):
        model.ask(X[t], key=f"k{t}")
    for t in range(5):
        model.tell(Y[t])
    before, refusals = contents(model), model.refusals

    def refused(match, call, *given):
        nonlocal refusals
        with pytest.raises(ThalwegError, match=match):
            call(*given)
        refusals += 1
        assert contents(model) == before and model.refusals == refusals

    refused(
        "under the key 'new': no such row was asked for, or", model.tell, 1.0, "new"
    )
    refused("under the key 'k3': no such row was asked for, or", model.tell, 1.0, "k3")
    refused("under the key 7: no such row was", model.tell, 1.0, 7)
    refused("waits for its label under the key 'k7' already", model.ask, X[0], "k7")
    for label in WRONG_LABELS.values():
        refused(r"label|Round 0|of the block|y ", model.tell, label, "k7")
    refused("The label of the row 'k5' must be a finite.*nan", model.tell, np.nan)
    for weight in (-1.0, np.nan, "1", None):
        refused("weight", model.tell, 1.0, "k7", weight)
    for key in (1.5, True, ("a",), b"a", 2**63):
        refused("A key must be a string or an integer", model.ask, X[0], key)
        refused("A key must be a string or an integer", model.tell, 1.0, key)
    for x in (X[0, :2], X[:2], [1.0, np.nan, 0.0], [np.inf, 0, 0], "abc", {"a": 1.0}):
        refused("feature|names|x of|Round 0", model.ask, x)
    assert model.waiting == tuple(f"k{t}" for t in range(5, 12))


def test_no_row_waits_in_a_new_model():
    model = tw.Online()
    assert model.waiting == () and model.ticket_counts == (0, 0, 0, 0)
    with pytest.raises(StreamError, match=r"^No row waits for its label\.$"):
        model.tell(1.0)


def test_rows_that_wait_before_the_first_label_have_as_many_features():
    for learner in (RLS, tw.Tracker(delay=2)):
        model = tw.Online(learner)
        assert model.ask(X[0]).prediction == 0.0
        with pytest.raises(StreamError, match=r"wait have 3 features. Got 2 instead"):
            model.ask(X[0, :2])
        model.tell(None)
        model.ask(X[0, :2] if learner is RLS else X[1])
        assert model.ticket_counts == (2, 0, 1, 1)


@pytest.mark.parametrize("learner", [RLS, tw.Tracker(), tw.Tracker(delay=2)])
def test_the_oldest_row_is_given_up_where_too_many_wait(learner):
    model, delay = tw.Online(learner, max_waiting=5), getattr(learner, "delay", 0)
    for t in range(12):
        model.ask(X[t])
    assert model.waiting == tuple(range(7 - delay, 12))
    assert model.ticket_counts == (12, 0, 7 - delay, 5 + delay)
    with pytest.raises(StreamError, match="The row of the key 2 was given up before"):
        model.tell(1.0, 2)
    model.ask(X[0], key=2)  # it may be used again
    model.tell(1.0, 2)
    for max_waiting in (0, 1.5, -1, "5"):
        with pytest.raises(InvalidParameterError, match="'max_waiting'"):
            tw.Online(max_waiting=max_waiting)


def test_memory_is_bounded_whatever_never_comes():
    model = tw.Online(RLS, max_waiting=3)
    for t in range(1500):
        model.ask(X[t % T])
    waiting = model.__getstate__()["_snapshot"].waiting
    assert len(waiting.keys) == 3 and len(waiting.lost_keys) == 1024
    assert waiting.lost_keys[-1] == 1496


def test_keys_are_numbers_unless_they_are_given():
    model = tw.Online(RLS)
    keys = [model.ask(x, key).key for x, key in zip(X, (None, "a", 4, None, None))]  # noqa: B905
    assert keys == [0, "a", 4, 3, 5]
    assert model.ask(X[0], np.int64(9)).key == 9 and model.ask(X[0]).key == 6
    model.tell(1.0, np.str_("a"))
    assert model.waiting == (0, 4, 3, 5, 9, 6)


def test_a_ticket_holds_the_interval_that_was_asked_for():
    for learner in (RLS, tw.Tracker(), tw.Tracker(delay=2)):
        model = tw.Online(learner)
        for t in range(40):
            ticket = model.ask(X[t], interval=0.8)
            assert ticket.interval.mean == ticket.prediction
            if t >= 2:
                model.tell(Y[t - 2])
        expected = model.predict(X[40], interval=0.8)
        assert model.ask(X[40], interval=0.8).interval == expected
        assert model.ask(X[41]).interval is None


@pytest.mark.parametrize("learner", [RLS, tw.Tracker(curvature=False, delay=2)])
def test_features_come_and_go_while_rows_wait(learner):
    """A row that was asked for earlier has a zero for a feature that came later."""
    model = tw.Online(learner)
    for t in range(20):
        model.ask(X[t])
        if t >= 4:
            model.tell(Y[t - 4])
    changed = model.clone()
    changed.add_features([1])
    changed.remove_features([1])
    for either in (model, changed):
        for t in range(16, 20):
            either.tell(Y[t])
    np.testing.assert_allclose(changed.predict(X[20]), model.predict(X[20]), rtol=1e-9)
    changed.add_features([3])
    changed.ask([*X[20], 1.0])
    assert len(changed.__getstate__()["_snapshot"].waiting.x[-1]) == 4


def test_rows_with_names_wait_like_others():
    rows = [{"a": a, "kind": "xyz"[t % 3], "b": b} for t, (a, b, _) in enumerate(X)]
    model, oracle = tw.Online(RLS), tw.Online(RLS)
    for t in range(20):
        if t > 2:  # a level that has not appeared is encoded as if it alone appeared
            assert model.ask(rows[t]).prediction == oracle.predict(rows[t])
        else:
            model.ask(rows[t])
        model.tell(Y[t])
        oracle.update(rows[t], Y[t])
    assert model.coefficients == oracle.coefficients
    with pytest.raises(StreamError, match="b"):
        model.ask({"a": 1.0, "kind": "x"})
    frame = {"a": X[:, 0], "y": Y}
    pandas = pytest.importorskip("pandas")
    lagged = tw.Online(RLS)
    recipe = Recipe(targets=("y",), lags=(1,))
    lagged.run(pandas.DataFrame(frame), recipe=recipe)
    with pytest.raises(StreamError, match="with lags cannot wait for their targets"):
        lagged.ask({"a": 1.0})
    with pytest.raises(StreamError, match=r"predicts one row.*Got 2 rows"):
        model.ask(pandas.DataFrame(rows[:2]))


def test_what_the_page_shows_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {}
    exec(compile(shown[0], str(PAGE), "exec"), names)
    assert names["model"].waiting == ()
    assert names["model"].ticket_counts == (2, 1, 1, 0)
    exec(compile(shown[1], str(PAGE), "exec"), names)
    assert len(names["model"].waiting) == 12
