import numpy as np
import pytest

from thalweg.errors import InvalidParameterError, StreamError, UnsupportedLossError
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.restart import CHECK_INTERVAL
from thalweg.learners import LastValue, Learner, RecursiveLeastSquares
from thalweg.learners.tracker import Tracker
from thalweg.learners.tracker.explanation import EXPERT_NAMES, explain
from thalweg.losses import Logistic, SquaredError
from thalweg.types import Block

LOSS = SquaredError()


def drifting(rounds=600, n=4, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rounds, n)) + [0.0, 3.0, -1.0, 10.0, 0.5][:n]
    theta = np.cumsum(0.05 * rng.normal(size=(rounds, n)), axis=0)
    return Block(x, 7 + (x * theta).sum(axis=1) + noise * rng.normal(size=rounds))


def jumping(noise=0.5, n=3, seed=0):
    """θ changes at rounds 1000, 2000, …, 4000."""
    rng = np.random.default_rng(seed)
    x, theta = rng.normal(size=(5000, n)), 2 * rng.normal(size=(5, n))
    y = (x * np.repeat(theta, 1000, axis=0)).sum(axis=1)
    return Block(x, y + noise * rng.normal(size=5000))


def run(block, learner=None, record=()):
    learner = Tracker() if learner is None else learner
    return learner.run(learner.init(np.zeros(block.x.shape[1])), LOSS, block, record)


def require_intervals(interval):
    """All are finite, but where no error is known: at first, and after a restart."""
    rows = np.flatnonzero(~np.isfinite(interval).all(axis=1))
    assert (interval[rows] == [-np.inf, np.inf]).all()
    assert ((rows < 2) | (rows % CHECK_INTERVAL == 0)).all()


def predictions(x, y, **settings):
    return run(Block(x, y), Tracker(**settings))[1].prediction


@pytest.mark.parametrize("information", ["all", "features"])
@pytest.mark.parametrize("scale_x, scale_y", [(1e6, 1e6), (1e-6, 1e-6), (3e-6, 7e5)])
def test_scale_changes_nothing(information, scale_x, scale_y):
    block = drifting()
    settings = {"information": information}
    plain = predictions(block.x, block.y, **settings)
    scaled = predictions(scale_x * block.x, scale_y * block.y, **settings) / scale_y
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=1e-8 * block.y.std())


def test_scale_changes_nothing_after_a_quiet_start():
    block = drifting()
    y = np.where(np.arange(600) < 50, 0.3, block.y)
    x = block.x.copy()
    x[:80, 1] = 0.7
    scaled = predictions(3.0 * x, 3.0 * y) / 3.0
    np.testing.assert_allclose(scaled, predictions(x, y), rtol=0, atol=1e-8 * y.std())


@pytest.mark.parametrize("curvature, sign", [(True, 1), (False, -1)])
def test_each_feature_may_have_its_own_unit_and_origin(curvature, sign):
    """Without curvature also its own sign: a hinge bends on one side."""
    block = drifting()
    x = block.x * [1e-5, 1.0, 1e5, 3.0 * sign] + [0.0, 40.0, 0.0, 2.0]
    moved = predictions(x, block.y, curvature=curvature)
    plain = predictions(block.x, block.y, curvature=curvature)
    np.testing.assert_allclose(moved[1:], plain[1:], rtol=0, atol=1e-8 * block.y.std())


def test_a_shift_of_the_label_shifts_the_forecasts():
    block = drifting()
    moved = predictions(block.x, block.y + 1000)
    plain = predictions(block.x, block.y) + 1000
    # All forecasts but the first, which is 0 whatever comes.
    np.testing.assert_allclose(moved[1:], plain[1:], rtol=0, atol=1e-8 * block.y.std())


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_features_does_not_matter(seed):
    block = drifting(n=5, seed=seed)
    x = np.column_stack([block.x, block.x[:, 0] + 1e-6 * block.x[:, 1]])  # collinear
    order = np.random.default_rng(seed).permutation(6)
    permuted = predictions(x[:, order], block.y, curvature=False)
    plain = predictions(x, block.y, curvature=False)
    np.testing.assert_allclose(permuted, plain, rtol=0, atol=1e-6 * block.y.std())


def test_a_constant_feature_does_no_harm():
    block = drifting()
    with_ones = np.column_stack([block.x, np.ones(600)])
    plain = predictions(block.x, block.y, curvature=False)
    moved = predictions(with_ones, block.y, curvature=False)
    np.testing.assert_allclose(moved, plain, rtol=1e-9)


