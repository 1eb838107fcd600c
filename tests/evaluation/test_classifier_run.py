"""Trackers of classes: held to ``Classifier`` and to slow scores, however cut."""

import json
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import Classifier, LogisticTracker
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.evaluation.class_statistics import BASELINE_NAMES, BINS
from thalweg.evaluation.classification_study import ClassificationStudy
from thalweg.evaluation.classifier_run import (
    PAST_CLASSES,
    ClassifierRun,
    ClassifierRunSnapshot,
)
from thalweg.losses import Logistic
from thalweg.persistence import SavedModel, dumps, loads
from thalweg.rules import restore_snapshot
from thalweg.tables.class_labels import ClassLabels

RNG = np.random.default_rng(0)
T, NAMED = 260, ("a", "b")
X = RNG.normal(size=(T, 2)) * [1.0, 20.0]
SCORES = np.column_stack([X[:, 0], X[:, 1] / 20, np.full(T, 0.3)])
WINNER = (2 * SCORES + RNG.gumbel(size=(T, 3))).argmax(axis=1)
# The fourth class appears late.
Y = np.where((np.arange(T) > 150) & (RNG.random(T) < 0.2), 3, WINNER).astype(float)
Y = np.array([[*dict.fromkeys(Y)].index(label) for label in Y], float)
Y_WITH_MISSING = np.where(RNG.random(T) < 0.15, np.nan, Y)
Y_WITH_MISSING[0] = 0.0
X_WITH_MISSING = np.where(RNG.random((T, 2)) < 0.1, np.nan, X)
ONES = np.where(np.isnan(Y_WITH_MISSING), np.nan, 1.0 * (Y_WITH_MISSING == 1))
COLOURS = ClassLabels("colour", ("red", "blue", "green", "grey"), False, 3)
SPAM = ClassLabels("spam", ("0", "1"), True, 2)


def known_before(y, t, delay):
    """The labels known before row t, oldest first."""
    return [label for label in y[: max(t - delay, 0)] if not np.isnan(label)]


def row_at(x, y, t, delay):
    """The features of row t, and which class was the last known."""
    past = known_before(y, t, delay)
    return np.append(x[t], [past[-1:] == [k] for k in range(1, PAST_CLASSES + 1)])


@cache
def tracker_oracle(is_complete, delay, has_past):
    """Each row's probabilities, by single calls of a Classifier; 0 where unknown."""
    x, y = X, Y if is_complete else Y_WITH_MISSING
    model, found = Classifier(), np.zeros((T, 4))
    since, columns = 0, 2 + has_past * PAST_CLASSES
    for t in range(T):
        for label, p in model.predict(row_at(x, y, t, delay)[:columns]).items():
            found[t, int(label)] = p
        if t >= delay:
            since += 1
            if not np.isnan(y[t - delay]):
                row = row_at(x, y, t - delay, delay)[:columns]
                model.update(row, float(y[t - delay]), elapsed=float(since))
                since = 0
    return found


@cache
def last_known(t, delay):
    """The last class known before row t, None before any."""
    return (known_before(Y_WITH_MISSING, t, delay) or [None])[-1]


@cache
def baseline_oracle(t, delay):
    """The probabilities of row t by each baseline, of each class that is known."""
    y = Y_WITH_MISSING
    past = known_before(y, t, delay)
    classes = set(past)
    last = past[-1] if past else None
    followed = [
        y[s]
        for s in range(max(t - delay, 0))
        if not np.isnan(y[s]) and last_known(s, delay) == last
    ]
    recent = Counter()
    for age, label in enumerate(reversed(past)):
        recent[label] += 0.99**age
    counts = (Counter(past), recent, Counter(followed))
    return [
        {
            k: (count[k] + 0.5) / (sum(count.values()) + 0.5 * len(classes))
            for k in classes
        }
        for count in counts
    ]


def scores_oracle(forecasts, labels):
    """Log loss, accuracy and Brier score of dicts of probabilities."""
    log_loss = np.mean(
        [-math.log(p[k]) for p, k in zip(forecasts, labels, strict=True)]
    )
    hits = [max(p, key=p.get) == k for p, k in zip(forecasts, labels, strict=True)]
    brier = [
        sum((p[c] - (c == k)) ** 2 for c in p) / 2
        for p, k in zip(forecasts, labels, strict=True)
    ]
    return log_loss, np.mean(hits), np.mean(brier)


@pytest.mark.parametrize("delay", [0, 4])
@pytest.mark.parametrize("is_complete", [True, False], ids=["complete", "missing"])
def test_probabilities_are_those_of_a_classifier_that_learns_late(
    delay, is_complete, monkeypatch
):
    y = Y if is_complete else Y_WITH_MISSING
    run, tracked = ClassifierRun(2, delay), []
    mix = run.mixture.play
    monkeypatch.setattr(
        run.mixture, "play", lambda p, *others: tracked.append(p) or mix(p, *others)
    )
    run.play(X, y)
    (found,) = tracked
    assert (found[:, 0] == tracker_oracle(is_complete, delay, False)).all()
    assert (found[:, 1] == tracker_oracle(is_complete, delay, True)).all()


