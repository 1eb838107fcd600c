from functools import partial
from itertools import combinations

import numpy as np
import pytest

from thalweg import Block, Online, RecursiveLeastSquares, SquaredError, Tracker
from thalweg.errors import StreamError
from thalweg.evaluation import compare_study, compared_learners
from thalweg.evaluation.compare_study import (
    Comparators,
    announcement_count,
    comparison_steps,
    frontier_points,
    regret_to_last_value,
    study_with_baselines,
)
from thalweg.evaluation.compared_learners import ComparedLearner, StandardisedStream
from thalweg.evaluation.scoring import LearnerInfo, interval_coverage
from thalweg.evaluation.tracker_run import TrackerRun

T = 160
RNG = np.random.default_rng(3)
X = RNG.normal(size=(T, 2)) * [1.0, 30.0] + [0.0, 100.0]
Y = 50 + X @ [2.0, 0.1] + (np.arange(T) > 80) * X[:, 0] * 3 + RNG.normal(size=T)
BURN_IN = 40


@pytest.fixture(scope="module")
def words():
    """What was announced while ``study`` was made."""
    return []


@pytest.fixture(scope="module")
def study(words):
    return study_with_baselines("made up", "y", ("a", "b"), X, Y, words.append)


def test_everyone_takes_part_and_every_step_is_announced(study, words):
    assert len(words) == announcement_count()
    roles = {
        role: len(study.entries_of_role(role)) for role in ("fixed", "rival", "peer")
    }
    assert roles == {"fixed": 6, "rival": 7, "peer": 3}
    assert len(study.entries_of_role("paper")) == 1
    assert (study.rounds, study.scored_rounds) == (T, T - BURN_IN)
    assert study.first_scored_round == BURN_IN + 1
    assert len(study.hindsight.marks) >= 10 and study.hindsight.rounds == T


def test_the_tracker_gets_the_raw_numbers_and_fixed_settings_standardised_ones(study):
    learner = Tracker()
    _, trace = learner.run(learner.init(np.zeros(2)), SquaredError(), Block(X, Y))
    own = np.mean((Y - trace.prediction)[BURN_IN:] ** 2)
    assert study.tracker.squared == pytest.approx(own, rel=1e-9)
    persistence = np.mean(np.diff(Y)[BURN_IN - 1 :] ** 2)
    assert study.persistence.squared == pytest.approx(persistence, rel=1e-9)
    rows = np.column_stack([(X - X.mean(0)) / X.std(0), np.ones(T)])
    rls = RecursiveLeastSquares(0.95, ridge=0.01, floor=0.01, leaky=True)
    block = Block(rows, (Y - Y.mean()) / Y.std())
    _, trace = rls.run(rls.init(np.zeros(3)), SquaredError(), block)
    error = 2 * trace.loss[BURN_IN:].mean() * Y.var()
    found = study.entry("least squares, discount 0.95").squared
    assert found == pytest.approx(error, rel=1e-9)


def test_regret_is_loss_beyond_the_best_point_and_bounds_hold(study):
    rows = np.column_stack([(X - X.mean(0)) / X.std(0), np.ones(T)])
    target = (Y - Y.mean()) / Y.std()
    best = np.linalg.lstsq(rows, target)[0]
    least = 0.5 * np.sum((target - rows @ best) ** 2)
    naive = np.append(0.0, target[:-1])  # in the first round all say the mean
    lost = 0.5 * np.sum((target - naive) ** 2)
    found = {(one.name, one.comparator): one for one in study.regrets}
    measured = found["persistence", "static"].measured
    assert measured == pytest.approx(lost - least, rel=1e-9)
    bounded = [one for one in study.regrets if one.bound is not None]
    assert {one.comparator for one in bounded} == {"static", "dynamic", "interval"}
    assert all(one.measured <= one.bound for one in bounded)
    worst = found["persistence", "interval"].measured
    # The whole stream is an interval too; sums are rounded in another order.
    assert worst >= measured * (1 - 1e-12)


