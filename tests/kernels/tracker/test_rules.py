"""Each rule against its slow version, and AdaShare against adversaries."""

import numpy as np
import pytest

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import (
    adashare,
    boa,
    mixture,
    mlpoly,
    new_workspace,
    padded,
    softmax,
)
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker import Tracker, interval_regret
from thalweg.learners.tracker.regret_bound import adashare_regret


def random_game(rounds=60, experts=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=rounds).cumsum()
    skill = rng.uniform(0.1, 3, size=(2, experts))[np.arange(rounds) // (rounds // 2)]
    return y[:, None] + skill * rng.normal(size=(rounds, experts)), y


def learn_adashare(rule_state, q, active, active_next, mix, y, t):
    loss = np.empty(active.size)
    lowest = adashare.set_losses(padded(q), active, y, 1.0, loss)
    own = 0.5 * (y - mix) ** 2
    adashare.learn(
        rule_state, active, active_next, own, loss, lowest, t, adashare.STEADY_FADE
    )


ALL_ACTIVE = padded(np.ones(6))


def test_adashare_is_its_definition():
    predictions, y = random_game()
    all_active, expert_weights = ALL_ACTIVE, np.empty(8)
    rule_state = np.append(padded(np.full(6, 1 / 6)), [0.0, 0.0])
    weights, delta, cumulative_gap = rule_state[:6].copy(), 0.0, 0.0
    for t, (q, label) in enumerate(zip(predictions, y, strict=True), 1):
        adashare.set_weights(rule_state, all_active, expert_weights)
        np.testing.assert_allclose(expert_weights, padded(weights), rtol=1e-9)
        mix, losses = expert_weights[:6] @ q, 0.5 * (label - q) ** 2
        loss = 0.5 * (label - mix) ** 2
        weights, delta, cumulative_gap = reference.adashare(
            weights, delta, cumulative_gap, losses, loss, t
        )
        learn_adashare(rule_state, q, all_active, all_active, mix, label, t)
        np.testing.assert_allclose(rule_state[8:], [delta, cumulative_gap], rtol=1e-9)


def test_boa_is_its_definition():
    predictions, y = random_game()
    all_active, expert_weights = ALL_ACTIVE, np.empty(8)
    rule_state = np.zeros((4, 8))
    rule_state[0] = 1 / 6
    weights, squares, largest, rate = rule_state[:, :6].copy()
    for t, (q, label) in enumerate(zip(predictions, y, strict=True), 1):
        boa.set_weights(rule_state, all_active, expert_weights)
        expected = weights * np.where(rate > 0, rate, 1)
        np.testing.assert_allclose(
            expert_weights, padded(expected / expected.sum()), rtol=1e-9
        )
        mix = expert_weights[:6] @ q
        regrets = 2 * (mix - label) * (mix - q)
        boa.learn(rule_state, padded(q), all_active, 6, mix, label, 1.0, t)
        weights, squares, largest, rate = reference.boa(
            weights, squares, largest, rate, regrets, t
        )
        np.testing.assert_allclose(
            rule_state[:, :6], [weights, np.sqrt(squares), largest, rate], rtol=1e-9
        )


def test_mlpoly_is_its_definition():
    predictions, y = random_game()
    all_active, expert_weights, rule_state = ALL_ACTIVE, np.empty(8), np.zeros((2, 9))
    regrets = []
    for q, label in zip(predictions, y, strict=True):
        mlpoly.set_weights(rule_state, all_active, expert_weights)
        if regrets:
            g = np.array(regrets)
            ahead = np.maximum(g.sum(axis=0), 0)
            expected = ahead / ((g**2).max() + (g**2).sum(axis=0))
            if not ahead.any():
                expected = np.ones(6)
            expected = padded(expected / expected.sum())
            np.testing.assert_allclose(expert_weights, expected, rtol=1e-9)
        mix = expert_weights[:6] @ q
        regrets.append(2 * (mix - label) * (mix - q))
        mlpoly.learn(rule_state, padded(q), all_active, mix, label, 1.0)


def test_softmax_is_its_definition():
    predictions, y = random_game()
    all_active, expert_weights, rule_state = ALL_ACTIVE, np.empty(8), np.zeros(9)
    softmax.set_weights(rule_state, all_active, expert_weights)
    np.testing.assert_allclose(expert_weights, padded(np.full(6, 1 / 6)))
    for t, (q, label) in enumerate(zip(predictions, y, strict=True), 1):
        softmax.learn(rule_state, padded(q), 0.9, label, 1.0)
        softmax.set_weights(rule_state, all_active, expert_weights)
        fading = 0.9 ** np.arange(t)[::-1]
        losses = fading @ (y[:t, None] - predictions[:t]) ** 2
        expected = padded(reference.softmax(losses, fading.sum()))
        np.testing.assert_allclose(expert_weights, expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e-80, 1e80, 1e148])