def test_runs_of_single_rounds_are_the_whole_run_bit_for_bit():
    block, learner = drifting(120), Tracker()
    whole, trace = run(block, record=("theta", "weights", "memory", "interval"))
    state = learner.init(np.zeros(4))
    for t, x in enumerate(block.x):
        assert learner.predict(state, x) == trace.prediction[t]
        assert learner.memory(state) == trace.extras["memory"][t]
        assert learner.interval(state, x)[1:] == tuple(trace.extras["interval"][t])
        weights = list(learner.weights(state).values())
        np.testing.assert_array_equal(weights, trace.extras["weights"][t])
        np.testing.assert_array_equal(learner.play(state), trace.theta[t])
        state, _ = learner.run(state, LOSS, block[t : t + 1])
    np.testing.assert_array_equal(state.packed, whole.packed)
    np.testing.assert_array_equal(state.theta, whole.theta)


def test_a_run_can_be_cut_anywhere():
    block = drifting()
    whole, trace = run(block)
    learner = Tracker()
    state, pieces = learner.init(np.zeros(4)), []
    for start, end in ((0, 1), (1, 2), (2, 77), (77, 513), (513, 600)):
        state, piece = learner.run(state, LOSS, block[start:end])
        pieces.append(piece.prediction)
    np.testing.assert_array_equal(np.concatenate(pieces), trace.prediction)
    np.testing.assert_array_equal(state.packed, whole.packed)


def test_a_round_of_weight_zero_is_not_seen():
    block = drifting(200)
    weight = np.ones(200)
    weight[::5] = 0
    # Its time counts to the next round: here it takes none.
    _, some = run(Block(block.x, block.y, weight, weight))
    kept = weight > 0
    _, none = run(Block(block.x[kept], block.y[kept]))
    np.testing.assert_array_equal(some.prediction[kept], none.prediction)
    assert (some.loss[~kept] == 0).all()


def test_time_that_passes_makes_the_experts_forget():
    block = drifting()
    state, _ = run(Block(block.x, block.y, None, np.full(600, 2.0)))
    experts = layout.views(state.packed, 4).experts
    gamma = 1 - 1 / layout.MEMORIES[1:7]  # those that 600 rounds fill to the brim
    np.testing.assert_allclose(experts.weight[1:7], 1 / (1 - gamma**2), rtol=1e-6)


@pytest.mark.parametrize("unit", [1.0, 1e-100, 1e140])
def test_stays_finite_whatever_comes(unit):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 5)), rng.normal(size=400)
    x[:, 1] = 4.0  # constant
    x[:, 2] = x[:, 0]  # collinear
    x[:200, 3] = 0.0  # quiet for long
    x[250, 0], x[251, 4], y[300] = 1e8, -1e9, 1e9  # shocks
    y[320:] = 2.0
    state, trace = run(Block(unit * x, unit * y), record=("memory", "interval"))
    for part in (
        trace.prediction,
        trace.extras["memory"],
        state.packed[layout.COUNTERS + layout.PADDED_EXPERTS :],
    ):
        assert np.isfinite(part).all()
    require_intervals(trace.extras["interval"])


