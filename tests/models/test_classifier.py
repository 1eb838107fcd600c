"""``Classifier``: one model for each class, also of classes that appear later."""

import copy
import enum
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from thalweg.errors import (
    InvalidParameterError,
    PersistenceError,
    StreamError,
    ThalwegError,
    UnsupportedLossError,
)
from thalweg.models import classifier as classifier_module
from thalweg.models.class_probabilities import normalise, normalise_rows

PAGE = Path(__file__).parents[2] / "docs/classification.md"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
CENTRES = X @ RNG.normal(size=(3, 4)) + RNG.normal(size=(120, 4))
LABELS = [["red", "green", "blue", "grey"][k] for k in CENTRES.argmax(axis=1)]
LABELS[:40] = [label if label != "grey" else "red" for label in LABELS[:40]]
WEIGHT, ELAPSED = RNG.choice([0.0, 0.5, 1.0, 3.0], 120), RNG.uniform(0, 3, 120)
LEARNERS = [tw.LogisticTracker(), tw.DiscountedGradient(0.99)]
by_learner = pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: type(learner).__name__
)


def play(model, rows=range(120), labels=LABELS, x=X):
    """What the model says before each row, as it learns one after the other."""
    predictions = []
    for t in rows:
        predictions.append(model.predict(x[t]))
        model.update(x[t], labels[t], WEIGHT[t], ELAPSED[t])
    return predictions


def states(model):
    by_label = {key: one.state for key, one in model._models.by_label.items()}
    return {None: model._models.background.state, **by_label}


def assert_equal_states(one, other):
    ours, theirs = states(one), states(other)
    assert list(ours) == list(theirs) and one.rounds == other.rounds
    for label in ours:
        for part, expected in zip(ours[label], theirs[label], strict=True):
            np.testing.assert_array_equal(part, expected)


