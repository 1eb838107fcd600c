"""Each rule against its slow version, and AdaShare against adversaries."""

import numpy as np
import pytest

from tests.kernels.tracker import slow
from tests.kernels.tracker.rooms import (
    adashare,
    boa,
    mixture,
    mlpoly,
    padded,
    room,
    softmax,
)
from thalweg.kernels.tracker import layout
from thalweg.learners.tracker import Tracker, interval_regret
from thalweg.learners.tracker.guarantee import adashare_regret


def game(rounds=60, experts=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=rounds).cumsum()
    skill = rng.uniform(0.1, 3, size=(2, experts))[np.arange(rounds) // (rounds // 2)]
    return y[:, None] + skill * rng.normal(size=(rounds, experts)), y


def learn_adashare(memo, q, active, following, mix, y, t):
    loss = np.empty(active.size)
    lowest = adashare.losses(padded(q), active, y, 1.0, loss)
    own = 0.5 * (y - mix) ** 2
    adashare.learn(memo, active, following, own, loss, lowest, t, adashare.STEADY)


EVERYONE = padded(np.ones(6))


def test_adashare_is_its_definition():
    said, y = game()
    everyone, shares = EVERYONE, np.empty(8)
    memo = np.append(padded(np.full(6, 1 / 6)), [0.0, 0.0])
    weights, delta, debt = memo[:6].copy(), 0.0, 0.0
    for t, (q, label) in enumerate(zip(said, y, strict=True), 1):
        adashare.weigh(memo, everyone, shares)
        np.testing.assert_allclose(shares, padded(weights), rtol=1e-9)
        mix, losses = shares[:6] @ q, 0.5 * (label - q) ** 2
        loss = 0.5 * (label - mix) ** 2
        weights, delta, debt = slow.adashare(weights, delta, debt, losses, loss, t)
        learn_adashare(memo, q, everyone, everyone, mix, label, t)
        np.testing.assert_allclose(memo[8:], [delta, debt], rtol=1e-9)


def test_boa_is_its_definition():
    said, y = game()
    everyone, shares = EVERYONE, np.empty(8)
    memo = np.zeros((4, 8))
    memo[0] = 1 / 6
    weights, squares, largest, rate = memo[:, :6].copy()
    for t, (q, label) in enumerate(zip(said, y, strict=True), 1):
        boa.weigh(memo, everyone, shares)
        expected = weights * np.where(rate > 0, rate, 1)
        np.testing.assert_allclose(shares, padded(expected / expected.sum()), rtol=1e-9)
        mix = shares[:6] @ q
        regrets = 2 * (mix - label) * (mix - q)
        boa.learn(memo, padded(q), everyone, 6, mix, label, 1.0, t)
        weights, squares, largest, rate = slow.boa(
            weights, squares, largest, rate, regrets, t
        )
        np.testing.assert_allclose(
            memo[:, :6], [weights, np.sqrt(squares), largest, rate], rtol=1e-9
        )


def test_mlpoly_is_its_definition():
    said, y = game()
    everyone, shares, memo = EVERYONE, np.empty(8), np.zeros((2, 9))
    regrets = []
    for q, label in zip(said, y, strict=True):
        mlpoly.weigh(memo, everyone, shares)
        if regrets:
            g = np.array(regrets)
            ahead = np.maximum(g.sum(axis=0), 0)
            expected = ahead / ((g**2).max() + (g**2).sum(axis=0))
            if not ahead.any():
                expected = np.ones(6)
            expected = padded(expected / expected.sum())
            np.testing.assert_allclose(shares, expected, rtol=1e-9)
        mix = shares[:6] @ q
        regrets.append(2 * (mix - label) * (mix - q))
        mlpoly.learn(memo, padded(q), everyone, mix, label, 1.0)


def test_softmax_is_its_definition():
    said, y = game()
    everyone, shares, memo = EVERYONE, np.empty(8), np.zeros(9)
    softmax.weigh(memo, everyone, shares)
    np.testing.assert_allclose(shares, padded(np.full(6, 1 / 6)))
    for t, (q, label) in enumerate(zip(said, y, strict=True), 1):
        softmax.learn(memo, padded(q), 0.9, label, 1.0)
        softmax.weigh(memo, everyone, shares)
        fading = 0.9 ** np.arange(t)[::-1]
        losses = fading @ (y[:t, None] - said[:t]) ** 2
        expected = padded(slow.softmax(losses, fading.sum()))
        np.testing.assert_allclose(shares, expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e-80, 1e80, 1e148])
def test_rules_do_not_know_the_unit_of_the_labels(scale):
    said, y = game()
    found = []
    for unit in (1.0, scale):
        rules, votes = ring()
        for t in range(1, 40):
            mix_round(rules, votes, unit * said[t], unit * y[t], t)
        mixture.weigh(rules, votes)
        found.append(votes.top[: layout.RULES] @ votes.shares)
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