HOSTILE = {
    "one label": lambda x, y: y.__setitem__(299, 1e12),
    "one feature": lambda x, y: x.__setitem__((299, 0), 1e12),
    "labels of 1e140": lambda x, y: y.__imul__(1e140),
    "labels that alternate": lambda x, y: y[::2].__imul__(1e12),
    "labels at rest": lambda x, y: y.fill(2.0),
    "all features grow": lambda x, y: x.__imul__(1e12),
    "all features shrink": lambda x, y: x.__imul__(1e-12),
    "next to nothing": lambda x, y: x.__imul__(1e-300),
    "outliers again and again": lambda x, y: x[::37].__imul__(-1e12),
    "all move away": lambda x, y: (x.__iadd__(1e12), y.__isub__(1e12)),
    "duplicates": lambda x, y: x.__setitem__(slice(None), x[:, :1].copy()),
    "zero": lambda x, y: x.fill(0.0),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("n", [1, 4])
def test_recovers_from_what_is_hostile(kind, n):
    block = drifting(800 + 3000, n)
    x, y = block.x.copy(), block.y.copy()
    HOSTILE[kind](x[500:800], y[500:800])
    state, trace = run(Block(x, y), record=("interval",))
    _, fresh = run(block[800:])
    assert trace.loss[2800:].mean() < 1.5 * fresh.loss[2000:].mean()
    assert np.isfinite(trace.prediction).all()
    require_intervals(trace.extras["interval"])
    assert np.isfinite(state.packed[layout.COUNTERS + layout.PADDED_EXPERTS :]).all()
    low, high = trace.extras["interval"][2800:].T
    inside = (low <= y[2800:]) & (y[2800:] <= high)
    assert inside.mean() == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("unit", [1e-160, 1e-155, 1e-140, 1e-120])
def test_features_whose_squares_are_next_to_nothing_give_no_nan(unit):
    block = drifting(300)
    x = block.x * [unit, 1.0, unit, unit]
    x[200:] = block.x[200:] * [1e150, 1.0, unit, 1e-300]
    state, trace = run(Block(x / 20, 1e140 * block.y), record=("theta", "interval"))
    for part in (trace.prediction, trace.theta):
        assert np.isfinite(part).all()
    require_intervals(trace.extras["interval"])
    assert np.isfinite(state.packed[layout.COUNTERS + layout.PADDED_EXPERTS :]).all()


@pytest.mark.parametrize("unit", [1e-165, 1e-160, 1e-155, 1e-150, 1e-145])
def test_labels_whose_squares_are_next_to_nothing_do_no_lasting_harm(unit):
    block = drifting(2500)
    y = np.where(np.arange(2500) < 300, unit, 1.0) * block.y
    state, trace = run(Block(block.x, y), record=("interval",))
    _, fresh = run(block[300:])
    assert trace.loss[1800:].mean() < 1.1 * fresh.loss[1500:].mean()
    require_intervals(trace.extras["interval"])
    assert np.isfinite(state.packed[layout.COUNTERS + layout.PADDED_EXPERTS :]).all()


def test_an_interval_is_finite_after_a_long_calm():
    y = np.zeros(30_000)
    y[-3:] = 1.0, 1e140, -1e140
    _, trace = run(Block(np.ones((30_000, 1)), y), record=("interval",))
    require_intervals(trace.extras["interval"])


def test_tracks_what_no_single_memory_tracks():
    block = jumping()
    _, trace = run(block)
    for discount in (1.0, 0.999, 0.99, 0.95, 0.9):
        learner = RecursiveLeastSquares(discount, ridge=0.01)
        _, fixed = run(block, learner)
        assert trace.loss[500:].mean() < fixed.loss[500:].mean()


def test_features_alone_are_used_where_asked():
    block = drifting()
    learner = Tracker(information="features")
    state, trace = run(block, learner, ("weights",))
    sees_more = ("step", "season", "autoregressive", "last value")
    for name, weight in learner.weights(state).items():
        assert weight == 0 or not name.startswith(sees_more)
    np.testing.assert_allclose(trace.extras["weights"][1:].sum(axis=1), 1)


def test_memory_drops_at_each_change_and_recovers():
    _, trace = run(jumping(), record=("memory",))
    memory = trace.extras["memory"]
    for change in (1000, 2000, 3000, 4000):
        before, after = memory[change - 1], memory[change : change + 100].min()
        assert after < before / 2
        assert memory[change + 999] > 2 * after


def test_on_a_stream_that_never_changes_memory_is_long():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 3))
    y = x.sum(axis=1) + rng.normal(size=4000)
    _, trace = run(Block(x, y), record=("memory",))
    assert np.median(trace.extras["memory"][1000:]) > 400


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_intervals_cover_as_often_as_they_say(level):
    block = jumping()
    _, trace = run(block, Tracker(coverage=level), ("interval",))
    low, high = trace.extras["interval"].T
    inside = (low <= block.y) & (block.y <= high)
    assert inside[500:].mean() == pytest.approx(level, abs=0.03)
    assert (low <= trace.prediction).all() and (trace.prediction <= high).all()


def test_before_any_error_is_known_an_interval_is_infinite():
    learner = Tracker()
    start = learner.init(np.zeros(2))
    for level in (0.5, 0.99):
        assert learner.interval(start, np.ones(2), level) == (0.0, -np.inf, np.inf)
    _, trace = run(Block(np.ones((4, 2)), np.arange(4.0)), record=("interval",))
    finite = np.isfinite(trace.extras["interval"])
    np.testing.assert_array_equal(finite, np.repeat([[False], [True]], 2, 0) * [1, 1])


def test_explains_itself_in_words():
    learner = Tracker()
    assert "No rows learnt yet" in learner.explain(learner.init(np.zeros(2)))
    y = np.cumsum(np.random.default_rng(0).normal(size=500))
    x = np.random.default_rng(1).normal(size=(500, 2))
    state, _ = run(Block(x, y))
    said = learner.explain(state)
    assert "After 500 rows" in said
    assert "the last value" in said


def test_follows_a_walk_as_well_as_the_last_value():
    y = np.cumsum(np.random.default_rng(0).normal(size=3000))
    x = np.random.default_rng(1).normal(size=(3000, 2))
    _, trace = run(Block(x, y))
    _, last = run(Block(x, y), LastValue())
    assert trace.loss.sum() < 1.02 * last.loss.sum()