@by_learner
def test_a_class_that_appears_late_is_what_it_would_be_had_it_been_known(learner):
    """Bit by bit: a model of 0s and 1s that was given every row from the first on."""
    model = tw.Classifier(learner)
    predictions = play(model)
    known, first = model.classes, [LABELS.index(label) for label in model.classes]
    assert first == sorted(first) and first[-1] >= 40
    alone = {}
    for label in known:
        one = tw.Online(learner, tw.Logistic(), model.intercept)
        y = np.array([label == other for other in LABELS], float)
        alone[label] = one.run(X, y, WEIGHT, ELAPSED).prediction
        for ours, theirs in zip(states(model)[label], one.state, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for t, prediction in enumerate(predictions):
        scores = {label: alone[label][t] for label in known if label in LABELS[:t]}
        total = sum(scores.values())
        assert prediction == {label: p / total for label, p in scores.items()}


@by_learner
@settings(max_examples=15)
@given(cuts=st.lists(st.integers(1, 119), max_size=3).map(sorted))
def test_runs_equal_single_calls_to_the_last_bit_however_they_are_cut(learner, cuts):
    whole = tw.Classifier(learner)
    edges = [0, *cuts, 60 if not cuts else 120]
    for start, end in zip(edges, edges[1:], strict=False):
        if start == end:
            continue
        part = slice(start, end)
        loop = whole.clone()
        trace = whole.run(X[part], LABELS[part], WEIGHT[part], ELAPSED[part])
        predictions = play(loop, range(start, end))
        for row, prediction in zip(trace.prediction, predictions, strict=True):
            known = dict(zip(whole.classes, row, strict=True))
            assert {k: p for k, p in known.items() if k in prediction} == prediction
            assert all(p == 0 for k, p in known.items() if k not in prediction)
        assert_equal_states(loop, whole)


@by_learner
@pytest.mark.parametrize("rounds", [0, 20])
def test_classes_that_are_added_are_predicted_before_they_appear(
    learner, rounds, tmp_path
):
    model, other = tw.Classifier(learner), tw.Classifier(learner)
    for one in (model, other):
        if rounds:
            one.run(X[:rounds], LABELS[:rounds])
    model.add_classes(["grey", "red"])
    assert "grey" not in LABELS[:20] and "grey" in model.classes
    model.save(tmp_path / "c.thalweg")
    model = tw.Classifier.load(tmp_path / "c.thalweg")
    before = model.predict(X[rounds])
    assert 0 < before["grey"] < 1 and sum(before.values()) == pytest.approx(1)
    if not rounds:
        assert before == {"grey": 0.5, "red": 0.5}
    trace = model.run(X[rounds:], LABELS[rounds:])
    assert (trace.prediction[:, model.classes.index("grey")] > 0).all()
    other.run(X[rounds:], LABELS[rounds:])
    ours, theirs = states(model), states(other)
    assert set(ours) == set(theirs)
    for label in ours:
        for part, expected in zip(ours[label], theirs[label], strict=True):
            np.testing.assert_array_equal(part, expected)


def test_probabilities_sum_to_one_and_the_most_probable_label_is_the_class():
    model = tw.Classifier()
    model.run(X, LABELS)
    for x in X[:20]:
        prediction = model.predict(x)
        assert list(prediction) == list(model.classes)
        assert sum(prediction.values()) == pytest.approx(1, rel=1e-15)
        assert model.classify(x) == max(prediction, key=prediction.get)
    many = model.predict(X[:20])
    expected = [list(model.predict(x).values()) for x in X[:20]]
    np.testing.assert_array_equal(many, expected)
    assert model.classify(X[:20]) == [model.classify(x) for x in X[:20]]
    np.testing.assert_array_equal(model.predict(X[:20].tolist()), expected)


def test_it_learns_classes_that_a_linear_model_can_tell_apart():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1500, 2))
    labels = (x @ [[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]).argmax(axis=1)
    model = tw.Classifier()
    trace = model.run(x, labels)
    guess = np.array(model.classes)[trace.prediction.argmax(axis=1)]
    assert (guess == labels)[500:].mean() > 0.95
    assert trace.loss[500:].mean() < 0.25 * np.log(3)  # of equal probabilities


def test_before_any_label_there_is_no_class_and_one_class_is_certain():
    model = tw.Classifier()
    assert model.predict(X[0]) == {} and model.classify(X[0]) is None
    assert model.predict(X[:5]).shape == (5, 0)
    assert model.classify(X[:5]) == [None] * 5
    assert model.classes == () and model.rounds == 0
    model.update(X[0], "only")
    assert model.predict(X[1]) == {"only": 1.0} and model.classify(X[1]) == "only"
    trace = model.run(X[1:9], ["only"] * 8)
    np.testing.assert_array_equal(trace.prediction, np.ones((8, 1)))
    np.testing.assert_array_equal(trace.loss, np.zeros(8))


def test_two_classes_are_mirror_images_of_each_other():
    """So that dividing by the sum changes no probability by more than rounding."""
    labels = CENTRES[:, 0] > 0
    model = tw.Classifier()
    trace = model.run(X, labels)
    binary = tw.Online(tw.LogisticTracker(), tw.Logistic(), intercept=False)
    expected = binary.run(X, 1.0 * labels).prediction
    yes = trace.prediction[:, model.classes.index(True)]
    both = max(labels.argmax(), (~labels).argmax()) + 1  # from here on both are known
    np.testing.assert_allclose(yes[both:], expected[both:], rtol=1e-8)


@pytest.mark.parametrize(
    "labels",
    [
        [3, 7, 3, -1], [True, False, True, True], ["a", 1, 2.5, ("b", 2)],
        np.array(["x", "y", "x", "z"]), np.array([1, 2, 1, 3], np.int8),
        [np.str_("x"), np.float32(0.5), np.True_, np.int64(4)], ("p", "q", "p", "p"),
    ],
    ids=repr,
)  # fmt: skip
def test_labels_are_anything_hashable(labels, tmp_path):
    model, loop = tw.Classifier(), tw.Classifier()
    model.run(X[:4], labels)
    for x, label in zip(X, labels, strict=False):
        loop.update(x, label)
    assert loop.classes == model.classes == tuple(dict.fromkeys(labels))
    assert all(type(label).__module__ == "builtins" for label in model.classes)
    model.save(tmp_path / "c.thalweg")
    loaded = tw.Classifier.load(tmp_path / "c.thalweg")
    assert [*map(repr, loaded.classes)] == [*map(repr, model.classes)]


def test_labels_that_are_equal_are_one_class():
    model = tw.Classifier()
    model.run(X[:4], [1, True, 1.0, np.int8(1)])
    assert model.classes == (1,)


def test_the_loss_is_the_log_loss_of_the_label_times_the_weight():
    model = tw.Classifier()
    trace = model.run(X, LABELS, WEIGHT)
    column = {label: k for k, label in enumerate(model.classes)}
    for t, label in enumerate(LABELS):
        p = trace.prediction[t, column[label]]
        if label in LABELS[:t]:
            assert trace.loss[t] == pytest.approx(-WEIGHT[t] * np.log(p), rel=1e-14)
        else:  # it was given no probability
            eps = np.finfo(float).eps
            assert p == 0 and trace.loss[t] == WEIGHT[t] * -np.log(eps)


@pytest.mark.parametrize("missing", ["skip", "impute"])
def test_missing_labels_and_features_are_predicted_as_online_does(missing):
    x = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    labels = [None if t % 7 == 3 else LABELS[t] for t in range(120)]
    labels[50] = float("nan")
    whole, loop = (tw.Classifier(missing=missing) for _ in range(2))
    trace = whole.run(x, labels, WEIGHT, ELAPSED)
    predictions = play(loop, labels=labels, x=x)
    for row, prediction in zip(trace.prediction, predictions, strict=True):
        assert [p for p in row if p] == list(prediction.values())
    assert_equal_states(loop, whole)
    assert np.isfinite(trace.prediction).all() and np.isfinite(trace.loss).all()
    assert trace.loss[50] == trace.loss[3] == 0
    y = [np.nan if k is None or k != k else k == "red" for k in labels]
    alone = tw.Online(tw.LogisticTracker(), tw.Logistic(), False, missing)
    alone.run(x, np.array(y, float), WEIGHT, ELAPSED)
    for ours, theirs in zip(states(whole)["red"], alone.state, strict=True):
        np.testing.assert_array_equal(ours, theirs)


BAD_ROUNDS = {
    "a row with NaN": (np.array([1.0, np.nan, 2.0]), "new", 1.0),
    "a row of another length": (np.zeros(2), "new", 1.0),
    "a negative weight": (X[0], "new", -1.0),
    "a list as label": (X[0], ["new"], 1.0),
    "no label": (X[0], None, 1.0),
    "NaN as label": (X[0], np.nan, 1.0),
}


@by_learner
@pytest.mark.parametrize("x, label, weight", BAD_ROUNDS.values(), ids=BAD_ROUNDS)
def test_a_round_that_is_refused_leaves_the_classifier_as_it_was(
    learner, x, label, weight
):
    model = tw.Classifier(learner)
    model.run(X[:30], LABELS[:30])
    before = model.clone()
    with pytest.raises(StreamError):
        model.update(x, label, weight)
    rows = np.zeros((2, len(x))) + x
    with pytest.raises(StreamError):
        model.run(rows, ["red", label], [1.0, weight])
    assert model.predict(X[0]) == before.predict(X[0])
    assert_equal_states(model, before)
    model.update(X[30], "red")
    before.update(X[30], "red")
    assert_equal_states(model, before)


def test_more_classes_than_the_limit_are_refused_by_name(monkeypatch):
    assert classifier_module.MAX_CLASSES == 1000
    monkeypatch.setattr(classifier_module, "MAX_CLASSES", 3)
    model = tw.Classifier()
    model.run(X[:2], ["a", "b"])
    before = model.clone()
    with pytest.raises(StreamError, match="at most 3 classes.*the label 'd'"):
        model.run(X[:4], ["c", "b", "d", "a"])
    assert_equal_states(model, before)
    model.update(X[0], "c")
    with pytest.raises(StreamError, match="at most 3 classes.*the label 'd'"):
        model.update(X[0], "d")
    assert model.classes == ("a", "b", "c")


def test_settings_that_do_not_fit_are_refused():
    with pytest.raises(UnsupportedLossError):
        tw.Classifier(tw.RecursiveLeastSquares())
    with pytest.raises(InvalidParameterError, match="'missing'"):
        tw.Classifier(missing="drop")
    with pytest.raises(StreamError, match="Labels must be a list"):
        tw.Classifier().run(X[:3], 5)
    with pytest.raises(StreamError, match="as many rounds"):
        tw.Classifier().run(X[:3], ["a"])


def test_a_constant_feature_is_appended_where_the_learner_has_no_intercept():
    assert not tw.Classifier().intercept
    assert tw.Classifier(tw.DiscountedNewton()).intercept
    assert tw.Classifier(intercept=True).intercept
    assert repr(tw.Classifier()).endswith("intercept=False, missing='refuse')")


@by_learner
@pytest.mark.parametrize("missing", ["refuse", "impute"])
@pytest.mark.parametrize("rounds", [0, 60])
def test_copies_and_files_go_on_to_the_last_bit(learner, missing, rounds, tmp_path):
    model = tw.Classifier(learner, missing=missing)
    if rounds:
        model.run(X[:rounds], LABELS[:rounds])
    path = tmp_path / "c.thalweg"
    model.save(path)
    copies = [
        tw.Classifier.load(path), model.clone(), copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ]  # fmt: skip
    play(model)
    for one in copies:
        assert one.rounds == rounds and repr(one) == repr(model)
        play(one)
        assert_equal_states(one, model)
        assert one.predict(X[0]) == model.predict(X[0])


class Colour(enum.Enum):
    RED = 1


def test_labels_that_no_file_can_hold_are_refused_when_it_is_saved(tmp_path):
    model = tw.Classifier()
    model.update(X[0], Colour.RED)
    assert model.predict(X[1]) == {Colour.RED: 1.0}
    with pytest.raises(PersistenceError, match="labels that are text.*Colour.RED"):
        model.save(tmp_path / "c.thalweg")
    assert not (tmp_path / "c.thalweg").exists()
    assert pickle.loads(pickle.dumps(model)).classes == (Colour.RED,)


def test_files_of_other_models_are_refused(tmp_path):
    path = tmp_path / "m.thalweg"
    tw.Online().save(path)
    with pytest.raises(PersistenceError, match="holds no Classifier"):
        tw.Classifier.load(path)
    tw.Classifier().save(path)
    with pytest.raises(PersistenceError, match="holds a Classifier, but no Online"):
        tw.Online.load(path)


WRONG_RECORDS = {
    "a label twice": lambda labels, states: (("red", "red", *labels[2:]), states),
    "a label that is no text": lambda labels, states: ((None, *labels[1:]), states),
    "labels that are no list": lambda labels, states: ("red", states),
    "too few states": lambda labels, states: (labels, states[:-1]),
    "a state that is missing": lambda labels, states: (labels, (None, *states[1:])),
    "no states": lambda labels, states: (labels, None),
    "a state of another size": lambda labels, states: (
        labels,
        (tw.LogisticTracker().init(np.zeros(2)), *states[1:]),
    ),
    "a state of another learner": lambda labels, states: (
        labels,
        (tw.DiscountedNewton().init(np.zeros(3)), *states[1:]),
    ),
}


@pytest.mark.parametrize("change", WRONG_RECORDS.values(), ids=WRONG_RECORDS)
def test_a_damaged_file_is_refused(change, tmp_path):
    path = tmp_path / "c.thalweg"
    model = tw.Classifier()
    model.run(X[:30], LABELS[:30])
    model.save(path)
    saved = tw.persistence.load(path)
    record = saved.extra["classifier"]
    labels, states = change(record["labels"], record["states"])
    extra = {**saved.extra, "classifier": {"labels": labels, "states": states}}
    tw.persistence.save(path, saved._replace(extra=extra))
    with pytest.raises(
        PersistenceError, match=r"c\.thalweg cannot be loaded: its 'cla"
    ):
        tw.Classifier.load(path)


scores = st.floats(0, 1) | st.sampled_from([0.0, 5e-324, 1e-300])


@given(st.lists(scores, min_size=1, max_size=5))
def test_normalised_probabilities_are_never_nan(row):
    shares = normalise(row)
    known = np.ones((1, len(row)), bool)
    columns = [np.array([p]) for p in row]
    np.testing.assert_array_equal(normalise_rows(columns, known)[0], shares)
    assert all(0 <= p <= 1 for p in shares) and sum(shares) == pytest.approx(1)


HOSTILE = st.sampled_from([0.0, 1.0, -1e-300, 1e-8, -3.0, 1e8, 1e150, -1e150])


@by_learner
@settings(max_examples=25)
@given(
    rows=st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1, max_size=25),
    labels=st.lists(st.sampled_from("abc"), min_size=25, max_size=25),
    weight=st.sampled_from([0.0, 1.0, 1e6]),
)
def test_legal_rows_never_give_nan(learner, rows, labels, weight):
    model, count = tw.Classifier(learner), len(rows)
    x = np.array(rows) / np.sqrt(max(weight, 1.0))  # √w x has to be legal as well
    trace = model.run(x, labels[:count], np.full(count, weight))
    assert np.isfinite(trace.loss).all() and (trace.loss >= 0).all()
    for row in (*trace.prediction[1:], *model.predict(x)):
        assert (row >= 0).all() and row.sum() == pytest.approx(1, rel=1e-14)


