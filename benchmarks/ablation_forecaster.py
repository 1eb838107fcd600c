"""What each part of the Forecaster is worth: errors without it.

    python -m benchmarks.ablation_forecaster --data FOLDER [--every 3] [--rows 4000]
    python -m benchmarks.ablation_forecaster --data FOLDER --only analogues

Each part is left out in turn, and the errors are compared with those of the whole.
FOLDER holds m1.csv.gz (1,001 series) and tourism_quarterly.csv.gz (427), with their
test parts; columns series, period, start, part, values. Public series are forecast 24
steps ahead from at most 200 origins of their second half. Nothing is given but values,
and times of the public series.

Priors and masks are changed where the state is made; constants of kernels are changed
in a process of its own, before these are compiled.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.accuracy.forecast_origins import (
    evaluation_origins,
    root_mean_square,
    values_after,
)
from benchmarks.public_series import PUBLIC_SERIES, load_series
from thalweg.autoregression import forecaster_state
from thalweg.autoregression.outlier_limit import OutlierLimit
from thalweg.autoregression.past_features import PastState
from thalweg.calendar.row_clock import NO_TIME, RowClock
from thalweg.forecasting import Forecaster
from thalweg.forecasting.season_learning import SeasonLearning
from thalweg.kernels import exponential_smoothing, forecast_pool
from thalweg.kernels.forecaster import (
    candidates,
    covariates,
    forecaster_round,
    nonlinear_features,
    phase_spread,
    step_features,
)
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.types import FloatArray

PUBLIC_HORIZON, COVERAGE = 24, 0.9
PERIODS = {"yearly": 1, "quarterly": 4, "monthly": 12}
FILES = {"m1": "m1.csv.gz", "tourism": "tourism_quarterly.csv.gz"}


class Part(NamedTuple):
    """A part that can be left out: what to change, in which order does not matter."""

    changes: tuple[tuple[Any, str, Any], ...]  # object, attribute, new value
    compiles: bool = False  # whether kernels have to be compiled again


def without_candidates(*names: str) -> Part:
    """The mixture of a step without some of its candidates."""
    table = [
        candidate._replace(prior=0.0) if candidate.name in names else candidate
        for candidate in candidates.TABLE
    ]
    return Part(((candidates, "TABLE", tuple(table)),))


def without_sets(member: int | None = None, *sets: int) -> Part:
    """The pool of a step without some sets, or without those that hold a member."""
    prior = [
        0.0 if member is not None and one >> member & 1 or one in sets else weight
        for one, weight in zip(layout.POOL_SETS, layout.POOL_PRIOR, strict=True)
    ]
    return Part(((layout, "POOL_PRIOR", tuple(prior)),))


def without_models(is_out: FloatArray) -> Part:
    """Exponential smoothing without some of its models."""
    new_state = exponential_smoothing.new_state

    def masked_state(season: int, has_products: bool = True) -> FloatArray:
        packed = new_state(season, has_products)
        sizes = exponential_smoothing.dimensions(season, has_products)
        state: Any = exponential_smoothing.STATE.views(packed, **sizes)
        state.losses[is_out[: sizes["models"]]] = exponential_smoothing.NO_LOSS
        return packed

    return Part(((exponential_smoothing, "new_state", masked_state),))


def _no_factors(level: float, steps: tuple[float, ...]) -> FloatArray:
    return np.zeros((len(steps), 1))


def _no_days(learning: Any, progress: Any) -> None:
    return None


def _no_limit(limit: Any, values: FloatArray) -> Any:
    return limit, values


def _not_at_zero(counters: FloatArray) -> bool:
    return False


def _no_spread(s: Any, r: int) -> float:
    return 1.0


def _parts() -> dict[str, Part]:
    memories = len(layout.MEMORIES)
    lanes = [f"regression {lane}" for lane in range(layout.LANES)]
    smoothing = exponential_smoothing
    parts = {
        "recursive forecast": without_candidates("recursive"),
        "last value": without_candidates("last value"),
        "value a season ago": without_candidates("season ago"),
        "value a cycle ago": without_candidates("cycle ago"),
        "three naive values": without_candidates(
            "last value", "season ago", "cycle ago"
        ),
        "nonlinear regression": without_candidates("nonlinear"),
        "analogues": without_candidates("analogues"),
        "all regressions": without_candidates(*lanes),
    }
    for k, memory in enumerate(layout.MEMORIES):
        own = lanes[k::memories]
        parts[f"memory of {memory:g}"] = without_candidates(*own)
    for k, limit in enumerate(layout.OUTLIER_LIMITS):
        own = lanes[k * memories : (k + 1) * memories]
        parts[f"outlier limit {limit:g}"] = without_candidates(*own)
    parts |= {
        "pool: all": without_sets(None, 2, 4, 3, 5, 7),
        "pool: phase mean": without_sets(layout.PHASE_MEAN),
        "pool: smoothing": without_sets(layout.SMOOTHED),
        "pool: single members": without_sets(None, 2, 4),
        "pool: phase mean alone": without_sets(None, 2),
        "pool: smoothing alone": without_sets(None, 4),
        "pool: mixture and phase mean": without_sets(None, 3),
        "pool: mixture and smoothing": without_sets(None, 5),
        "pool: all three": without_sets(None, 7),
        "pool: means of several": without_sets(None, 3, 5, 7),
    }
    for name, parameter, values in (
        ("alpha", smoothing.ALPHA, smoothing.ALPHAS),
        ("beta", smoothing.BETA, smoothing.BETAS),
        ("gamma", smoothing.GAMMA, smoothing.GAMMAS),
    ):
        for value in values:
            parts[f"smoothing: {name} {value:g}"] = without_models(parameter == value)
    parts["smoothing: trends"] = without_models(smoothing.BETA > 0)
    infinite = np.inf
    parts |= {
        "holiday effects": Part(((SeasonLearning, "_day_grid", _no_days),)),
        "small-sample factor": Part(
            ((forecaster_state, "small_sample_factors", _no_factors),)
        ),
        "non-negativity": Part(
            (
                (covariates, "starts_at_zero", _not_at_zero),
                (forecaster_round, "starts_at_zero", _not_at_zero),
            ),
            True,
        ),
        "phase spread": Part(((phase_spread, "_phase_spread", _no_spread),), True),
        "limits of bands": Part(
            (
                (forecaster_round, "MAX_REACH", infinite),
                (forecaster_round, "BAND_MARGIN", infinite),
            ),
            True,
        ),
        "limit of deviations": Part(
            ((step_features, "MAX_RELATIVE_DEVIATION", infinite),), True
        ),
        "hinges": Part(
            (
                (
                    nonlinear_features,
                    "HINGE_BIAS",
                    np.full(layout.HINGES, infinite),
                ),
            ),
            True,
        ),
        "growing weight of last year": Part(
            ((step_features, "MAX_SEASONS_AT_ONCE", infinite),), True
        ),
    }
    return parts


def _past_parts() -> dict[str, Part]:
    """Parts of the forecast that ``run`` adds as a feature."""
    names = ("regressions", "logarithms", "smoothing", "last value", "phase mean")
    products = exponential_smoothing.ADDITIVE <= np.arange(exponential_smoothing.MODELS)
    parts = {
        "past: outlier limit": Part(((OutlierLimit, "apply", _no_limit),)),
        "past: seasons that multiply": without_models(products),
    }
    for k, name in enumerate(names[1:], start=1):
        pool_play = forecast_pool.play

        def play_masked(
            packed: Any, delay: int, values: Any, made: Any, out: Any,
            k: int = k, pool_play: Any = pool_play,
        ) -> None:  # fmt: skip
            made[:, k] = np.nan
            pool_play(packed, delay, values, made, out)

        parts[f"past: {name}"] = Part(((forecast_pool, "play", play_masked),))
    for k, one in enumerate(forecast_pool.SETS[1:], start=1):
        sets = tuple(s for i, s in enumerate(forecast_pool.SETS) if i != k)
        parts[f"past: set {one}"] = Part(
            (
                (forecast_pool, "SETS", sets),
                (forecast_pool, "MEANS", len(sets)),
            ),
            True,
        )
    return parts


class ShortSeries(NamedTuple):
    """A series of a competition, and the values to be forecast."""

    period: str
    train: FloatArray
    test: FloatArray


def read_competition(path: Path, every: int) -> Iterator[ShortSeries]:
    """Every so many of the series in a file."""
    frame = pd.read_csv(path)
    for number, (_, rows) in enumerate(frame.groupby("series", sort=False)):
        if number % every == 0:
            parts = dict(zip(rows["part"], rows["values"], strict=True))
            train, test = (
                np.array(parts[part].split(), float) for part in ("train", "test")
            )
            yield ShortSeries(str(rows["period"].iloc[0]), train, test)


def competition_scores(file: str, series: Iterator[ShortSeries]) -> dict[str, float]:
    """Mean sMAPE, MASE, coverage and scaled interval score by period."""
    scores: dict[str, list[float]] = {}
    for period, train, test in series:
        made = Forecaster(len(test)).update(train).forecast(interval=COVERAGE)
        season = PERIODS[period] if len(train) > PERIODS[period] else 1
        scale = np.mean(np.abs(train[season:] - train[:-season]))
        error = np.abs(made.mean - test)
        own = {
            "smape": 200 * np.mean(error / (np.abs(made.mean) + np.abs(test))),
            "mase": np.mean(error) / scale,
            "covered": np.mean((made.low <= test) & (test <= made.high)),
            "interval": interval_score(made.low, made.high, test) / scale,
        }
        for name, score in own.items():
            scores.setdefault(f"{file} {period} {name}", []).append(float(score))
    return {name: float(np.mean(values)) for name, values in scores.items()}


def interval_score(low: FloatArray, high: FloatArray, y: FloatArray) -> float:
    """Winkler's score: the width, and 2 / (1 - coverage) times what is outside."""
    outside = np.maximum(low - y, 0) + np.maximum(y - high, 0)
    return float(np.mean(high - low + 2 / (1 - COVERAGE) * outside))