def test_the_worst_interval_to_the_last_value_is_the_worst():
    rng = np.random.default_rng(0)
    y, forecast = rng.normal(size=(2, 30))
    naive = np.append(0.0, y[:-1])
    lost = 0.5 * ((y - forecast) ** 2 - (y - naive) ** 2)
    sums = [lost[a:b].sum() for a, b in combinations(range(1, 31), 2)]
    found = regret_to_last_value(forecast, naive, y, 3.0)
    assert found.measured == pytest.approx(max(sums))
    assert found.bound > 0
    perfect = regret_to_last_value(y, naive, y, 3.0)
    assert perfect.measured == 0


DELAY = 7


@pytest.fixture(scope="module")
def late():
    return study_with_baselines("made up", "y", ("a", "b"), X, Y, delay=DELAY)


def known_before(t):
    """The rounds whose labels are known when round t is asked."""
    return range(max(t - DELAY, 0))


def error(forecast):
    """The mean squared error in the rounds that are scored."""
    return np.mean((Y - forecast)[BURN_IN + DELAY :] ** 2)


def test_late_labels_are_late_for_persistence_and_the_tracker(late):
    assert late.first_scored_round == BURN_IN + DELAY + 1
    assert late.scored_rounds == T - BURN_IN - DELAY
    naive = [Y[known_before(t)[-1]] if known_before(t) else 0.0 for t in range(T)]
    assert late.persistence.squared == pytest.approx(error(naive), rel=1e-9)
    model = Online(Tracker(delay=DELAY), None, False)
    forecast = []
    for x, y in zip(X, Y, strict=True):
        forecast.append(float(model.predict(x)))
        model.update(x, y)
    assert late.tracker.squared == pytest.approx(error(forecast), rel=1e-9)


def test_late_labels_are_late_for_every_baseline(late):
    """Each forecast is that of a learner which was shown nothing but what is known."""
    stream = StandardisedStream.from_rounds(X, Y, DELAY)
    domain = Comparators.from_block(stream.block).domain
    for info, forecast in compared_learners.compared_learners(stream.block, domain):
        expected = np.empty(T)
        for t in (*range(12), 60, 100, T - 1):
            seen = np.array([*known_before(t), t])
            # At once, on the known rounds and the one that is asked: the last forecast.
            short = Block(stream.block.x[seen], stream.block.y[seen])
            expected[t] = forecast(short, 0)[-1]
            found = forecast(stream.block[: t + 1], DELAY)[-1]
            assert found == pytest.approx(expected[t], rel=1e-9, abs=1e-12), info.name
        whole = stream.restore_units(forecast(stream.block, DELAY))
        assert late.entry(info.name).squared == pytest.approx(error(whole), rel=1e-9)


def test_late_labels_have_regret_and_no_bounds(late):
    rows = np.column_stack([(X - X.mean(0)) / X.std(0), np.ones(T)])
    target = (Y - Y.mean()) / Y.std()
    best = np.linalg.lstsq(rows, target)[0]
    naive = np.append(np.zeros(DELAY + 1), target[: -DELAY - 1])
    lost = 0.5 * np.sum((target - naive) ** 2 - (target - rows @ best) ** 2)
    found = {(one.name, one.comparator): one for one in late.regrets}
    assert found["persistence", "static"].measured == pytest.approx(lost, rel=1e-9)
    assert all(one.bound is None for one in late.regrets)
    assert any("7 rounds late, for every learner" in note for note in late.notes)
    for promised, measured in late.history.coverage:
        assert abs(measured - promised) < 0.2
    with pytest.raises(StreamError, match="at least 87 rounds, 47 of which"):
        study_with_baselines("", "y", ("a", "b"), X[:86], Y[:86], delay=DELAY)