FRAME = {"size": X[:, 0], "depth": X[:, 1], "place": X[:, 2]}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_with_names_are_known_by_them(library, tmp_path):
    frame = pytest.importorskip(library).DataFrame(FRAME)
    column = pytest.importorskip(library).Series(LABELS)
    model, arrays, loop = (tw.Classifier() for _ in range(3))
    trace, expected = model.run(frame, column), arrays.run(X, LABELS)
    np.testing.assert_array_equal(trace.prediction, expected.prediction)
    assert model.feature_names == ("size", "depth", "place")
    assert arrays.feature_names is None
    for x, label in zip(X.tolist(), LABELS, strict=True):
        loop.update(dict(zip(FRAME, x, strict=True)), label)
    assert_equal_states(loop, arrays)
    loop.save(tmp_path / "c.thalweg")
    loaded = tw.Classifier.load(tmp_path / "c.thalweg")
    row = dict(zip(FRAME, X[5], strict=True))
    backwards = dict(reversed(row.items()))
    for one in (model, loop, loaded):
        assert one.predict(backwards) == one.predict(row) == arrays.predict(X[5])
        shuffled = frame[["place", "size", "depth"]]
        np.testing.assert_array_equal(one.predict(shuffled), arrays.predict(X))
        assert one.classify(frame) == arrays.classify(X)
        with pytest.raises(StreamError, match="depth"):
            one.predict({"size": 1.0, "place": 2.0})
    assert tw.Classifier().predict(frame).shape == (120, 0)