def test_a_newborn_is_heard_and_the_unborn_are_not():
    said, y = game()
    active, following = padded([1.0, 1, 1]), padded([1.0, 1, 1, 1])
    shares, memo = np.empty(8), np.append(active / 3, [0.0, 0.0])
    for t in range(1, 10):
        adashare.weigh(memo, active, shares)
        mix = shares[:6] @ said[t]
        learn_adashare(memo, said[t], active, active, mix, y[t], t)
    learn_adashare(memo, said[10], active, following, mix, y[10], 10)
    adashare.weigh(memo, following, shares)
    assert shares[3] == pytest.approx(1 / 11 / 4, rel=1e-9)
    assert (shares[4:] == 0).all()
    assert shares.sum() == pytest.approx(1)


# What the label is, after the experts and the rule have spoken.
ADVERSARIES = {
    "opposes": lambda rng, q, mix, t: -np.sign(mix) * abs(q).max(),
    "far from the mix": lambda rng, q, mix, t: q[abs(q - mix).argmax()],
    "near one, then another": lambda rng, q, mix, t: q[t // 40 % len(q)],
    "one shock": lambda rng, q, mix, t: q[0] + (1e6 if t == 150 else 0.1),
    "ever wilder": lambda rng, q, mix, t: 1.05**t * rng.normal(),
    "heavy tails": lambda rng, q, mix, t: rng.standard_cauchy(),
    "ever calmer": lambda rng, q, mix, t: q[1] + 0.9**t * rng.normal(),
}


def spoken(rng, kind, experts, t):
    q = rng.normal(size=experts)
    return q * 1.05**t if kind == "ever wilder" else q


def worst_ratio(said, mixes, y, bound):
    """The largest regret over bound, of all intervals and experts."""
    regret = 0.5 * (y - mixes)[:, None] ** 2 - 0.5 * (y[:, None] - said) ** 2
    largest = np.maximum.accumulate(abs(y[:, None] - said).max(axis=1))
    total = np.vstack([np.zeros(said.shape[1]), regret.cumsum(axis=0)])
    return max(
        (total[b] - total[a - 1]).max() / bound(largest[b - 1], a, b)
        for a in range(1, len(y) + 1, 7)
        for b in range(a, len(y) + 1, 5)
    )


@pytest.mark.parametrize("kind", ADVERSARIES)
def test_adashare_never_exceeds_its_bound_on_any_interval(kind):
    rng = np.random.default_rng(4)
    experts, rounds = 5, 300
    memo, everyone = np.append(padded(np.full(5, 0.2)), [0.0, 0.0]), padded(np.ones(5))
    said, mixes, y = np.empty((rounds, experts)), np.empty(rounds), np.empty(rounds)
    shares = np.empty(8)
    for t in range(1, rounds + 1):
        adashare.weigh(memo, everyone, shares)
        q = said[t - 1] = spoken(rng, kind, experts, t)
        mix = mixes[t - 1] = shares[:experts] @ q
        y[t - 1] = ADVERSARIES[kind](rng, q, mix, t)
        learn_adashare(memo, q, everyone, everyone, mix, y[t - 1], t)

    def bound(largest, a, b):
        return adashare_regret(largest, experts, a, b)

    assert worst_ratio(said, mixes, y, bound) <= 1


def ring():
    """Rules of the Tracker before their first round, 6 experts voting."""
    rules = layout.views(Tracker().init(np.zeros(1)).packed, 1).rules
    rules.adashare[:, : layout.SEATS] = (np.arange(layout.SEATS) < 6) / 6
    _, votes = room(1)
    votes.active[:6] = votes.following[:6] = 1
    return rules, votes


def mix_round(rules, votes, q, label, t):
    votes.said[: len(q)] = q
    mixture.weigh(rules, votes)
    mix = mixture.mix(votes.said, votes.active, votes.shares, votes.top, votes.mixes)
    answer = label(mix) if callable(label) else label
    mixture.learn(rules, votes, mix, answer, 1.0, t)
    return mix, answer


@pytest.mark.parametrize("kind", ADVERSARIES)
def test_all_rules_together_never_exceed_the_bound_on_any_interval(kind):
    rng = np.random.default_rng(5)
    rounds = 300
    said, mixes, y = np.empty((rounds, 6)), np.empty(rounds), np.empty(rounds)
    rules, votes = ring()
    for t in range(1, rounds + 1):
        q = said[t - 1] = spoken(rng, kind, 6, t)

        def answer(mix, q=q, t=t):
            return ADVERSARIES[kind](rng, q, mix, t)

        mixes[t - 1], y[t - 1] = mix_round(rules, votes, q, answer, t)
    assert worst_ratio(said, mixes, y, interval_regret) <= 1
