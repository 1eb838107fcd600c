"""Forecasts as text, with as many digits as their bands give reason for."""

import math

import numpy as np

from thalweg.evaluation.forecast_result import ForecastResult
from thalweg.report.number_text import format_number
from thalweg.types import FloatArray

BAND_DIGITS = 3
"""Digits that the width of a band has."""
PLAIN = (1e-6, 1e12)
"""Sizes of numbers that are written without exponent or unit."""


def value_formatter(values: FloatArray, widths: FloatArray) -> "ValueFormatter":
    """How to write values whose bands are so wide; infinite ones do not count."""
    known = widths[np.isfinite(widths) & (widths > 0)]
    sizes = np.abs(values[np.isfinite(values)])
    largest = float(sizes.max()) if len(sizes) else 0.0
    if not len(known) or not PLAIN[0] < largest < PLAIN[1]:
        return ValueFormatter(None)
    width = float(np.median(known))
    return ValueFormatter(max(BAND_DIGITS - 1 - math.floor(math.log10(width)), 0))


def value_writer(result: ForecastResult) -> "ValueFormatter":
    """Writes the next values, the same number with the same digits everywhere."""
    ahead = result.forecast
    return value_formatter(ahead.mean, ahead.high - ahead.low)


def sum_writer(result: ForecastResult) -> "ValueFormatter":
    """Writes the sum of the next values and the ends of its band."""
    total = result.forecast.total
    return value_formatter(np.array([total.mean]), np.array([total.high - total.low]))


class ValueFormatter:
    """Writes numbers with so many decimals, or with four digits (None)."""

    def __init__(self, decimals: int | None) -> None:
        self.decimals = decimals

    def __call__(self, value: float) -> str:
        """The value as text; empty where it is not finite."""
        if not np.isfinite(value):
            return ""
        if self.decimals is None:
            return format_number(float(value), 4)
        text = f"{value:,.{self.decimals}f}"
        return text.replace("-", "−", 1) if float(value) < 0 else text