@by_learner
def test_features_come_and_go_in_the_models_of_all_classes(learner):
    model = tw.Classifier(learner)
    model.run(X[:50, :2], LABELS[:50])
    alone = {label: tw.Online(learner, tw.Logistic()) for label in ("red", "grey")}
    for label, one in alone.items():
        one.run(X[:50, :2], [label == other for other in LABELS[:50]])
    for one in (model, *alone.values()):
        one.add_features([0])
    rows = X[50:80, [2, 0, 1]]
    model.run(rows, LABELS[50:80])
    for label, one in alone.items():
        one.run(rows, [label == other for other in LABELS[50:80]])
    for one in (model, *alone.values()):
        one.remove_features([2])
    assert model.predict(X[80, :2]).keys() == set(model.classes) >= {"red", "grey"}
    for label, one in alone.items():
        for ours, theirs in zip(states(model)[label], one.state, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    before = model.clone()
    for indices in ([7], ["name"]):
        with pytest.raises(ThalwegError):
            model.add_features(indices)
    assert_equal_states(model, before)


def test_threads_that_share_a_classifier_lose_no_round():
    model = tw.Classifier()
    errors = []

    def feed(first):
        try:
            for t in range(first, 120, 4):
                model.update(X[t], LABELS[t])
                assert sum(model.predict(X[t]).values()) == pytest.approx(1)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=feed, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and model.rounds == 120
    assert all(m.rounds == 120 for m in model._models.by_label.values())


def test_a_call_in_the_middle_of_another_cannot_learn():
    model = tw.Classifier()
    model.update(X[0], "a")

    class Nosy:
        def __array__(self, dtype=None, copy=None):
            model.update(X[0], "b")
            return X[0]

    with pytest.raises(ThalwegError, match="in the middle of another call"):
        model.update(Nosy(), "a")
    assert model.classes == ("a",) and model.rounds == 1


def test_what_the_page_on_classification_shows_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {}
    exec(compile("\n".join(shown), str(PAGE), "exec"), names)
    assert names["model"].rounds == 1000 and set(names["model"].classes) == {
        "red", "green", "blue"
    }  # fmt: skip


def test_a_classifier_that_has_learnt_from_arrays_is_told_its_names():
    model = tw.Classifier()
    model.run([[1.0, 2.0], [0.0, 1.0], [2.0, 0.5]], ["cat", "dog", "cat"])
    before = model.predict([0.5, 1.5])
    model.feature_names = ["size", "age"]
    assert model.feature_names == ("size", "age")
    assert model.predict({"age": 1.5, "size": 0.5}) == before
    with pytest.raises(StreamError, match="'weight'"):
        model.update({"age": 1.5, "weight": 0.5}, "dog")
