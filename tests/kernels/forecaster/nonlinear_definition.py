"""The nonlinear regressions of the Forecaster, written down slowly and plainly."""

import numpy as np

from tests.kernels.forecaster.effects_definition import known_share, limit, running_mean
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster import nonlinear_features as features
from thalweg.kernels.forecaster import nonlinear_regression as regression
from thalweg.kernels.forecaster.step_features import MIN_SLOW_SHARE
from thalweg.kernels.forecaster.step_regressions import RIDGE


class NonlinearRegression:
    """One group of steps: all labels, solved again now and then by ``numpy.linalg``."""

    def __init__(self, steps):
        self.steps, self.rounds = steps, 0
        self.rows, self.labels, self.weights = [], [], []
        self.theta = None  # of features that are not in units of their ridge

    def learn(self, row, features, label, weight, is_first):
        self.rows.append(features)
        self.labels.append(label - layout.PRIOR @ row[: layout.OWN_FEATURES])
        self.weights.append(weight / len(self.steps))
        if is_first:
            self.rounds += 1
            is_early = self.rounds <= regression.EARLY_COUNT
            every = (
                regression.EARLY_INTERVAL if is_early else regression.SOLUTION_INTERVAL
            )
            if (self.rounds + regression.TURN * self.steps[0]) % every == 0:
                self.theta = self.solve()

    def solve(self):
        """Weighted least squares with a ridge."""
        X, w = np.array(self.rows), np.array(self.weights)
        ridge = np.full(X.shape[1], features.SECOND_RIDGE)
        ridge[: layout.OWN_FEATURES] = RIDGE
        S = X.T @ (w[:, None] * X) + np.diag(ridge)
        return np.linalg.solve(S, X.T @ (w * np.array(self.labels)))

    def predict(self, row, features):
        prior = layout.PRIOR @ row[: layout.OWN_FEATURES]
        return prior if self.theta is None else prior + self.theta @ features

    def coefficients(self, columns):
        """The coefficients of these columns."""
        if self.theta is None:
            return np.zeros(columns.stop - columns.start)
        return self.theta[columns]


class Context:
    """What the nonlinear features of a ``ForecasterDefinition`` are made of."""

    def __init__(self, forecaster):
        self.forecaster = forecaster
        self.levels = []  # of origins that had a scale
        self.inputs = []  # of the first step from these origins
        self.sizes = np.zeros(layout.HINGE_INPUTS)  # of inputs, in the mean

    def learn_inputs(self, inputs):
        self.inputs.append(inputs)
        self.sizes = running_mean(np.abs(self.inputs), features.MIN_ORIGIN_SHARE)

    def slow_profile(self, r):
        f = self.forecaster
        alike = [d for t, d in f.deviations if (t - r) % f.cycle == 0]
        return running_mean(alike, MIN_SLOW_SHARE) if alike else f.season_profile(r)

    def of_step(self, h, level, scale):
        """The context of the step h rounds after the last value."""
        f, values = self.forecaster, self.forecaster.values
        t, season, cycle = len(values) - 1, f.season, f.cycle
        target = t + h

        def level_before(lag):
            share = known_share(t, lag, lag, season)
            if share == 0:
                return 0.0
            return share * (f.level(season, values[: t - lag + 1]) - level)

        anomalies = [
            values[r] - level - f.cycle_profile(r) for r in range(t - 3, t + 1)
        ]
        at = max(target - -(-h // season) * season, 0)
        beside = [values[max(at - i, 0)] for i in (1, 2)]
        beside += [values[min(at + i, t)] for i in (1, 2)]
        context = np.zeros(layout.CONTEXT)
        context[layout.LAST_ANOMALIES] = np.mean(anomalies)
        context[layout.LEVEL_SEASON_AGO] = level_before(season)
        context[layout.LEVEL_CYCLE_AGO] = level_before(cycle)
        context[layout.LEVEL_AHEAD] = level_before(cycle - season)
        mean_level = running_mean(self.levels, features.MIN_ORIGIN_SHARE)
        context[layout.LEVEL_ANOMALY] = level - mean_level
        context[layout.SLOW_PROFILE_NOW] = self.slow_profile(t)
        context[layout.SLOW_PROFILE] = self.slow_profile(target)
        context[layout.NEIGHBOURS_AGO] = np.mean(beside) - level
        beside = [f.cycle_profile(target + i) for i in (-2, -1, 1, 2)]
        context[layout.PROFILE_NEIGHBOURS] = np.mean(beside)
        return np.array([limit(value / scale) for value in context])

    def hinge_inputs(self, row, context, target):
        """The inputs of the hinges, in units of the scale."""
        season, cycle = (
            2 * np.pi * (target % length) / length
            for length in (self.forecaster.season, self.forecaster.cycle)
        )
        return np.array(
            [
                row[layout.LAST] - row[layout.CYCLE_PROFILE_NOW],
                row[layout.SEASON_AGO] - row[layout.PROFILE_SEASON_AGO],
                row[layout.CYCLE_AGO] - row[layout.CYCLE_PROFILE],
                context[layout.LAST_ANOMALIES],
                row[layout.CYCLE_PROFILE],
                row[layout.PROFILE],
                row[layout.CYCLE_LEVEL],
                row[layout.LAST] - row[layout.LAST_BUT_ONE],
                row[layout.SEASON_BEFORE] - row[layout.PROFILE_NOW],
                np.sin(season),
                np.cos(season),
                np.sin(cycle),
                np.cos(cycle),
                context[layout.LEVEL_ANOMALY],
                context[layout.LEVEL_SEASON_AGO],
                context[layout.LEVEL_CYCLE_AGO],
            ]
        )

    def features(self, row, context, target):
        """All features of the step at round ``target``."""
        inputs = self.hinge_inputs(row, context, target)
        season, cycle = (
            2 * np.pi * (target % length) / length
            for length in (self.forecaster.season, self.forecaster.cycle)
        )
        waves = [wave(k * season) for k in (1, 2, 3) for wave in (np.sin, np.cos)]
        cycle_waves = [wave(k * cycle) for k in (1, 2) for wave in (np.sin, np.cos)]
        last, ago = inputs[:2]
        profile, level = row[layout.CYCLE_PROFILE], context[layout.LEVEL_ANOMALY]
        products = [
            last * profile, row[layout.CYCLE_LEVEL] * profile, ago * profile,
            last * row[layout.PROFILE], level * profile, level * last,
        ]  # fmt: skip
        derived = [*context, *products, *waves, *cycle_waves]
        derived += [*np.outer(waves[:4], inputs[:3]).ravel()]
        derived += [waves[0] * level, waves[1] * level]
        derived = np.clip(derived, -features.MAX_PRODUCT, features.MAX_PRODUCT)
        used = self.sizes > features.MIN_INPUT_SIZE
        units = np.divide(inputs, self.sizes, out=np.zeros_like(inputs), where=used)
        units = np.clip(units, -features.MAX_INPUT, features.MAX_INPUT)
        ahead = features.HINGE_COSINE * units[features.HINGE_FIRST]
        ahead += features.HINGE_SINE * units[features.HINGE_SECOND]
        hinges = np.maximum(ahead - features.HINGE_BIAS, 0.0)
        return np.concatenate([row, derived, hinges])
