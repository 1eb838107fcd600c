from itertools import combinations

import numpy as np
import pytest

from thalweg import Block, RecursiveLeastSquares, SquaredError, Tracker
from thalweg.errors import StreamError
from thalweg.evaluation import compare as comparing
from thalweg.evaluation import contestants
from thalweg.evaluation.compare import compare, steps
from thalweg.evaluation.contestants import Contestant
from thalweg.evaluation.hindsight import to_its_expert
from thalweg.evaluation.scores import Player

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
    return compare("made up", "y", ("a", "b"), X, Y, words.append)


def test_everyone_takes_part_and_every_step_is_announced(study, words):
    assert len(words) == steps()
    roles = {role: len(study.of_role(role)) for role in ("fixed", "rival", "peer")}
    assert roles == {"fixed": 6, "rival": 7, "peer": 3}
    assert len(study.of_role("paper")) == 1
    assert (study.rounds, study.scored) == (T, T - BURN_IN)
    assert study.first_scored == BURN_IN + 1
    assert len(study.hindsight.marks) >= 10 and study.hindsight.rounds == T


def test_the_tracker_gets_the_raw_numbers_and_fixed_settings_standardised_ones(study):
    learner = Tracker()
    _, trace = learner.run(learner.init(np.zeros(2)), SquaredError(), Block(X, Y))
    own = np.mean((Y - trace.prediction)[BURN_IN:] ** 2)
    assert study.tracker.squared == pytest.approx(own, rel=1e-9)
    persistence = np.mean(np.diff(Y)[BURN_IN - 1 :] ** 2)
    assert study.persistence.squared == pytest.approx(persistence, rel=1e-9)
    rows = np.column_stack([(X - X.mean(0)) / X.std(0), np.ones(T)])
    rls = RecursiveLeastSquares(0.95, ridge=0.01, floor=0.01, pull=True)
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
    found = {(one.name, one.against): one for one in study.regrets}
    measured = found["persistence", "static"].measured
    assert measured == pytest.approx(lost - least, rel=1e-9)
    bounded = [one for one in study.regrets if one.bound is not None]
    assert {one.against for one in bounded} == {"static", "dynamic", "interval"}
    assert all(one.measured <= one.bound for one in bounded)
    worst = found["persistence", "interval"].measured
    # The whole stream is an interval too; sums are rounded in another order.
    assert worst >= measured * (1 - 1e-12)


def test_the_worst_interval_to_the_last_value_is_the_worst():
    rng = np.random.default_rng(0)
    y, said = rng.normal(size=(2, 30))
    naive = np.append(0.0, y[:-1])
    lost = 0.5 * ((y - said) ** 2 - (y - naive) ** 2)
    sums = [lost[a:b].sum() for a, b in combinations(range(1, 31), 2)]
    found = to_its_expert(said, naive, y, 3.0)
    assert found.measured == pytest.approx(max(sums))
    assert found.bound > 0
    perfect = to_its_expert(y, naive, y, 3.0)
    assert perfect.measured == 0


def test_who_diverges_is_left_out_and_named(monkeypatch):
    def two(block, domain):
        yield Contestant(Player("good", "rival"), lambda block: np.zeros(T))
        yield Contestant(Player("bad", "rival"), lambda block: np.full(T, np.nan))
        yield Contestant(Player("wild", "rival"), lambda block: np.full(T, 1e200))

    monkeypatch.setattr(comparing, "contestants", two)
    study = compare("", "y", ("a", "b"), X, Y)
    assert {entry.name for entry in study.entries} == {"Tracker", "persistence", "good"}
    assert "bad diverged and is left out." in study.notes
    assert "wild diverged and is left out." in study.notes


def test_river_takes_part_only_where_it_is_installed(monkeypatch):
    all_of_them = steps()
    monkeypatch.setattr(contestants, "find_spec", lambda name: None)
    assert steps() == all_of_them - 3


def test_too_little_and_too_constant_is_refused():
    with pytest.raises(StreamError, match="at least 80 rounds"):
        compare("", "y", ("a", "b"), X[:79], Y[:79])
    with pytest.raises(StreamError, match="is 3 in all rounds"):
        compare("", "y", ("a", "b"), X, np.full(T, 3.0))
