"""Compute and save the forecasts that ``benchmarks.accuracy --horizon 24`` compares.

    .venv-bench/bin/python -m benchmarks.accuracy.forecast_rivals
    .venv-bench/bin/python -m benchmarks.accuracy.forecast_rivals --series airline

Theta, MSTL and exponential smoothing of statsforecast are fitted at every origin,
LightGBM once a week. What they get is in statistical_forecasts.py and
boosted_forecasts.py. Prints root mean squared errors, and the seconds of one processor
that an origin took. What is saved already, by the same versions, is only printed.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.accuracy import boosted_forecasts, statistical_forecasts
from benchmarks.accuracy.forecast_origins import (
    IntArray,
    evaluation_origins,
    root_mean_square,
    values_after,
)
from benchmarks.accuracy.naive_forecasts import naive_forecasts
from benchmarks.accuracy.saved_forecasts import SavedForecasts
from benchmarks.public_series import PUBLIC_SERIES, PublicSeries, load_series
from thalweg.types import FloatArray

Forecast = Callable[[PublicSeries, IntArray, int], FloatArray]


def main() -> None:
    """Compute what is not saved, series by series."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", action="append", choices=PUBLIC_SERIES)
    parser.add_argument("--horizon", type=int, default=24)
    parser.add_argument("--folder", type=Path, default=Path("out/forecasts"))
    given = parser.parse_args()
    for name in given.series or PUBLIC_SERIES:
        forecast_series(load_series(name), given.horizon, SavedForecasts(given.folder))


def forecast_series(series: PublicSeries, horizon: int, saved: SavedForecasts) -> None:
    """Compute and save the forecasts of every rival that are not saved yet."""
    origins = evaluation_origins(series.y, horizon)
    targets = values_after(series.y, origins, horizon)
    for rival, (library, forecast) in rivals(series).items():
        if not saved.holds(series, origins, horizon, rival, library):
            start = time.process_time()
            forecasts = forecast(series, origins, horizon)
            seconds = (time.process_time() - start) / len(origins)
            saved.save(series, origins, forecasts, rival, library)
            print(f"{series.name}: {rival} took {seconds:.2f} s an origin", flush=True)
    by_rival = naive_forecasts(series, origins, horizon)
    by_rival |= saved.load(series, origins, horizon)
    errors = (
        f"{rival} {root_mean_square(values - targets):.4g}"
        for rival, values in by_rival.items()
    )
    print(f"{series.name}: {', '.join(errors)}", flush=True)


def rivals(series: PublicSeries) -> dict[str, tuple[str, Forecast]]:
    """The library of each rival, and what makes its forecasts."""
    models = statistical_forecasts.statistical_models(series)
    fitted: dict[str, tuple[str, Forecast]] = {
        name: (
            statistical_forecasts.LIBRARY,
            partial(statistical_forecasts.refitted_forecasts, make=make),
        )
        for name, make in models.items()
    }
    boosted = boosted_forecasts.LIBRARY, boosted_forecasts.boosted_forecasts
    return fitted | {"lightgbm": boosted}


if __name__ == "__main__":
    main()
