"""What holiday_effects.py computes, written down slowly and plainly.

All days are remembered, and every number is computed again from them, day by day.
"""

import numpy as np

from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster import holiday_effects as rules


class HolidayDefinition:
    """The effects of all days, as far as they are known after each day."""

    def __init__(self, rows, lead):
        self.rows, self.lead = rows, lead  # effects are known ``lead`` days ahead
        self.profile = np.zeros((7, rows))
        self.weekday_counts = np.zeros(7, int)
        self.usual = []
        self.gain = np.zeros(layout.COUNTRIES)
        self.products, self.squares = np.zeros((2, layout.COUNTRIES))
        self.country = None
        self.dates = {}  # the own effects of dates, a list of years each
        self.own = {}
        self.effects = {}

    def effect(self, day):
        return self.effects.get(day, np.zeros(self.rows))

    def size_quantile(self, share, least=rules.MIN_USUAL_DAYS):
        recent = np.sort(self.usual[-layout.USUAL_DAYS :])
        if len(recent) < least:
            return 0.0
        size = recent[int(share * (len(recent) - 1))]
        return size if size >= rules.MIN_USUAL_SIZE else 0.0

    def share(self, bits, prior_share=0.0, prior_weight=0.0):
        if self.country is None or not bits >> self.country & 1:
            return 0.0
        square = self.squares[self.country] + prior_weight
        if square <= 0:
            return 0.0
        product = self.products[self.country] + prior_share * prior_weight
        return np.clip(product / square, rules.MIN_SHARE, rules.MAX_SHARE)

    def learn(self, day, values, marks):
        weekday, bits, date = marks[day]
        known = ~np.isnan(values)
        if 2 * known.sum() >= self.rows:
            self._learn_known(day, values, known, weekday, int(bits), date)
        self._foresee(day + 1 + self.lead, *marks[day + 1 + self.lead])

    def _learn_known(self, day, values, known, weekday, bits, date):
        anomaly = np.where(known, values - self.profile[weekday], 0.0)
        step = self.profile[rules.SUNDAY] - self.profile[weekday]
        size = (anomaly**2).sum() / known.sum()
        if self.weekday_counts[weekday] >= rules.MIN_PROFILE_DAYS:
            usual = self.size_quantile(0.5, rules.MIN_LIMIT_DAYS)
            if usual > 0:
                largest = rules.MAX_SHARE**2 * np.mean(step[known] ** 2)
                limited = min(size, rules.MAX_SIZE * usual + largest)
                anomaly *= np.sqrt(limited / size) if size > 0 else 1.0
                size = limited
            if self.size_quantile(0.5) > 0 and self.weekday_counts[rules.SUNDAY] >= 3:
                self._learn_holiday(bits, anomaly, step, known)
                self._learn_date(date, bits, anomaly, step, known)
                self._choose()
            if bits == 0 and date < 0:
                self.usual.append(size)
        self.weekday_counts[weekday] += 1
        share = max(1 / self.weekday_counts[weekday], rules.MIN_PROFILE_SHARE)
        moved = share * (anomaly - self.effect(day))
        self.profile[weekday] += np.where(known, moved, 0.0)

    def _learn_holiday(self, bits, anomaly, step, known):
        product, square = (anomaly * step)[known].sum(), (step**2)[known].sum()
        noise = known.sum() * self.size_quantile(rules.TEST_QUANTILE)
        # The noise of the weekday's mean is in both factors.
        product -= rules.SHARED_NOISE * known.sum() * self.size_quantile(0.5)
        gain = rules.TEST_SHARE * (2 * product - rules.TEST_SHARE * square)
        gain /= 2 * noise
        gain *= min(rules.INDEPENDENT_ROWS, self.rows)
        gain = np.clip(gain, -rules.MAX_DAY_GAIN, rules.MAX_DAY_GAIN)
        for c in range(layout.COUNTRIES):
            if bits >> c & 1:
                self.gain[c] = np.clip(
                    self.gain[c] + gain, -rules.MAX_GAIN, rules.MAX_GAIN
                )
                self.products[c] = rules.HOLIDAY_MEMORY * self.products[c] + product
                self.squares[c] = rules.HOLIDAY_MEMORY * self.squares[c] + square

    def _learn_date(self, date, bits, anomaly, step, known):
        if date < 0:
            return
        count = self.dates[date] = self.dates.get(date, 0) + 1
        own = self.own.setdefault(date, np.zeros(self.rows))
        rest = anomaly - self.share(bits) * step
        moved = max(1 / count, 1 / rules.MAX_YEARS) * (rest - own)
        own += np.where(known, moved, 0.0)

    def _choose(self):
        best = int(np.argmax(self.gain))
        if self.country is not None and self.gain[self.country] < rules.LOST_GAIN:
            self.country = None
        if self.gain[best] <= rules.MIN_GAIN:
            return
        if (
            self.country is None
            or self.gain[best] > self.gain[self.country] + rules.GAIN_MARGIN
        ):
            self.country = best

    def _foresee(self, day, weekday, bits, date):
        usual, counts = self.size_quantile(0.5), self.weekday_counts
        if usual == 0 or min(counts[weekday], counts[rules.SUNDAY]) < 3:
            return
        weight = rules.PRIOR_WEIGHT * self.rows * usual
        share = self.share(int(bits), rules.PRIOR_SHARE, weight)
        effect = share * (self.profile[rules.SUNDAY] - self.profile[weekday])
        if date in self.own:
            own = self.own[date]
            years = min(self.dates[date], rules.MAX_YEARS)
            size = np.sqrt(years) * np.mean(own**2)
            unusual = self.size_quantile(rules.UNUSUAL_SHARE)
            if size > unusual:
                effect = effect + (1 - unusual / size) * own
        self.effects[day] = np.where(self.profile[weekday] == 0, 0.0, effect)
