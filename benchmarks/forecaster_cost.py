"""What a new value costs a Forecaster, beside one Tracker: time and memory.

    python -m benchmarks.forecaster_cost

Hourly values with a day and a week, 24 steps ahead. The Tracker has nine features, as
one of 24 direct forecasters would have. Times are of the processor, medians of runs in
turn; a ratio is the median of those of single turns. Bytes are those of the states that
are learnt in and those of saved files.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import thalweg as tw

HORIZON, SEASONS, FEATURES = 24, (24, 168), 9
WARM_UP, ROWS, TURNS = 1000, 1000, 11


def hourly_values(rows: int) -> np.ndarray:
    """Values with a day, a week and noise."""
    t = np.arange(rows)
    noise = np.random.default_rng(0).normal(size=rows)
    return 5 * np.sin(2 * np.pi * t / 24) + 2 * np.cos(2 * np.pi * t / 168) + noise


def seconds_per_value(learn: Callable[[int], object], first: int) -> float:
    """Seconds of the processor for each of the next rows."""
    start = time.process_time()
    for t in range(first, first + ROWS):
        learn(t)
    return (time.process_time() - start) / ROWS


def saved_bytes(model: tw.Forecaster | tw.Online) -> int:
    """The size of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.thalweg"
        model.save(path)
        return path.stat().st_size


def main() -> None:
    """Print times, bytes and their ratios."""
    y = hourly_values(WARM_UP + ROWS * TURNS)
    x = np.random.default_rng(1).normal(size=(len(y), FEATURES))
    forecaster = tw.Forecaster(HORIZON, season=SEASONS).update(y[:WARM_UP])
    tracker = tw.Online()
    tracker.run(x[:WARM_UP], y[:WARM_UP])

    def update_and_forecast(t: int) -> None:
        forecaster.update(float(y[t])).forecast()

    def predict_and_update(t: int) -> None:
        tracker.predict(x[t])
        tracker.update(x[t], y[t])

    calls: dict[str, Callable[[int], object]] = {
        "Tracker, predict and update": predict_and_update,
        "Forecaster, update": lambda t: forecaster.update(float(y[t])),
        "Forecaster, update and forecast": update_and_forecast,
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(TURNS):
        for name, call in calls.items():
            times[name].append(seconds_per_value(call, WARM_UP + turn * ROWS))
    one = np.array(times["Tracker, predict and update"])
    for name, values in times.items():
        ratio = np.median(np.array(values) / one)
        print(f"{name:34}{1e6 * np.median(values):8.1f} µs{ratio:8.2f}")
    state = forecaster._model[0]
    assert state is not None
    tracker_bytes = tracker.learner.init(np.zeros(FEATURES)).packed.nbytes
    for name, own, other in (
        ("bytes in memory", state.packed.nbytes, tracker_bytes),
        ("bytes of the file", saved_bytes(forecaster), saved_bytes(tracker)),
    ):
        print(f"{name:34}{own:12,}{other:12,} of a Tracker{own / other:8.2f}")


if __name__ == "__main__":
    main()
