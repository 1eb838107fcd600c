"""Each rule against its slow version, and AdaShare against adversaries."""

import numpy as np
import pytest

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import (
    adashare,
    boa,
    cauchy,
    curvature,
    mixture,
    mlpoly,
    new_state,
    padded,
    softmax,
)
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import interval_regret
from thalweg.learners.tracker.regret_bound import adashare_regret

EQUAL_PRIOR = np.ones(8)


def random_game(rounds=60, experts=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=rounds).cumsum()
    skill = rng.uniform(0.1, 3, size=(2, experts))[np.arange(rounds) // (rounds // 2)]
    return y[:, None] + skill * rng.normal(size=(rounds, experts)), y


def learn_adashare(rule_state, q, active, active_next, mix, y, t, prior=EQUAL_PRIOR):
    loss = np.empty(active.size)
    lowest = adashare.set_losses(padded(q), active, y, 1.0, loss)
    own, fade = 0.5 * (y - mix) ** 2, adashare.STEADY_FADE
    adashare.learn(
        rule_state, active, active_next, prior, own, loss, lowest, t, fade,
        np.empty(active.size),
    )  # fmt: skip


def random_confidences(rounds=60, experts=6, seed=1):
    return np.random.default_rng(seed).uniform(0.05, 1, size=(rounds, experts))


ALL_ACTIVE = padded(np.ones(6))
PRIOR = np.array([0.3, 0.05, 0.25, 0.1, 0.2, 0.1])


@pytest.mark.parametrize("unit", [1.0, 6.0])
@pytest.mark.parametrize("prior", [np.full(6, 1 / 6), PRIOR])
def test_adashare_is_its_definition(prior, unit):
    predictions, y = random_game()
    all_active, expert_weights = ALL_ACTIVE, np.empty(8)
    rule_state = np.append(padded(prior), [0.0, 0.0])
    weights, delta, cumulative_gap = rule_state[:6].copy(), 0.0, 0.0
    for t, (q, label) in enumerate(zip(predictions, y, strict=True), 1):
        adashare.set_weights(rule_state, all_active, expert_weights)
        np.testing.assert_allclose(expert_weights, padded(weights), rtol=1e-9)
        mix, losses = expert_weights[:6] @ q, 0.5 * (label - q) ** 2
        loss = 0.5 * (label - mix) ** 2
        weights, delta, cumulative_gap = reference.adashare(
            weights, delta, cumulative_gap, losses, loss, t, prior
        )
        learn_adashare(
            rule_state, q, all_active, all_active, mix, label, t,
            padded(unit * prior, 1.0),
        )  # fmt: skip
        np.testing.assert_allclose(rule_state[8:], [delta, cumulative_gap], rtol=1e-9)


@pytest.mark.parametrize("prior", [np.full(6, 1 / 6), PRIOR])
@pytest.mark.parametrize("shock", [1e6, -1e9])
def test_after_a_shock_adashare_is_near_its_prior_again(prior, shock):
    """Of all experts but one e^{-ℓ/Δ} is 0 in float64."""
    predictions, y = random_game()
    y = y.copy()
    y[50] += shock
    rule_state, expert_weights = np.append(padded(prior), [0.0, 0.0]), np.empty(8)
    weights, delta, cumulative_gap = prior, 0.0, 0.0
    for t in range(1, 52):
        q, label = predictions[t - 1], y[t - 1]
        adashare.set_weights(rule_state, ALL_ACTIVE, expert_weights)
        mix, losses = expert_weights[:6] @ q, 0.5 * (label - q) ** 2
        if t == 51:
            behind = np.sort(losses - losses.min())[1] / rule_state[8]
            assert np.exp(-behind) == 0
        weights, delta, cumulative_gap = reference.adashare(
            weights, delta, cumulative_gap, losses, 0.5 * (label - mix) ** 2, t, prior
        )
        learn_adashare(
            rule_state, q, ALL_ACTIVE, ALL_ACTIVE, mix, label, t, padded(prior, 1.0)
        )
    adashare.set_weights(rule_state, ALL_ACTIVE, expert_weights)
    # Δ is a difference of numbers as large as the shock's loss.
    np.testing.assert_allclose(expert_weights[:6], weights, rtol=1e-6)
    # v_i ∝ π_i e^{-(ℓ_i - ℓ_min)/Δ'}, with Δ' about the loss of the mean beyond ℓ_min.
    ahead = losses - losses.min()
    expected = prior * np.exp(-ahead / rule_state[8])
    expected = 51 / 52 * expected / expected.sum() + prior / 52
    np.testing.assert_allclose(expert_weights[:6], expected, rtol=0.05)
    assert expert_weights.max() < 0.8


def test_boa_is_its_definition():
    predictions, y = random_game()
    confidences = random_confidences()
    all_active, expert_weights = ALL_ACTIVE, np.empty(8)
    rule_state = np.zeros((4, 8))
    rule_state[0] = 1 / 6
    weights, squares, largest, rate = rule_state[:, :6].copy()
    for t, (q, label) in enumerate(zip(predictions, y, strict=True), 1):
        confidence = confidences[t - 1]
        boa.set_weights(rule_state, all_active, padded(confidence), expert_weights)
        expected = weights * np.where(rate > 0, rate, 1) * confidence
        np.testing.assert_allclose(
            expert_weights, padded(expected / expected.sum()), rtol=1e-9
        )
        mix = expert_weights[:6] @ q
        regrets = 2 * confidence * (mix - label) * (mix - q)
        boa.learn(
            rule_state, padded(q), all_active, padded(confidence), 6, mix, np.ptp(q),
            label, 1.0, t,
        )  # fmt: skip
        weights, squares, largest, rate = reference.boa(
            weights, squares, largest, rate, regrets, t
        )
        np.testing.assert_allclose(
            rule_state[:, :6], [weights, np.sqrt(squares), largest, rate], rtol=1e-9
        )


def test_boa_takes_what_differs_from_the_mean_by_rounding_for_agreement():
    q, mean, spread = np.arange(6.0), 2.5, 5.0
    for difference, is_learnt in ((0.5e-9, False), (-0.5e-9, False), (2e-9, True)):
        q[2] = mean + difference * spread
        rule_state = np.zeros((4, 8))
        rule_state[0] = 1 / 6
        boa.learn(
            rule_state, padded(q), ALL_ACTIVE, ALL_ACTIVE, 6, mean, spread, 9.0, 1.0, 3
        )
        assert (rule_state[1:, 2] > 0).all() == is_learnt
        assert (rule_state[1:, 2] == 0).all() != is_learnt
        assert (rule_state[1:, [0, 1, 3, 4, 5]] > 0).all()


def test_mlpoly_is_its_definition():
    predictions, y = random_game()
    all_active, expert_weights, rule_state = ALL_ACTIVE, np.empty(8), np.zeros((2, 9))
    regrets = []
    for q, label, trust in zip(predictions, y, random_confidences(), strict=True):
        confidence = padded(trust)
        mlpoly.set_weights(rule_state, all_active, confidence, expert_weights)
        expected = trust
        if regrets:
            g = np.array(regrets)
            ahead = np.maximum(g.sum(axis=0), 0)
            if ahead.any():
                expected = trust * ahead / ((g**2).max() + (g**2).sum(axis=0))
        expected = padded(expected / expected.sum())
        np.testing.assert_allclose(expert_weights, expected, rtol=1e-9)
        mix = expert_weights[:6] @ q
        regrets.append(2 * trust * (mix - label) * (mix - q))
        mlpoly.learn(rule_state, padded(q), all_active, confidence, mix, label, 1.0)


def test_softmax_is_its_definition():
    predictions, y = random_game()
    confidences, charged = random_confidences(), []
    all_active, expert_weights, rule_state = ALL_ACTIVE, np.empty(8), np.zeros(9)
    softmax.set_weights(rule_state, all_active, padded(confidences[0]), expert_weights)
    expected = padded(confidences[0] / confidences[0].sum())
    np.testing.assert_allclose(expert_weights, expected)
    for t, (q, label) in enumerate(zip(predictions, y, strict=True)):
        trust, mean = confidences[t], expert_weights[:6] @ q
        charged.append(reference.charged(q, mean, label, trust))
        softmax.learn(rule_state, padded(q), padded(trust), 0.9, mean, label, 1.0)
        softmax.set_weights(rule_state, all_active, padded(trust), expert_weights)
        fading = 0.9 ** np.arange(t + 1)[::-1]
        losses = fading @ np.array(charged)
        expected = padded(reference.softmax(losses, fading.sum(), trust))
        np.testing.assert_allclose(expert_weights, expected, rtol=1e-9)


def test_cauchy_weights_are_their_definition():
    rounds = 150  # for as long as the number of squares in s² grows
    predictions, y = random_game(rounds)
    y[70] += 1e3
    rng, confidences = np.random.default_rng(2), random_confidences(rounds)
    weights = rng.uniform(0, 2, size=rounds)
    charged, squares = [], []
    expert_weights, rule_state = np.empty(8), np.zeros(10)
    for t, (q, label) in enumerate(zip(predictions, y, strict=True)):
        trust = confidences[t]
        cauchy.set_weights(rule_state, ALL_ACTIVE, padded(trust), expert_weights)
        expected = trust / trust.sum()
        if t > 0:
            expected = reference.cauchy(np.array(charged), squares, weights[:t], trust)
        np.testing.assert_allclose(expert_weights, padded(expected), rtol=1e-9)
        mean = expert_weights[:6] @ q
        charged.append(reference.charged(q, mean, label, trust))
        squares.append((label - mean) ** 2)
        cauchy.learn(rule_state, padded(q), padded(trust), mean, label, weights[t])
        scale = reference.cauchy_scales(squares)[-1]
        np.testing.assert_allclose(rule_state[8], scale, rtol=1e-9)


def test_a_shock_counts_for_cauchy_weights_like_any_other_round():
    q = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    rule_state, weights = np.zeros(10), []
    for label in [0.1] * 40 + [1e9]:
        before = np.empty(8)
        cauchy.set_weights(rule_state, ALL_ACTIVE, ALL_ACTIVE, before)
        cauchy.learn(rule_state, padded(q), ALL_ACTIVE, before[:6] @ q, label, 1.0)
        weights.append(before[:6])
    after = np.empty(8)
    cauchy.set_weights(rule_state, ALL_ACTIVE, ALL_ACTIVE, after)
    assert weights[-1].argmax() == after.argmax() == 0
    assert after[0] > 0.9


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scale", [1e-140, 1e-80, 1e80, 1e148])
def test_rules_do_not_know_the_unit_of_the_labels(scale):
    predictions, y = random_game()
    confidences = random_confidences()
    forecast_weights = []
    for unit in (1.0, scale):
        s, workspace = fresh_rules()
        rules = workspace.rules
        for t in range(1, 40):
            rules.confidences[:6] = confidences[t]
            mix_round(s, workspace, unit * predictions[t], unit * y[t], t)
        mixture.set_weights(s.rules, rules, rules.confidences)
        weights = rules.rule_weights[: layout.RULES] @ rules.expert_weights
        forecast_weights.append(weights)
    np.testing.assert_allclose(*forecast_weights, rtol=1e-9, atol=1e-12)


def test_an_expert_has_weight_from_its_first_active_round_on_and_none_before():
    predictions, y = random_game()
    active, active_next = padded([1.0, 1, 1]), padded([1.0, 1, 1, 1])
    expert_weights, rule_state = np.empty(8), np.append(active / 3, [0.0, 0.0])
    for t in range(1, 10):
        adashare.set_weights(rule_state, active, expert_weights)
        mix = expert_weights[:6] @ predictions[t]
        learn_adashare(rule_state, predictions[t], active, active, mix, y[t], t)
    learn_adashare(rule_state, predictions[10], active, active_next, mix, y[10], 10)
    adashare.set_weights(rule_state, active_next, expert_weights)
    assert expert_weights[3] == pytest.approx(1 / 11 / 4, rel=1e-9)
    assert (expert_weights[4:] == 0).all()
    assert expert_weights.sum() == pytest.approx(1)


# The label, given the predictions of the experts and of the rule.
ADVERSARIES = {
    "opposes": lambda rng, q, mix, t: -np.sign(mix) * abs(q).max(),
    "far from the mix": lambda rng, q, mix, t: q[abs(q - mix).argmax()],
    "near one, then another": lambda rng, q, mix, t: q[t // 40 % len(q)],
    "one shock": lambda rng, q, mix, t: q[0] + (1e6 if t == 150 else 0.1),
    "ever wilder": lambda rng, q, mix, t: 1.05**t * rng.normal(),
    "heavy tails": lambda rng, q, mix, t: rng.standard_cauchy(),
    "ever calmer": lambda rng, q, mix, t: q[1] + 0.9**t * rng.normal(),
}


def random_predictions(rng, kind, experts, t):
    q = rng.normal(size=experts)
    return q * 1.05**t if kind == "ever wilder" else q


def worst_ratio(predictions, rule_predictions, y, bound, largest=None):
    """The largest regret over bound, of all intervals and experts.

    ``bound`` is called with the largest error so far and the ends of the interval, and
    returns one number, or one for every expert. ``largest`` has the largest error of
    every round; without it that is the experts'.
    """
    regret = (
        0.5 * (y - rule_predictions)[:, None] ** 2
        - 0.5 * (y[:, None] - predictions) ** 2
    )
    if largest is None:
        largest = abs(y[:, None] - predictions).max(axis=1)
    largest = np.maximum.accumulate(largest)
    total = np.vstack([np.zeros(predictions.shape[1]), regret.cumsum(axis=0)])
    return max(
        ((total[b] - total[a - 1]) / bound(largest[b - 1], a, b)).max()
        for a in range(1, len(y) + 1, 7)
        for b in range(a, len(y) + 1, 5)
    )


@pytest.mark.parametrize(
    "prior", [np.full(5, 0.2), np.array([0.025, 0.025, 0.9, 0.025, 0.025])]
)
@pytest.mark.parametrize("kind", ADVERSARIES)
def test_adashare_never_exceeds_its_bound_on_any_interval(kind, prior):
    rng = np.random.default_rng(4)
    experts, rounds = 5, 300
    rule_state, all_active = np.append(padded(prior), [0.0, 0.0]), padded(np.ones(5))
    predictions, rule_predictions, y = (
        np.empty((rounds, experts)),
        np.empty(rounds),
        np.empty(rounds),
    )
    expert_weights, prior_in = np.empty(8), padded(prior, 1.0)
    for t in range(1, rounds + 1):
        adashare.set_weights(rule_state, all_active, expert_weights)
        q = predictions[t - 1] = random_predictions(rng, kind, experts, t)
        mix = rule_predictions[t - 1] = expert_weights[:experts] @ q
        y[t - 1] = ADVERSARIES[kind](rng, q, mix, t)
        learn_adashare(
            rule_state, q, all_active, all_active, mix, y[t - 1], t, prior_in
        )

    def bound(largest, a, b):
        return np.array([adashare_regret(largest, here, a, b) for here in prior])

    assert worst_ratio(predictions, rule_predictions, y, bound) <= 1


def fresh_rules():
    """A Tracker's state before its first round, and a workspace; 6 experts active."""
    s, workspace = new_state(1)
    s.rules.adashare[:, : layout.PADDED_EXPERTS] = (
        np.arange(layout.PADDED_EXPERTS) < 6
    ) / 6
    workspace.rules.active[:6] = workspace.rules.active_next[:6] = 1
    workspace.rules.confidences[:] = 1.0
    return s, workspace


def mix_round(s, workspace, q, label, t, correction=None):
    """Play a round; ``correction`` is what hinges would add to the committee's mean."""
    rules, part = workspace.rules, workspace.curvature
    rules.expert_predictions[: len(q)] = q
    mixture.set_weights(s.rules, rules, rules.confidences)
    mixture.set_rule_predictions(
        rules.expert_predictions, rules.active, rules.expert_weights,
        rules.rule_predictions,
    )  # fmt: skip
    mean = rules.rule_predictions[layout.COMMITTEE]
    part.committee[layout.COMMITTEE_MEAN] = mean
    if correction is not None:
        s.curvature.theta[:], part.features[:] = 0.0, 0.0
        s.curvature.theta[0], part.features[0] = correction, 1.0
        s.counters[layout.CORRECTION_SCALE] = abs(correction)
        curvature.correct(s, part, rules, -np.inf, np.inf)
    mix = mixture.mix(rules.rule_predictions, rules.rule_weights)
    answer = label(mix) if callable(label) else label
    mixture.learn(s.rules, rules, mean, mix, answer, 1.0, t)
    if correction is not None:
        curvature.learn_correction(s.rules.correction, part, rules, answer, 1.0, t)
    return mix, answer


def test_the_meta_rule_is_adashare_with_a_prior_of_nine_tenths_on_the_committee():
    predictions, y = random_game()
    prior = np.append(np.full(7, 0.1 / 7), 0.9)
    weights, delta, cumulative_gap = prior, 0.0, 0.0
    s, workspace = fresh_rules()
    rules = workspace.rules
    for t, (q, label) in enumerate(zip(predictions, y, strict=True), 1):
        forecast, _ = mix_round(s, workspace, q, label, t, correction=0.1)
        means = rules.rule_predictions
        np.testing.assert_allclose(rules.rule_weights, weights, rtol=1e-9)
        losses, loss = 0.5 * (label - means) ** 2, 0.5 * (label - forecast) ** 2
        weights, delta, cumulative_gap = reference.adashare(
            weights, delta, cumulative_gap, losses, loss, t, prior
        )
        np.testing.assert_allclose(s.rules.meta[8:10], [delta, cumulative_gap])


@pytest.mark.parametrize("is_corrected", [False, True])
@pytest.mark.parametrize("kind", ADVERSARIES)
def test_all_rules_together_never_exceed_the_bound_on_any_interval(kind, is_corrected):
    rng = np.random.default_rng(5)
    rounds = 300
    predictions, forecasts = np.empty((rounds, 6)), np.empty(rounds)
    y, largest = np.empty(rounds), np.empty(rounds)
    s, workspace = fresh_rules()
    for t in range(1, rounds + 1):
        q = predictions[t - 1] = random_predictions(rng, kind, 6, t)
        # A correction beyond all experts: its errors count in E, too.
        correction = 4 * abs(q).max() * rng.normal() if is_corrected else None

        def answer(mix, q=q, t=t):
            return ADVERSARIES[kind](rng, q, mix, t)

        forecasts[t - 1], y[t - 1] = mix_round(s, workspace, q, answer, t, correction)
        errors = y[t - 1] - np.append(q, workspace.rules.rule_predictions)
        largest[t - 1] = abs(errors).max()
    assert worst_ratio(predictions, forecasts, y, interval_regret, largest) <= 1


def test_the_largest_loss_counts_the_experts_and_the_corrected_committee():
    for correction, expected in ((0.0, 3.0), (50.0, None)):
        s, workspace = fresh_rules()
        rules, q = workspace.rules, np.arange(6.0)
        mix_round(s, workspace, q, 3.0, 1, correction)
        committee = rules.rule_predictions[layout.COMMITTEE]
        expected = expected or abs(3.0 - committee)
        largest = mixture.learn(s.rules, rules, 2.5, 2.5, 3.0, 2.0, 2)
        assert largest == pytest.approx(2 * expected**2)
    assert expected > 3