def test_every_expert_has_a_name_of_its_own():
    learner = Tracker()
    state, _ = run(drifting(50))
    assert list(learner.weights(state)) == list(EXPERT_NAMES)
    assert len(set(EXPERT_NAMES)) == 76
    assert sum(learner.weights(state).values()) == pytest.approx(1)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(InvalidParameterError, match="must be one of 'all', 'features'"):
        Tracker(information="labels")
    with pytest.raises(InvalidParameterError, match="coverage"):
        Tracker(coverage=1.0)
    with pytest.raises(InvalidParameterError, match=r"shape \(n,\) or \(n, k\)"):
        Tracker().init(np.zeros((3, 2, 1)))
    with pytest.raises(InvalidParameterError, match="level"):
        Tracker().interval(Tracker().init(np.zeros(2)), np.zeros(2), 1.5)
    with pytest.raises(UnsupportedLossError):
        run_logistic = Tracker()
        run_logistic.run(run_logistic.init(np.zeros(2)), Logistic(), drifting(5, 2))
    with pytest.raises(StreamError, match="Round 1"):
        run(Block(np.ones((3, 2)), [0.0, np.nan, 1.0]))


def test_the_memory_is_told_in_words():
    weights = np.full(layout.EXPERTS, 1 / layout.EXPERTS)
    for memory, words in (
        (1.0, "only the last one counts"),
        (1.9, "only the last one counts"),
        (2.0, "about the last 2 count"),
        (50.0, "about the last 50 count"),
        (50.1, "nearly all of which still count"),
    ):
        assert words in explain(100, memory, 1, weights)


def test_before_the_first_round_the_committee_has_its_prior_and_there_is_no_season():
    learner = Tracker(delay=3)
    state = learner.init(np.zeros(2))
    learner.check_state(state)
    meta = layout.views(state.packed, 2).rules.meta[: layout.RULES]
    np.testing.assert_allclose(meta, [0.1 / 7] * 7 + [0.9])
    assert state.season == 1
    for season in (0.0, layout.MAX_SEASON + 1.0):
        layout.views(state.packed, 2).counters[layout.SEASON] = season
        with pytest.raises(InvalidParameterError, match=r"counters\[1\] .* 1 to 512"):
            learner.check_state(state)


def test_a_state_with_other_hinges_is_refused():
    plain = Tracker(curvature=False)
    with pytest.raises(InvalidParameterError, match="curvature=False .* 80 hinges"):
        plain.check_state(Tracker().init(np.zeros(2)))
    with pytest.raises(InvalidParameterError, match="curvature=True .* 0 hinges"):
        Tracker().check_state(plain.init(np.zeros(2)))
    for coordinate in (-1.0, 4.0, np.nan):
        state = Tracker().init(np.zeros(2))
        layout.views(state.packed, 2).curvature.coordinates[1, 7] = coordinate
        with pytest.raises(InvalidParameterError, match="coordinates .* from 0 to 3"):
            Tracker().check_state(state)


def test_seeds_draw_other_hinges_and_one_seed_the_same():
    first, again, other = (
        Tracker(seed=seed).init(np.zeros(5)).packed for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_curvature_is_learnt():
    """|x| has no linear part: without the hinges nothing is learnt from it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 2))
    y = abs(x[:, 0]) + np.maximum(x[:, 1] + x[:, 0], 0) + 0.1 * rng.normal(size=4000)
    bent, straight = (
        np.mean((y - predictions(x, y, curvature=curvature))[1000:] ** 2)
        for curvature in (True, False)
    )
    assert bent < 0.25 * straight


def test_hinges_of_a_tracker_of_features_see_no_labels():
    state = Tracker("features").init(np.zeros(3))
    assert layout.views(state.packed, 3).curvature.coordinates.max() == 2


def test_labels_that_never_change_have_no_season_and_warn_of_nothing():
    learner, block = Tracker(), Block(np.ones((12, 1)), np.full(12, 3.0))
    state, _ = Learner._play(learner, learner.init(np.zeros(1)), LOSS, block, ())
    assert state.season == 1


def test_a_slope_too_large_for_single_precision_is_the_largest_number():
    x, y = np.full((40, 1), 1e-30, np.float32), np.full(40, 1e15, np.float32)
    x[::2] *= -1
    y[::2] *= -1
    learner = Tracker()
    block = Block(x, y)
    state, trace = learner.run(
        learner.init(np.zeros(1, np.float32)), LOSS, block, ("theta",)
    )
    assert state.theta.dtype == np.float32
    assert state.theta[0] == trace.theta.max() == np.finfo(np.float32).max
    assert np.isfinite(trace.prediction).all()
