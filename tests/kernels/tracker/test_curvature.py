"""The correction for curvature: its regression against a dense one, and its limits."""

import numpy as np
import pytest

from tests.kernels.tracker.workspaces import curvature, new_state, new_workspace
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker.hinges import draw_hinges


@pytest.mark.parametrize("size", [8, 16, 24, 80])
def test_rows_of_the_gram_matrix_lie_one_behind_the_other(size):
    end = 0
    for i in range(size):
        first = i - i % 8
        assert curvature.row_start(i, size) + first == end
        end += size - first
    assert end == size * (size + 8) // 2


def dense(gram, size):
    """The symmetric matrix of which ``gram`` has the rows from the diagonal on."""
    matrix = np.zeros((size, size))
    for i in range(size):
        start = curvature.row_start(i, size)
        matrix[i, i:] = matrix[i:, i] = gram[start + i : start + size]
    return matrix


def random_hinges(rng, rounds, size=layout.HINGES):
    """Features of which about half are 0."""
    return np.maximum(rng.normal(size=(rounds, size)), 0.0) * np.sqrt(2 / size)


@pytest.mark.parametrize("rounds", [5, 120])
def test_coefficients_are_those_of_a_dense_ridge_regression(rounds):
    rng = np.random.default_rng(0)
    features = random_hinges(rng, rounds)
    features[:, 7] = 0.0  # a hinge that is never open
    rate, error = rng.uniform(0, 2, size=rounds), rng.normal(size=rounds)
    elapsed = rng.uniform(0, 3, size=rounds)
    elapsed[[2, 60] if rounds > 60 else [2]] = 3000  # the scale falls below its limit
    decay, counters = 0.9995**elapsed, np.zeros(layout.COUNTERS)
    counters[layout.GRAM_SCALE] = 1.0
    gram, target = (
        np.zeros(layout.HINGES * (layout.HINGES + 8) // 2),
        np.zeros(layout.HINGES),
    )
    for row in zip(features, decay, rate, error, strict=True):
        curvature.update_gram(counters, gram, target, *row)
        assert 0.5 <= counters[layout.GRAM_SCALE] <= 1
    age = elapsed[::-1].cumsum()[::-1] - elapsed
    share = rate * 0.9995**age
    matrix, right = (features.T * share) @ features, features.T @ (share * error)
    stored = counters[layout.GRAM_SCALE] * dense(gram, layout.HINGES)
    np.testing.assert_allclose(stored, matrix, rtol=1e-9, atol=1e-14)
    curvature.fold_scale(counters, gram, target)
    assert counters[layout.GRAM_SCALE] == 1
    np.testing.assert_allclose(
        dense(gram, layout.HINGES), matrix, rtol=1e-9, atol=1e-14
    )
    np.testing.assert_allclose(target, right, rtol=1e-9, atol=1e-14)
    workspace, theta = new_workspace(1).curvature, np.full(layout.HINGES, np.nan)
    workspace.factor[:] = np.nan  # what was computed before does not count
    curvature.solve_gram(gram, target, workspace, theta)
    expected = np.linalg.solve(matrix + 0.01 * np.eye(layout.HINGES), right)
    np.testing.assert_allclose(theta, expected, rtol=1e-8, atol=1e-10)
    assert theta[7] == 0


@pytest.mark.parametrize("coordinates", [1, 2, 5])
def test_a_hinge_sees_two_coordinates_of_the_context(coordinates):
    s, workspace = new_state(3)
    draw_hinges(s.curvature, coordinates, seed=4)
    part, rng = s.curvature, np.random.default_rng(1)
    context = np.zeros(5)
    context[:coordinates] = rng.normal(size=coordinates)
    features = workspace.curvature.features
    curvature.set_hinges(part, context, features)
    first, second = part.coordinates.astype(int)
    ahead = part.directions[0] * context[first] + part.directions[1] * context[second]
    expected = np.sqrt(2 / layout.HINGES) * np.maximum(ahead - part.biases, 0)
    np.testing.assert_allclose(features, expected, rtol=1e-12, atol=1e-15)
    assert 0 < (features > 0).sum() < layout.HINGES
    if coordinates > 1:
        assert (first != second).all()
        assert set(first) == set(second) == set(range(coordinates))


def test_the_context_is_in_standard_deviations_and_clipped():
    s, _ = new_state(3)
    s.experts.overall_mean[:], s.experts.spread[0] = [1.0, 4.0, 0.0], [4.0, 0.0, 1.0]
    s.lags.overall_mean[0], s.lags.spread[0] = 10.0, 25.0
    s.curvature.change_mean[0], s.curvature.change_spread[0] = 0.5, 0.25
    context, labels = np.empty(5), np.array([15.0, 14.0, 0.0])
    curvature.set_context(s, np.array([4.0, 9.0, -7.0]), labels, context)
    np.testing.assert_allclose(context, [1.5, 0.0, -5.0, 1.0, 1.0])


def test_a_coordinate_that_varies_by_rounding_only_is_zero():
    assert curvature.standardise(9.0, 3.0, 0.0) == 0
    assert curvature.standardise(1e9, 1e9, 1e-7) == 0  # deviation 3e-4 < 1e9 · 1e-12
    assert curvature.standardise(9e9, 1e9, 1e-5) == 5
    assert curvature.standardise(-1.0, 0.0, 1e-240) == -5
    assert curvature.standardise(-1.0, 0.0, 1e-251) == 0


def test_changes_of_the_label_have_a_mean_and_a_variance():
    rng, (s, _) = np.random.default_rng(2), new_state(1)
    labels = rng.normal(size=(30, 3))
    rate = rng.uniform(0.1, 2, size=30)
    for t in range(30):
        share = rate[t] / rate[: t + 1].sum()
        curvature.update_change(s.curvature, labels[t], share)
    change = labels[:, 0] - labels[:, 1]
    mean = rate @ change / rate.sum()
    np.testing.assert_allclose(s.curvature.change_mean, mean)
    variance = rate @ (change - mean) ** 2 / rate.sum()
    np.testing.assert_allclose(s.curvature.change_spread, variance)


def correction_of(offered, scale=1.0, mean=10.0, limits=(-100.0, 100.0)):
    """The state and workspaces after a committee is offered a correction."""
    s, workspace = new_state(1)
    s.curvature.theta[3], workspace.curvature.features[3] = offered, 1.0
    s.curvature.theta[5] = 9.0  # a hinge that is not open
    s.counters[layout.CORRECTION_SCALE] = scale
    workspace.rules.rule_predictions[:] = 3.0
    workspace.rules.rule_predictions[layout.COMMITTEE] = mean
    workspace.curvature.committee[layout.COMMITTEE_MEAN] = mean
    curvature.correct(s, workspace.curvature, workspace.rules, *limits)
    return s, workspace


@pytest.mark.parametrize(
    "offered, limits, candidates",
    [
        (2.0, (-100.0, 100.0), [0.0, 2.0, 1.0]),
        (5.0, (-100.0, 100.0), [0.0, 3.0, 1.5]),  # three times the mean error
        (-5.0, (-100.0, 100.0), [0.0, -3.0, -1.5]),
        (2.0, (0.0, 11.5), [0.0, 1.5, 1.0]),  # the experts' limits hold too
        (-5.0, (9.0, 20.0), [0.0, -1.0, -1.0]),
    ],
)
def test_a_correction_is_offered_whole_by_half_and_not_at_all(
    offered, limits, candidates
):
    _, workspace = correction_of(offered, limits=limits)
    part, rules = workspace.curvature, workspace.rules
    np.testing.assert_allclose(part.candidates[: layout.CANDIDATES], candidates)
    # At first all three count the same.
    np.testing.assert_allclose(part.committee[layout.CORRECTION], np.mean(candidates))
    expected = 10 + np.mean(candidates)
    np.testing.assert_allclose(rules.rule_predictions[layout.COMMITTEE], expected)
    assert part.committee[layout.COMMITTEE_MEAN] == 10
    assert (np.delete(rules.rule_predictions, layout.COMMITTEE) == 3).all()


def test_without_known_errors_there_is_no_correction():
    _, workspace = correction_of(5.0, scale=0.0)
    assert workspace.rules.rule_predictions[layout.COMMITTEE] == 10
    assert (workspace.curvature.candidates[: layout.CANDIDATES] == 0).all()


def test_the_candidate_that_is_right_gains_weight():
    for label, best in ((10.0, 0), (13.0, 1), (11.4, 2)):
        s, workspace = correction_of(3.0)
        part, rules = workspace.curvature, workspace.rules
        for t in range(1, 60):
            curvature.correct(s, part, rules, -100.0, 100.0)
            curvature.learn_correction(s.rules.correction, part, rules, label, 1.0, t)
        weights = part.candidate_weights[: layout.CANDIDATES]
        assert weights.argmax() == best
        np.testing.assert_allclose(part.candidate_weights.sum(), 1)


def test_where_the_candidates_agree_nothing_is_learnt_of_them():
    s, workspace = correction_of(0.0)
    before = s.rules.correction.copy()
    part, rules = workspace.curvature, workspace.rules
    curvature.learn_correction(s.rules.correction, part, rules, 20.0, 1.0, 3)
    np.testing.assert_array_equal(s.rules.correction, before)


@pytest.mark.parametrize("error, learnt", [(3.0, 3.0), (50.0, 8.0), (-50.0, -8.0)])
@pytest.mark.slow
def test_errors_are_learnt_up_to_four_times_their_mean_size(error, learnt):
    s, workspace = new_state(1)
    part, rng = workspace.curvature, np.random.default_rng(3)
    part.features[:] = random_hinges(rng, 1)[0]
    part.committee[layout.COMMITTEE_MEAN] = 10.0
    s.counters[layout.CORRECTION_SCALE], s.counters[layout.CORRECTION_COUNT] = 2.0, 9
    curvature.learn_curvature(s, part, 10.0 + error, 0.5, 1.0)
    target = s.counters[layout.GRAM_SCALE] * s.curvature.target
    np.testing.assert_allclose(target, 0.5 * learnt * part.features, rtol=1e-12)
    # Its mean size is that of the errors themselves.
    mean = 2.0 + (abs(error) - 2.0) / 10
    assert s.counters[layout.CORRECTION_SCALE] == pytest.approx(mean)
    assert s.counters[layout.CORRECTION_COUNT] == 10


@pytest.mark.slow
def test_the_mean_size_of_errors_is_that_of_32_rounds():
    s, workspace = new_state(1)
    s.counters[layout.CORRECTION_SCALE], s.counters[layout.CORRECTION_COUNT] = 2.0, 500
    curvature.learn_curvature(s, workspace.curvature, 34.0, 1.0, 1.0)
    assert s.counters[layout.CORRECTION_SCALE] == pytest.approx(3.0)


def test_it_is_solved_every_32nd_round():
    s, workspace = new_state(1)
    part, rng = workspace.curvature, np.random.default_rng(4)
    s.counters[layout.CORRECTION_SCALE], solved = 1.0, []
    for t, features in enumerate(random_hinges(rng, 70)):
        before = s.curvature.theta.copy()
        part.features[:], s.counters[layout.ROUNDS] = features, t + 1
        curvature.learn_curvature(s, part, rng.normal(), 1.0, 1.0)
        if (s.curvature.theta != before).any():
            solved.append(t + 1)
            matrix = dense(s.curvature.gram, layout.HINGES) + 0.01 * np.eye(
                layout.HINGES
            )
            expected = np.linalg.solve(matrix, s.curvature.target)
            np.testing.assert_allclose(s.curvature.theta, expected, rtol=1e-7)
    assert solved == [32, 64]


@pytest.mark.parametrize("weight", [1e12, 1e100, 1e300])
def test_a_round_of_any_weight_leaves_finite_coefficients(weight):
    s, workspace = new_state(1)
    part, rng = workspace.curvature, np.random.default_rng(5)
    s.counters[layout.CORRECTION_SCALE], s.counters[layout.ROUNDS] = 1e140, 32
    for features in random_hinges(rng, 6):
        part.features[:] = features
        curvature.learn_curvature(s, part, 1e140 * rng.normal(), weight, 1.0)
        assert np.isfinite(s.curvature.theta).all()
        assert np.isfinite(s.curvature.gram).all()
        assert np.isfinite(s.curvature.target).all()
    assert s.curvature.theta.any()


@pytest.mark.parametrize("weight", [1.0, 1e6, 1e12, 1e20])
def test_a_pivot_is_no_less_than_rounding_of_its_diagonal_entry(weight):
    """Of rounds that are alike A has one direction, and the rest of it is rounding."""
    rng, counters = np.random.default_rng(6), np.zeros(layout.COUNTERS)
    counters[layout.GRAM_SCALE], features = 1.0, rng.uniform(0.1, 1, size=layout.HINGES)
    gram, target = (
        np.zeros(layout.HINGES * (layout.HINGES + 8) // 2),
        np.zeros(layout.HINGES),
    )
    for _ in range(9):
        curvature.update_gram(counters, gram, target, features, 0.999, weight, 2.0)
    curvature.fold_scale(counters, gram, target)
    workspace, theta = new_workspace(1).curvature, np.empty(layout.HINGES)
    curvature.solve_gram(gram, target, workspace, theta)
    least = 1e-14 * (np.diag(dense(gram, layout.HINGES)) + 0.01)
    assert (workspace.pivots >= least).all()
