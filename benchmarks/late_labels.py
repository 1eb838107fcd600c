"""In which order to learn labels that come late: squared errors, and the time of calls.

    python -m benchmarks.late_labels [ROWS]

Public streams, of those with past labels among their features without these. Each label
comes 0 to 5 rows after its own at random, every tenth never. Squared errors after the
first quarter of the rows, relative to those of learning in the order of arrival:

arrival      as an update when a label comes
rows 5, 50   in the order of rows; a row is given up after that many more
newest       a later label gives up all rows before it
newest+      the same, but labels of rows given up are learnt when they come
delay        ``Tracker(delay=5)``, which has all labels in time

Then the Tracker with labels that come at once, every tenth never: such a row leaves no
trace (none), is a round of weight zero (at once), or is one 200 rows later (later).

docs/decisions/late-labels.md has what it printed.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

import thalweg as tw
from benchmarks.accuracy.accuracy_streams import public_streams, stripped_streams
from thalweg.types import FloatArray

MAX_DELAY, LOST, ROWS = 5, 0.1, 2000
NEVER = -1
LEARNERS = {
    "Tracker": tw.Tracker(),
    "least squares": tw.RecursiveLeastSquares(discount=0.999),
}
RULES = ("arrival", "rows 5", "rows 50", "newest", "newest+")


class Learning:
    """A model with the rows that it has not learnt yet, in the order of rows."""

    def __init__(self, learner: tw.learners.Learner, x: FloatArray, y: FloatArray):
        self.model, self.x, self.y = tw.Online(learner), x, y
        self.next_row = 0
        self.known: set[int] = set()

    def learn(self, row: int) -> None:
        self.model.update(self.x[row], self.y[row])

    def skip(self, row: int) -> None:
        self.model.update(self.x[row], 0.0, 0.0)

    def arrive(self, row: int, rule: str) -> None:
        """A label has come."""
        if rule == "arrival" or (rule == "newest+" and row < self.next_row):
            self.learn(row)
        elif rule.startswith("rows"):
            self.known.add(row)
        elif row >= self.next_row:
            for earlier in range(self.next_row, row):
                self.skip(earlier)
            self.learn(row)
            self.next_row = row + 1

    def end_row(self, t: int, rule: str) -> None:
        """All labels that come after row t have come."""
        patience = int(rule.split()[1]) if rule.startswith("rows") else 0
        while patience and self.next_row <= t:
            if self.next_row in self.known:
                self.learn(self.next_row)
            elif t - self.next_row >= patience:
                self.skip(self.next_row)
            else:
                return
            self.next_row += 1


def play(
    learner: tw.learners.Learner, x: FloatArray, y: FloatArray, delays: FloatArray,
    rule: str,
) -> FloatArray:  # fmt: skip
    """The predictions of all rows under a rule."""
    if rule == "delay":
        labels = np.where(delays == NEVER, np.nan, y)
        model = tw.Online(tw.Tracker(delay=MAX_DELAY), missing="skip")
        return model.run(x, labels).prediction
    learning, predictions = Learning(learner, x, y), np.empty(len(y))
    arrivals: dict[int, list[int]] = {}
    for t, delay in enumerate(delays):
        if delay != NEVER:
            arrivals.setdefault(t + int(delay), []).append(t)
        predictions[t] = learning.model.predict(x[t])
        for row in arrivals.pop(t, []):
            learning.arrive(row, rule)
        learning.end_row(t, rule)
    return predictions


def compare_rules(rows: int) -> None:
    """Print the errors of each rule on each stream, and their geometric means."""
    streams = {**public_streams(rows), **stripped_streams(rows)}
    logs: dict[tuple[str, str], list[float]] = {}
    for stream, load in streams.items():
        x, y = load()[:2]
        rng = np.random.default_rng(1)
        delays = rng.integers(0, MAX_DELAY + 1, len(y))
        delays[rng.random(len(y)) < LOST] = NEVER
        for name, learner in LEARNERS.items():
            rules = (*RULES, "delay") if name == "Tracker" else RULES
            first = len(y) // 4
            errors = {
                rule: np.mean((play(learner, x, y, delays, rule) - y)[first:] ** 2)
                for rule in rules
            }
            ratios = {rule: e / errors["arrival"] for rule, e in errors.items()}
            print(f"{stream:12} {name:14}", _format(ratios))
            for rule, ratio in ratios.items():
                logs.setdefault((name, rule), []).append(float(np.log(ratio)))
    for name in LEARNERS:
        means = {rule: np.exp(np.mean(v)) for (n, rule), v in logs.items() if n == name}
        print(f"{'mean':12} {name:14}", _format(means))


def compare_losses(rows: int) -> None:
    """Print the errors of what becomes of a row whose label never comes."""
    logs: dict[str, list[float]] = {}
    for load in {**public_streams(rows), **stripped_streams(rows)}.values():
        x, y = load()[:2]
        is_lost, errors = np.random.default_rng(1).random(len(y)) < LOST, {}
        for rule, wait in {"none": None, "at once": 0, "later": 200}.items():
            learning, squares = Learning(tw.Tracker(), x, y), np.empty(len(y))
            for t in range(len(y)):
                squares[t] = (learning.model.predict(x[t]) - y[t]) ** 2
                if not is_lost[t]:
                    learning.learn(t)
                if wait is not None and t >= wait and is_lost[t - wait]:
                    learning.skip(t - wait)
            errors[rule] = squares[len(y) // 4 :].mean()
        for rule, error in errors.items():
            logs.setdefault(rule, []).append(float(np.log(error / errors["none"])))
    means = {rule: float(np.exp(np.mean(values))) for rule, values in logs.items()}
    print("lost labels ", _format(means))


def _format(ratios: dict[str, float]) -> str:
    return "  ".join(f"{rule} {ratio:.3f}" for rule, ratio in ratios.items())


def time_calls() -> None:
    """Print how long calls of least squares take, the best of 20 times 5,000."""
    x = np.ones(8)

    def pairs(first: Callable[[], object], second: Callable[[], object]) -> float:
        times = []
        for _ in range(20):
            start = time.perf_counter()
            for _ in range(5000):
                first()
                second()
            times.append(time.perf_counter() - start)
        return min(times) / 5000 * 1e6

    model = tw.Online(tw.RecursiveLeastSquares(0.99))
    model.update(x, 1.0)
    at_once = pairs(lambda: model.predict(x), lambda: model.update(x, 1.0))
    late = pairs(lambda: model.ask(x), lambda: model.tell(1.0))
    print(f"predict and update {at_once:.2f} µs, ask and tell {late:.2f} µs")


if __name__ == "__main__":
    length = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    time_calls()
    compare_losses(length)
    compare_rules(length)
