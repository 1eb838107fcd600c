"""Slow, obvious versions of the kernels that forecast by the past."""

import itertools

import numpy as np

DAMPING, MARGIN = 0.97, 0.5
PARAMETERS = [
    (alpha, beta, gamma)
    for gamma in (0.05, 0.15, 0.4)
    for alpha in (0.02, 0.1, 0.3, 0.6, 0.95)
    for beta in (0.0, 0.02, 0.1, 0.3)
]


def loss_weights(losses, count, rate):
    """w_j ∝ exp(-η N (L_j - L_min) / L_min); of losses that are None, none."""
    known = [loss for loss in losses if loss is not None]
    best = min(known)
    shares = []
    for loss in losses:
        if loss is None:
            shares.append(0.0)
        elif best > 0:
            shares.append(np.exp(-rate * count * (loss - best) / best))
        else:
            shares.append(float(loss == 0))
    return np.array(shares) / sum(shares)


class Smoothing:
    """One exponential smoothing model, from the formulas of Holt and Winters."""

    def __init__(self, parameters, season, multiplies):
        self.alpha, self.beta, self.gamma = parameters
        self.multiplies, self.period = multiplies, season
        self.season = [1.0 if multiplies else 0.0] * season
        self.trend = self.level = 0.0

    def within(self, value, low, high):
        least = low - MARGIN * (high - low)
        least = max(least, 0.1 * low) if self.multiplies else least
        return min(max(value, least), high + MARGIN * (high - low))

    def forecast(self, place, steps, low, high):
        damped = sum(DAMPING**k for k in range(1, steps + 1))
        level = self.level + damped * self.trend
        season = self.season[place % self.period]
        value = level * season if self.multiplies else level + season
        return self.within(value, low, high)

    def learn(self, y, place, values, low, high):
        phase, seasons = place % self.period, 1 + place // self.period
        season = self.season[phase]
        alpha = max(self.alpha, 1 / values)
        expected = self.within(self.level + DAMPING * self.trend, low, high)
        own = y / season if self.multiplies else y - season
        level = self.within(alpha * own + (1 - alpha) * expected, low, high)
        change = level - self.level
        self.trend = self.beta * change + (1 - self.beta) * DAMPING * self.trend
        self.level = level
        if self.period > 1:
            gamma = max(self.gamma, 1 / seasons)
            own = y / level if self.multiplies else y - level
            season = (1 - gamma) * season + gamma * own
            season = min(max(season, 0.1), 10) if self.multiplies else season
            self.season[phase] = season


def smoothing_forecasts(values, season, horizon):
    """The forecasts of the bank after each value."""
    parameters = PARAMETERS if season > 1 else PARAMETERS[:20]
    kinds = (False, True) if season > 1 else (False,)
    models = [Smoothing(p, season, kind) for kind in kinds for p in parameters]
    losses, count, known, made = [0.0] * len(models), 0.0, [], []
    for place, y in enumerate(values):
        if not np.isnan(y):
            if len(known) >= 2:
                low, high = min(known), max(known)
                for k, model in enumerate(models):
                    if losses[k] is not None:
                        error = y - model.forecast(place, 1, low, high)
                        losses[k] = 0.99 * losses[k] + error**2
                count = 0.99 * count + 1
            known.append(y)
            for k, model in enumerate(models):
                if model.multiplies and y <= 0:
                    losses[k] = None
                elif len(known) == 1:
                    model.level = y
                elif losses[k] is not None:
                    model.learn(y, place, len(known), min(known), max(known))
        forecast = 0.0
        if known:
            weights = loss_weights(losses, count, 0.5)
            for k, model in enumerate(models):
                if losses[k] is not None:
                    forecast += weights[k] * model.forecast(
                        place + horizon, horizon, min(known), max(known)
                    )
        made.append(forecast)
    return np.array(made)


def pool_sets():
    """Which of three forecasts, the last value and the phase's mean are averaged."""
    three = (0, 1, 2)
    sets = [set(c) for r in (1, 2, 3) for c in itertools.combinations(three, r)]
    return [*sets, {3}, {0, 1, 2, 3}, {4}, {0, 4}, {2, 4}, {0, 1, 2, 4}]


def pooled_forecasts(values, forecasts, delay):
    """The pool of forecasts (T, 5), of which ``forecasts[t]`` are of row t + 1 + d."""
    sets = pool_sets()

    def means(row):
        members = [[row[k] for k in one if not np.isnan(row[k])] for one in sets]
        return [np.mean(made) if made else None for made in members]

    losses, count, known, pooled = np.zeros(len(sets)), 0.0, 0, []
    for t, y in enumerate(values):
        if not np.isnan(y):
            if t > delay and known >= 2:
                made = means(forecasts[t - delay - 1])
                errors = [y - (made[0] if one is None else one) for one in made]
                losses = 0.998 * losses + np.square(errors)
                count = 0.998 * count + 1
            known += 1
        made = means(forecasts[t])
        shown = [
            loss if one is not None else None
            for loss, one in zip(losses, made, strict=True)
        ]
        weights = loss_weights(shown, count, 0.1)
        pairs = zip(weights, made, strict=True)
        pooled.append(sum(w * one for w, one in pairs if one is not None))
    return np.array(pooled)
