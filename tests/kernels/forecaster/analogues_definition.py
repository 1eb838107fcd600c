"""Analogues, written down plainly: every distance is computed again from all values.

The values are rounded to float32, in the unit and less the offset of the history, as
the kernels store them.
"""

import numpy as np

from thalweg.kernels.forecaster import analogues
from thalweg.kernels.forecaster import forecaster_layout as layout


class Analogues:
    """The history of a forecaster, and the origins in it that are like the newest one.

    ``seasons_back`` origins are compared, the newest among them.
    """

    def __init__(self, forecaster, seasons_back):
        self.forecaster, self.seasons_back = forecaster, seasons_back
        self.start, self.values = None, []
        self.origins = 0  # those with enough analogues since the history began

    def learn(self, t):
        """Add the newest value, of round t."""
        forecaster, season = self.forecaster, self.forecaster.season
        if season == 1 or forecaster.scale() == 0:
            return
        level, scale = forecaster.level(season), forecaster.scale()
        if self.start is None or self.is_too_far(t, level, scale):
            self.start, self.offset, self.unit = t, level, scale
            self.values, self.origins = [], 0
        value = (forecaster.values[-1] - self.offset) / self.unit
        limit = layout.MAX_HISTORY_VALUE
        self.values.append(float(np.float32(np.clip(value, -limit, limit))))
        self.origins += len(self.lags()) >= analogues.MIN_ANALOGUES

    def is_too_far(self, t, level, scale):
        """Whether values would be stored too coarsely: looked at now and then."""
        ring = (self.seasons_back * self.forecaster.season + 2) // 2 * 2
        if (t - self.start) % ring:
            return False
        ratio = scale / self.unit
        is_other = not 1 / analogues.MAX_RATIO <= ratio <= analogues.MAX_RATIO
        return is_other or abs(level - self.offset) > analogues.MAX_DRIFT * scale

    def lags(self):
        """How long ago origins are whose following values are known, and so many
        values before: multiples of the season."""
        season, horizon = self.forecaster.season, self.forecaster.horizon
        first = len(self.values) - season - analogues.COMPARED_ROUNDS
        return [
            j * season
            for j in range(1, self.seasons_back)
            if j * season >= horizon and j * season <= first
        ]

    def level(self, age):
        """The mean of the season up to the value of so many rounds ago."""
        stop = len(self.values) - age
        return np.mean(self.values[stop - self.forecaster.season : stop])

    def distance(self, lag):
        """How unlike the course was so many rounds ago."""
        ages = range(len(self.values) - lag - self.forecaster.season + 1)
        anomaly = [self.values[-1 - age] - self.level(age) for age in ages]
        other = [self.values[-1 - age - lag] - self.level(age + lag) for age in ages]
        weights = analogues.DECAY ** np.arange(len(ages))
        distance = weights @ np.subtract(anomaly, other) ** 2 * (1 - analogues.DECAY)
        distance += analogues.LEVEL_SHARE * (self.level(0) - self.level(lag)) ** 2
        is_other_phase = lag % self.forecaster.cycle != 0
        return distance * (analogues.OTHER_PHASE if is_other_phase else 1.0)

    def forecasts(self, scale):
        """The forecasts of all steps, less the level and in units of the scale; None
        where there are too few origins."""
        lags = self.lags()
        if len(lags) < analogues.MIN_ANALOGUES:
            return None
        distances = np.array([self.distance(lag) for lag in lags])
        nearest = np.argsort(distances, kind="stable")[: layout.NEIGHBOURS]
        lags, distances = np.array(lags)[nearest], distances[nearest]
        weights = (distances / distances.mean() + analogues.DISTANCE_MARGIN) ** -2.0
        followers = [
            [self.values[h - 1 - lag] - self.level(lag) for lag in lags]
            for h in range(1, self.forecaster.horizon + 1)
        ]
        return followers @ weights / weights.sum() * self.unit / scale