def tempered(p, exponent):
    powers = {k: p[k] ** exponent for k in p if p[k] > 0}
    return {k: powers[k] / sum(powers.values()) for k in powers}


@pytest.mark.parametrize("delay", [0, 4])
def test_the_mixture_is_bayes_rule_with_a_share(delay):
    y, weights, learnt = Y_WITH_MISSING, np.full(13, 1 / 13), 0
    tracked = [tracker_oracle(False, delay, has_past) for has_past in (False, True)]
    experts, expected = [], np.zeros((T, 4))
    for t in range(T):
        powers = []
        for probability in tracked:
            own = {k: p for k, p in enumerate(probability[t]) if p > 0}
            powers += [tempered(own, a) for a in (1, 0.5, 0.7, 1.4, 2)]
        experts.append([*powers, *baseline_oracle(t, delay)])
        for k in own:
            expected[t, k] = sum(
                w * p[k] for w, p in zip(weights, experts[t], strict=True)
            )
        due = t - delay
        if due >= 0 and y[due] in known_before(y, due, delay):
            learnt += 1
            weights = weights * [p[y[due]] for p in experts[due]]
            weights = weights / weights.sum()
            weights = (1 - 1 / (learnt + 1)) * weights + 1 / (learnt + 1) / 13
    run = ClassifierRun(2, delay)
    found = run.play(X, y).probability
    assert found == pytest.approx(expected, rel=1e-9)
    assert run.mixture.weights == pytest.approx(weights, rel=1e-9)


@pytest.mark.parametrize("delay", [0, 4])
def test_scores_are_those_of_slow_definitions(delay):
    y = Y_WITH_MISSING
    run = ClassifierRun(2, delay)
    probability = run.play(X, y).probability
    study = run.study("", COLOURS, NAMED)
    scored = [
        t
        for t in range(T)
        if not np.isnan(y[t])
        and len(known_before(y, t, delay)) >= run.burn_in
        and y[t] in known_before(y, t, delay)
    ]
    assert study.scored_rounds == len(scored)
    assert study.first_scored_round == scored[0] + 1
    labels = [y[t] for t in scored]
    own = [dict(enumerate(probability[t])) for t in scored]
    expected = {"Tracker": scores_oracle(own, labels)}
    for k, name in enumerate(BASELINE_NAMES):
        guesses = [baseline_oracle(t, delay)[k] for t in scored]
        expected[name] = scores_oracle(guesses, labels)
    for entry in study.entries:
        found = (entry.log_loss, entry.accuracy, entry.brier)
        assert found == pytest.approx(expected[entry.name], rel=1e-12)
    confusion = np.zeros((4, 4), int)
    for t in scored:
        confusion[int(y[t]), probability[t].argmax()] += 1
    assert (np.array(study.confusion) == confusion).all()
    last = study.last_rows
    assert np.array_equal(last.observed, y[-200:], equal_nan=True)
    assert (last.predicted == probability[-200:].argmax(axis=1)).all()


def test_the_calibration_error_is_the_mean_distance_of_bins():
    run = ClassifierRun(2, 0, "refuse", True)
    p = run.play(X, ONES).probability[:, 1]
    study = run.study("", SPAM, NAMED)
    known = ~np.isnan(ONES)
    warm = np.append(0, known.cumsum())[:-1] >= run.burn_in
    rows = np.flatnonzero(known & warm)
    distance = 0.0
    for k in range(BINS):
        inside = [t for t in rows if min(int(p[t] * BINS), BINS - 1) == k]
        if inside:
            distance += abs(p[inside].sum() - ONES[inside].sum())
    assert study.reliability.error == pytest.approx(distance / len(rows), rel=1e-12)
    assert study.reliability.rows.sum() == len(rows) == study.scored_rounds


@pytest.mark.parametrize("policy", ["skip", "impute"])
def test_missing_features_are_imputed_as_classifier_imputes_them(policy, monkeypatch):
    run, model = ClassifierRun(2, 0, policy), Classifier(missing=policy)
    rows = [row_at(X_WITH_MISSING, Y_WITH_MISSING, t, 0) for t in range(T)]
    labels = [None if np.isnan(label) else label for label in Y_WITH_MISSING]
    expected = model.run(np.array(rows), labels).prediction
    monkeypatch.setattr(run.mixture, "play", lambda p, *others: p[:, 1].copy())
    found = run.play(X_WITH_MISSING, Y_WITH_MISSING).probability
    order = [int(label) for label in model.classes]
    assert (found[:, order] == expected).all()


def restored_from_a_file(run, delay, is_binary):
    """The same run, out of a file."""
    saved = SavedModel(LogisticTracker(), Logistic(), None, {"run": run.snapshot()})
    snapshot = loads(dumps(saved)).extra["run"]
    snapshot = restore_snapshot(ClassifierRunSnapshot, snapshot)
    return ClassifierRun.from_snapshot(snapshot, 2, delay, "impute", is_binary)


def results(run):
    """All that a study holds, but for the time it took."""
    labels = SPAM if run.is_binary else COLOURS
    study = run.study("", labels, NAMED).as_dict()
    return {name: value for name, value in study.items() if name != "seconds"}


