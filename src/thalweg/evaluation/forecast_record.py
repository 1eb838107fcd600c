"""What a page shows of forecasts beside their errors: times, bands, residuals, effects.

Everything is kept in constant memory, and is the same to the last bit however the
stream is cut.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation.downsampling import Downsampler, DownsamplerSnapshot
from thalweg.evaluation.error_histogram import ErrorHistogram, ErrorHistogramSnapshot
from thalweg.evaluation.feature_effects import FeatureEffects, FeatureEffectsSnapshot
from thalweg.evaluation.study import PredictionBands
from thalweg.persistence.snapshots import Component
from thalweg.rules import Condition
from thalweg.types import FloatArray, Trace

CURVES = "(times, band_low, band_high, covered, half_widths)"
OF_SAME_ROUNDS = Condition(
    f"len({{curve.rounds for curve in {CURVES}}}) == 1", "of the rounds of the bands"
)


class ForecastRecordSnapshot(NamedTuple):
    """All that a record of forecasts remembers."""

    # Seconds since 1970, by local clocks.
    times: Annotated[DownsamplerSnapshot, OF_SAME_ROUNDS]
    band_low: DownsamplerSnapshot
    band_high: DownsamplerSnapshot
    covered: DownsamplerSnapshot  # 1 where the band held the value, 0 where not
    half_widths: DownsamplerSnapshot  # of the bands of rows that were scored
    residuals: ErrorHistogramSnapshot
    effects: FeatureEffectsSnapshot


class ForecastRecord(Component):
    """Curves of times, of prediction bands and of their coverage; errors; effects."""

    Snapshot: ClassVar[Any] = ForecastRecordSnapshot

    def __init__(self, features: int) -> None:
        self.times, self.band_low, self.band_high, self.covered, self.half_widths = (
            Downsampler() for _ in range(5)
        )
        self.residuals = ErrorHistogram()
        self.effects = FeatureEffects(features)

    def add(
        self, x: FloatArray, y: FloatArray, trace: Trace, scored_labels: FloatArray,
        seconds: FloatArray,
    ) -> None:  # fmt: skip
        """Take the next rows: what was recorded of them, and their times or NaN."""
        assert trace.theta is not None
        low, high = np.asarray(trace.extras["interval"]).T
        # Before any error has been seen, the interval is infinite: there is none.
        has_band = np.isfinite(high - low)
        self.times.add(seconds)
        self.band_low.add(np.where(has_band, low, np.nan))
        self.band_high.add(np.where(has_band, high, np.nan))
        is_scored = ~np.isnan(scored_labels)
        inside = ((low <= scored_labels) & (scored_labels <= high)).astype(np.float64)
        self.covered.add(np.where(has_band & is_scored, inside, np.nan))
        half_width = np.where(has_band, high - low, np.nan) / 2
        self.half_widths.add(np.where(is_scored, half_width, np.nan))
        self.residuals.add(scored_labels - trace.prediction)
        self.effects.add(x, y, trace.theta, trace.prediction, is_scored)

    def bands(self, nominal: float) -> PredictionBands | None:
        """The bands of this nominal coverage; None where no row had one."""
        if not self.band_low.count():
            return None
        return PredictionBands(
            nominal,
            self.band_low.curve(),
            self.band_high.curve(),
            self.covered.curve(),
            self.half_widths.average() if self.half_widths.count() else None,
        )