def test_rules_do_not_know_the_unit_of_the_labels(scale):
    predictions, y = random_game()
    forecast_weights = []
    for unit in (1.0, scale):
        rules, rule_workspace = fresh_rules()
        for t in range(1, 40):
            mix_round(rules, rule_workspace, unit * predictions[t], unit * y[t], t)
        mixture.set_weights(rules, rule_workspace)
        forecast_weights.append(
            rule_workspace.rule_weights[: layout.RULES] @ rule_workspace.expert_weights
        )
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


def worst_ratio(predictions, rule_predictions, y, bound):
    """The largest regret over bound, of all intervals and experts."""
    regret = (
        0.5 * (y - rule_predictions)[:, None] ** 2
        - 0.5 * (y[:, None] - predictions) ** 2
    )
    largest = np.maximum.accumulate(abs(y[:, None] - predictions).max(axis=1))
    total = np.vstack([np.zeros(predictions.shape[1]), regret.cumsum(axis=0)])
    return max(
        (total[b] - total[a - 1]).max() / bound(largest[b - 1], a, b)
        for a in range(1, len(y) + 1, 7)
        for b in range(a, len(y) + 1, 5)
    )


@pytest.mark.parametrize("kind", ADVERSARIES)
def test_adashare_never_exceeds_its_bound_on_any_interval(kind):
    rng = np.random.default_rng(4)
    experts, rounds = 5, 300
    rule_state, all_active = (
        np.append(padded(np.full(5, 0.2)), [0.0, 0.0]),
        padded(np.ones(5)),
    )
    predictions, rule_predictions, y = (
        np.empty((rounds, experts)),
        np.empty(rounds),
        np.empty(rounds),
    )
    expert_weights = np.empty(8)
    for t in range(1, rounds + 1):
        adashare.set_weights(rule_state, all_active, expert_weights)
        q = predictions[t - 1] = random_predictions(rng, kind, experts, t)
        mix = rule_predictions[t - 1] = expert_weights[:experts] @ q
        y[t - 1] = ADVERSARIES[kind](rng, q, mix, t)
        learn_adashare(rule_state, q, all_active, all_active, mix, y[t - 1], t)

    def bound(largest, a, b):
        return adashare_regret(largest, experts, a, b)

    assert worst_ratio(predictions, rule_predictions, y, bound) <= 1


def fresh_rules():
    """Rules of the Tracker before their first round, 6 experts active."""
    rules = layout.views(Tracker().init(np.zeros(1)).packed, 1).rules
    rules.adashare[:, : layout.PADDED_EXPERTS] = (
        np.arange(layout.PADDED_EXPERTS) < 6
    ) / 6
    rule_workspace = new_workspace(1).rules
    rule_workspace.active[:6] = rule_workspace.active_next[:6] = 1
    return rules, rule_workspace


def mix_round(rules, rule_workspace, q, label, t):
    rule_workspace.expert_predictions[: len(q)] = q
    mixture.set_weights(rules, rule_workspace)
    mix = mixture.mix(
        rule_workspace.expert_predictions,
        rule_workspace.active,
        rule_workspace.expert_weights,
        rule_workspace.rule_weights,
        rule_workspace.rule_predictions,
    )
    answer = label(mix) if callable(label) else label
    mixture.learn(rules, rule_workspace, mix, answer, 1.0, t)
    return mix, answer


@pytest.mark.parametrize("kind", ADVERSARIES)
def test_all_rules_together_never_exceed_the_bound_on_any_interval(kind):
    rng = np.random.default_rng(5)
    rounds = 300
    predictions, rule_predictions, y = (
        np.empty((rounds, 6)),
        np.empty(rounds),
        np.empty(rounds),
    )
    rules, rule_workspace = fresh_rules()
    for t in range(1, rounds + 1):
        q = predictions[t - 1] = random_predictions(rng, kind, 6, t)

        def answer(mix, q=q, t=t):
            return ADVERSARIES[kind](rng, q, mix, t)

        rule_predictions[t - 1], y[t - 1] = mix_round(
            rules, rule_workspace, q, answer, t
        )
    assert worst_ratio(predictions, rule_predictions, y, interval_regret) <= 1
