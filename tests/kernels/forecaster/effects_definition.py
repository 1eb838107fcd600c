"""The effects of features known in advance, written down slowly and plainly.

All values are remembered, and regressions are solved again by ``numpy.linalg``.
"""

import numpy as np

from thalweg.kernels.forecaster import (
    covariate_effects,
    step_features,
    step_mixture,
    step_regressions,
)
from thalweg.kernels.forecaster import forecaster_layout as layout


def known_share(t, lag, cycle, season):
    """How much a value ``lag`` rounds back counts, which is known from round ``lag``:
    all of it at once, or, of a cycle of many seasons, by and by."""
    if cycle <= step_features.MAX_SEASONS_AT_ONCE * season:
        return float(t >= lag)
    return float(np.clip((t - lag) / cycle, 0, 1))


def running_mean(values, least_share):
    """The mean in which a new value has a share of 1/count, or the least share."""
    mean = 0.0
    for count, value in enumerate(values, start=1):
        mean = mean + max(1 / count, least_share) * (value - mean)
    return mean


def limit(feature):
    return float(
        np.clip(feature, -step_features.MAX_FEATURE, step_features.MAX_FEATURE)
    )


def in_units(x, means, units):
    """Features less their means, in their units; 0 where they never varied."""
    return np.array(
        [
            limit((v - m) / u) if u > 0 else 0.0
            for v, m, u in zip(x, means, units, strict=True)
        ]
    )


class Effects:
    """The regression on features known in advance (covariate_effects.py)."""

    def __init__(self, forecaster):
        self.forecaster = forecaster
        self.y = []  # as given, the forecast where a value is missing
        self.is_missing = []
        self.rows, self.labels, self.weights, self.losses = [], [], [], []
        self.mean_errors = np.zeros(layout.LANES)
        size = layout.SERIES_TERMS + layout.FEATURE_TERMS * forecaster.known.sum()
        self.theta = np.zeros((size, layout.LANES))
        self.series_theta = np.zeros((layout.SERIES_TERMS, layout.LANES))

    def change(self):
        """The mean size of changes of the series, those of outliers limited."""
        mean, count = 0.0, 0
        for t in range(1, len(self.y)):
            change = abs(self.y[t] - self.y[t - 1])
            if count >= covariate_effects.TRUSTED_CHANGES:
                change = min(change, covariate_effects.MAX_RELATIVE_CHANGE * mean)
            if change > 0 and not self.is_missing[t]:
                count += 1
                share = max(1 / count, covariate_effects.MIN_MEAN_SHARE)
                mean += share * (change - mean)
        return mean

    def mean(self):
        mean = 0.0
        for t, (y, is_missing) in enumerate(zip(self.y, self.is_missing, strict=True)):
            if not is_missing:
                mean += max(1 / (t + 1), covariate_effects.MIN_MEAN_SHARE) * (y - mean)
        return mean

    def terms(self, x):
        """What is known of the next change, with its features."""
        own, t, y, scale = self.forecaster, len(self.y), self.y, self.change()
        season, cycle = own.season, own.cycle
        row = [1.0, y[-1] - y[-2], self.mean() - y[-1], 0.0, 0.0]
        if season > 1 and t >= season:
            row[layout.SEASON_TERM] = y[t - season] - y[-1]
        if cycle > season and t >= cycle:
            row[layout.CYCLE_TERM] = y[t - cycle] - y[-1]
        row = [1.0] + [limit(term / scale) for term in row[1:]]
        means, given = own.covariate_moments(t)[0], own.given[:t]
        for i in np.flatnonzero(own.known):
            last, lagged = given[-1][i], given[max(t - max(season, 2), 0)][i]
            unit = own.change(i, t)
            parts = (x[i] - last, last - means[i], lagged - last)
            row += [limit(part / unit) if unit > 0 else 0.0 for part in parts]
        return np.array(row)

    def learn(self, y, is_missing):
        """Learn the next value; its features are the forecaster's last ones."""
        if not is_missing and len(self.y) > 1 and self.change() > 0:
            row = self.terms(self.forecaster.given[-1])
            self.learn_change(row, limit((y - self.y[-1]) / self.change()))
        self.y.append(float(y))
        self.is_missing.append(bool(is_missing))

    def learn_change(self, row, label):
        with_features = row @ self.theta
        without = row[: layout.SERIES_TERMS] @ self.series_theta
        squares = (np.append(with_features, without) - label) ** 2
        count, errors = len(self.labels), np.abs(with_features - label)
        bounds = layout.OUTLIER_LIMIT * self.mean_errors
        is_outlier = (count >= step_regressions.TRUSTED_ERRORS) & (errors > bounds)
        weights = np.where(is_outlier, bounds / np.maximum(errors, 1e-300), 1.0)
        weights = np.maximum(weights, 1e-9)
        share = max(1 / (count + 1), step_regressions.MEAN_ERROR_SHARE)
        self.mean_errors += share * (weights * errors - self.mean_errors)
        leverage = max(abs(row).max() / step_regressions.LEVERAGE_LIMIT, 1.0)
        self.rows.append(row)
        self.labels.append(label)
        self.weights.append(weights / leverage**2)
        self.losses.append(np.minimum(squares, step_mixture.MAX_LOSS))
        self.theta = self.solve(len(row))
        self.series_theta = self.solve(layout.SERIES_TERMS)

    def solve(self, size):
        X, z = np.array(self.rows)[:, :size], np.array(self.labels)
        ages = np.arange(len(z))[::-1]
        theta = np.empty((size, layout.LANES))
        for lane, gamma in enumerate(layout.DISCOUNT):
            w = gamma**ages * np.array(self.weights)[:, lane]
            S = X.T @ (w[:, None] * X) + covariate_effects.EFFECT_RIDGE * np.eye(size)
            theta[:, lane] = np.linalg.solve(S, X.T @ (w * z))
        return theta

    def of_rows(self, t):
        """The effect of a row of features, as far as it is known after round t."""
        own, lanes = self.forecaster, layout.LANES
        count = min(len(self.labels), step_mixture.LOSS_MEMORY)
        losses = np.zeros(layout.EFFECT_CANDIDATES)
        losses += running_mean(self.losses, 1 / step_mixture.LOSS_MEMORY)
        excess = np.zeros(layout.EFFECT_CANDIDATES)
        if losses.min() > 0:
            excess = losses / losses.min() - 1
            excess *= covariate_effects.EFFECT_SHARPNESS * count
        elif losses.max() > 0:
            excess = np.where(losses > 0, np.inf, 0.0)
        prior = np.repeat([covariate_effects.FEATURE_PRIOR, 1.0], lanes)
        weights = prior * np.exp(-np.minimum(excess, 700))
        weights /= weights.sum()
        changes = slice(layout.SERIES_TERMS, None, layout.FEATURE_TERMS)
        coefficients = self.change() * self.theta[changes] @ weights[:lanes]
        known = np.flatnonzero(own.known)
        units = [own.change(i, t + 1) for i in known]
        known_y = np.array(self.y)[~np.array(self.is_missing)]
        most = covariate_effects.MAX_EFFECT * (known_y.max() - known_y.min())

        def effect(x):
            # The offset is the first row of all.
            features = in_units(np.array(x)[known], own.given[0][known], units)
            return float(np.clip(coefficients @ features, -most, most))

        return effect