@settings(max_examples=10)
@given(
    cuts=st.lists(st.integers(0, T), max_size=4),
    delay=st.sampled_from([0, 1, 50]),
    filed=st.booleans(),
    is_binary=st.booleans(),
)
def test_a_run_of_classes_can_be_cut_and_restored_anywhere(
    cuts, delay, filed, is_binary
):
    y = ONES if is_binary else Y_WITH_MISSING
    whole = ClassifierRun(2, delay, "impute", is_binary)
    expected = whole.play(X_WITH_MISSING, y).probability
    cut, parts = ClassifierRun(2, delay, "impute", is_binary), []
    edges = [0, *sorted(cuts), T]
    for start, end in zip(edges, edges[1:], strict=False):
        p = cut.play(X_WITH_MISSING[start:end], y[start:end]).probability
        parts.append(np.pad(p, ((0, 0), (0, expected.shape[1] - p.shape[1]))))
        if filed:
            cut = restored_from_a_file(cut, delay, is_binary)
    assert (np.concatenate(parts) == expected).all()
    assert results(cut) == results(whole)


def test_a_class_has_no_probability_before_its_label_is_known():
    run = ClassifierRun(2, 3)
    p = run.play(X, Y).probability
    first = int((Y == 3).argmax())
    assert first > 150 and not p[: first + 4, 3].any() and p[first + 4, 3] > 0
    assert run.scored_rounds() == T - run.burn_in - 3 - run.statistics.new_class_rows
    assert run.statistics.new_class_rows >= 1
    assert p[4:].sum(axis=1) == pytest.approx(np.ones(T - 4), rel=1e-12)


def test_a_question_lets_no_time_pass():
    asked, plain = ClassifierRun(2, 0, "skip"), ClassifierRun(2, 0, "skip")
    asked.play(X[:100], Y[:100])
    plain.play(X[:100], Y[:100])
    asked.play(X[100:101], np.array([np.nan]), is_question=True)
    assert (
        asked.play(X[101:], Y[101:]).probability
        == plain.play(X[101:], Y[101:]).probability
    ).all()


def test_the_last_class_is_of_use_where_classes_persist():
    rng = np.random.default_rng(1)
    y = (np.cumsum(rng.random(1500) < 0.05) % 2).astype(float)
    run = ClassifierRun(1, 0, "refuse", True)
    run.play(rng.normal(size=(1500, 1)), y)
    study = run.study("", SPAM, ("x",))
    by_name = {entry.name: entry.log_loss for entry in study.entries}
    assert study.best_baseline.name == "after the last class"
    assert by_name["Tracker"] < 1.02 * by_name["after the last class"]
    assert by_name["Tracker"] < 0.5 * by_name["class shares so far"]
    assert next(iter(study.weights)) == "last known spam=1"


def test_features_without_meaning_do_next_to_no_harm():
    rng = np.random.default_rng(2)
    run = ClassifierRun(6, 0, "refuse", True)
    run.play(rng.normal(size=(2000, 6)), 1.0 * (rng.random(2000) < 0.4))
    study = run.study("", SPAM, tuple("abcdef"))
    assert study.ratio(study.tracker) < 1.006
    assert run.mixture.weights[-3:].sum() > 0.5


def test_a_study_of_classes_comes_back_from_json():
    run = ClassifierRun(2)
    run.play(X, Y)
    study = run.study("t", COLOURS, NAMED, ("A note.",), "2024", "2025")
    content = json.loads(json.dumps(study.as_dict(), allow_nan=False))
    assert ClassificationStudy.from_dict(content).as_dict() == study.as_dict()
    for name in ("classes", "entries", "reliability", "format"):
        with pytest.raises(InvalidParameterError, match="This is no study"):
            ClassificationStudy.from_dict(content | {name: None})
    with pytest.raises(InvalidParameterError, match="4 by 4"):
        ClassificationStudy.from_dict(content | {"confusion": [[1]]})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("last_label", 50.0),
        ("last_label", 0.5),
        ("labels_learnt", T + 1),
        ("rounds", T + 1),
        ("seconds", -1.0),
    ],
)
def test_a_snapshot_that_no_run_has_left_is_refused(field, value):
    run = ClassifierRun(2, 4)
    run.play(X, Y)
    snapshot = run.snapshot()._replace(**{field: value})
    with pytest.raises(PersistenceError):
        ClassifierRun.from_snapshot(snapshot, 2, 4, "refuse", False, "run")
    snapshot = run.snapshot()
    first, second = snapshot.states
    for wrong in (
        snapshot._replace(states=(first,)),
        snapshot._replace(states=(first[:-1], second)),
        snapshot._replace(states=(first, second[:-1])),
        snapshot._replace(states=(second, first)),
        snapshot._replace(states=(list(first), second)),
        snapshot._replace(is_known=snapshot.is_known[:-1]),
        snapshot._replace(is_known=np.full(4, 0.5)),
    ):
        with pytest.raises(PersistenceError):
            ClassifierRun.from_snapshot(wrong, 2, 4, "refuse", False, "run")