def public_scores(rows: int) -> dict[str, float]:
    """Root mean squared error, coverage and interval score of each public series."""
    scores = {}
    for name in PUBLIC_SERIES:
        series = load_series(name)
        y, times = series.y[-rows:], series.times[-rows:]
        made = Forecaster(PUBLIC_HORIZON).run(y, time=times, interval=COVERAGE)
        origins = evaluation_origins(y, PUBLIC_HORIZON)
        ahead = values_after(y, origins, PUBLIC_HORIZON)
        low, high = made.low[origins], made.high[origins]
        scores |= {
            f"public {name} error": root_mean_square(made.mean[origins] - ahead),
            f"public {name} covered": float(((low <= ahead) & (ahead <= high)).mean()),
            f"public {name} interval": interval_score(low, high, ahead),
        }
    return scores


def past_scores(data: Path, every: int, rows: int) -> dict[str, float]:
    """Errors of the forecast one row ahead that ``run`` adds as a feature: in units of
    the mean change of the series, in the mean; of public series their root mean
    square."""
    scores: dict[str, list[float]] = {}
    for file, name in FILES.items():
        for period, train, test in read_competition(data / name, every):
            y = np.append(train, test)
            times = np.full(len(y), NO_TIME)
            error = np.abs(_past_forecasts(y, times) - y)[len(y) // 3 :]
            scale = np.mean(np.abs(np.diff(y)))
            scores.setdefault(f"past {file} {period} mase", []).append(
                float(np.mean(error) / scale)
            )
    means = {name: float(np.mean(values)) for name, values in scores.items()}
    for name in PUBLIC_SERIES:
        series = load_series(name)
        y = series.y[-rows:]
        stamps = series.times[-rows:].astype("datetime64[ns]").astype(np.int64)
        error = (_past_forecasts(y, stamps) - y)[len(y) // 2 :]
        means[f"past {name} error"] = root_mean_square(error[~np.isnan(error)])
    return means


def _past_forecasts(y: FloatArray, times: Any) -> FloatArray:
    clock, filled = RowClock().advance(times)
    _, features = PastState.initial(1, 0).advance(y[:, None], filled, clock, 0)
    return np.asarray(features[:, 0])


PARTS: dict[str, Callable[[], dict[str, Part]]] = {
    "forecaster": _parts, "past": _past_parts,
}  # fmt: skip


def measure(group: str, data: Path, every: int, rows: int) -> dict[str, float]:
    """The scores of a group, of everything as it is now."""
    if group == "past":
        return past_scores(data, every, rows)
    scores: dict[str, float] = {}
    for file, path in FILES.items():
        scores |= competition_scores(file, read_competition(data / path, every))
    return scores | public_scores(rows)


def measure_without(arguments: argparse.Namespace, name: str) -> dict[str, float]:
    """The scores without a part."""
    part = PARTS[arguments.group]()[name]
    if part.compiles and not arguments.is_child:
        return _measure_in_process(name)
    before = [getattr(owner, attribute) for owner, attribute, _ in part.changes]
    for owner, attribute, value in part.changes:
        setattr(owner, attribute, value)
    sizes = arguments.data, arguments.every, arguments.rows
    scores = measure(arguments.group, *sizes)
    for (owner, attribute, _), value in zip(part.changes, before, strict=True):
        setattr(owner, attribute, value)
    return scores


def _measure_in_process(name: str) -> dict[str, float]:
    """The scores without a part of the kernels, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ablation_forecaster", *sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "--is-child", "--only", name],
            env=os.environ | {"NUMBA_CACHE_DIR": folder},
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    scores: dict[str, float] = json.loads(done.stdout)
    return scores


def changes(whole: dict[str, float], scores: dict[str, float]) -> dict[str, float]:
    """Percent by which errors without a part are larger; of coverage the difference in
    points. Of public series the mean, the least and the most."""
    of_public: dict[str, list[float]] = {}
    result = {}
    for name, value in whole.items():
        covered = name.endswith("covered")
        change = 100 * (scores[name] - value)
        change = change if covered else change / value
        kind, one, *rest = name.split()
        if kind == "public" or (kind == "past" and one in PUBLIC_SERIES):
            of_public.setdefault(f"{kind} {rest[-1]}", []).append(change)
        else:
            result[name] = change
    for name, values in of_public.items():
        result |= {
            f"{name}, mean": float(np.mean(values)),
            f"{name}, least": min(values),
            f"{name}, most": max(values),
        }
    return result


def print_row(name: str, row: dict[str, float]) -> None:
    """Print one part's figures, errors only."""
    print(f"{name:34}" + "".join(f"{value:8.2f}" for value in row.values()), flush=True)


def main() -> None:
    """Print, for every part, by how much errors are larger without it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="every so many series")
    parser.add_argument("--rows", type=int, default=20_000, help="of public series")
    parser.add_argument("--group", choices=PARTS, default="forecaster")
    parser.add_argument("--only", nargs="*", help="names of the parts to leave out")
    parser.add_argument("--is-child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.is_child:
        print(json.dumps(measure_without(arguments, arguments.only[0])))
        return
    sizes = arguments.data, arguments.every, arguments.rows
    whole = measure(arguments.group, *sizes)
    for name, score in whole.items():
        print(f"{name:40}{score:12.5g}")
    for place, column in enumerate(changes(whole, whole), start=1):
        print(f"column {place}: {column}")
    for name in arguments.only or PARTS[arguments.group]():
        scores = measure_without(arguments, name)
        print_row(name, changes(whole, scores))


if __name__ == "__main__":
    main()