def test_who_diverges_is_left_out_and_named(monkeypatch):
    def three(block, domain):
        for name, value in {"good": 0.0, "bad": np.nan, "wild": 1e200}.items():
            constant = partial(lambda value, *_: np.full(T, value), value)
            yield ComparedLearner(LearnerInfo(name, "rival"), constant)

    monkeypatch.setattr(compare_study, "compared_learners", three)
    monkeypatch.setattr(
        compare_study, "compared_names", lambda: ["good", "bad", "wild"]
    )
    study = study_with_baselines("", "y", ("a", "b"), X, Y)
    names = {entry.name for entry in study.entries}
    assert names == {"Tracker", "persistence", "drift", "good"}
    assert "bad diverged and is left out." in study.notes
    assert "wild diverged and is left out." in study.notes


def interrupted(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("stopped", ["sliding window of 100 rounds", "regret"])
def test_a_ctrl_c_leaves_what_was_done_until_then(study, stopped):
    def advance(name):
        if name == stopped:
            raise KeyboardInterrupt

    part = study_with_baselines("made up", "y", ("a", "b"), X, Y, advance)
    everyone = ["Tracker", "persistence", "drift", *comparison_steps()]
    done = everyone[: everyone.index(stopped)]
    assert [entry.name for entry in part.entries] == done
    assert all(
        entry.squared == study.entry(entry.name).squared for entry in part.entries
    )
    assert part.unfinished == tuple(everyone[len(done) :])
    assert part.unfinished[-2:] == ("regret", "the frontier")
    assert part.regrets == () and part.hindsight is None
    assert study.unfinished == ()


def test_only_rounds_with_an_interval_count_for_coverage():
    """With labels that late, scoring begins before the first error is known."""
    delay, rounds = 150, 500
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rounds, 2))
    y = x @ [1.0, -1.0] + rng.normal(size=rounds)
    tracker = Tracker(delay=delay)
    start = tracker.init(np.zeros(2))
    records = ("interval", "intervals")
    _, trace = tracker.run(start, SquaredError(), Block(x, y), records)
    low, high = trace.extras["interval"].T
    scored = np.arange(rounds) >= BURN_IN + delay
    has_interval = scored & np.isfinite(low)
    assert 0 < has_interval.sum() < scored.sum()
    covered = ((low <= y) & (y <= high))[has_interval].mean()
    labels = np.where(scored, y, np.nan)
    assert dict(interval_coverage(trace, labels))[0.9] == covered
    run = TrackerRun(2, delay)
    run.play(x, y)
    assert run.study("", "y", "ab").history.coverage == ((0.9, covered),)
    none = np.flatnonzero(np.isfinite(low))[0]
    _, early = tracker.run(start, SquaredError(), Block(x[:none], y[:none]), records)
    assert interval_coverage(early, labels[:none]) == ()


def test_a_ctrl_c_before_the_tracker_is_done_leaves_nothing():
    with pytest.raises(KeyboardInterrupt):
        study_with_baselines("made up", "y", ("a", "b"), X, Y, interrupted)


def test_river_takes_part_only_where_it_is_installed(monkeypatch):
    all_of_them = announcement_count()
    monkeypatch.setattr(compared_learners, "find_spec", lambda name: None)
    assert announcement_count() == all_of_them - 3


def test_too_little_and_too_constant_is_refused():
    with pytest.raises(StreamError, match="at least 80 rounds"):
        study_with_baselines("", "y", ("a", "b"), X[:79], Y[:79])
    with pytest.raises(StreamError, match="is 3 in all rounds"):
        study_with_baselines("", "y", ("a", "b"), X, np.full(T, 3.0))


@pytest.mark.parametrize(
    ("rounds", "features", "points"),
    [(100, 1, 24), (17_000, 17, 24), (17_000, 34, 12), (20_000, 200, 8)],
)
def test_a_large_block_gets_fewer_points_of_the_frontier(rounds, features, points):
    assert frontier_points(rounds, features) == points
