"""10⁸ rounds of normal and hostile data: nothing may break, and nothing may be lost.

    python -m benchmarks.soak                # about two minutes
    python -m benchmarks.soak --rounds 2e7   # a fifth of it

Recursive least squares of eight features, with four discounts, two dtypes, with and
without a retained ridge. Chunks of 10⁵ rounds are of kinds that a seed chooses, half of
them normal; the last two are always normal. After every chunk predictions, losses and
state must be finite and the factor's diagonal positive; in the end, for γ < 1, the
error over the last chunk must be within 5 % of that of a learner that saw the last two
chunks only. Then peer libraries get the same kinds in float64, in chunks of 10,000
rounds, normal and hostile in turn, until they diverge.
"""

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import padasip
from river.linear_model import BayesianLinearRegression

import thalweg as tw
from benchmarks.bench.peers.plain_rls import plain_rls
from thalweg.losses import SquaredError
from thalweg.types import Block

try:
    import pyroomacoustics
except ImportError:
    pyroomacoustics = None

FEATURES, NOISE, CHUNK_ROUNDS = 8, 0.1, 100_000
DISCOUNTS = (0.5, 0.9, 0.99, 1.0)
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "floor=0.01, leaky": {"floor": 0.01, "leaky": True},
}
MAX_ERROR_RATIO = 1.05
"""Upper limit of the final error over that of a fresh learner."""
PEER_CHUNK_ROUNDS, PEER_ROUNDS, RIVER_ROUNDS = 10_000, 200_000, 30_000
DIVERGED = 1e6 * NOISE
"""A peer whose error on normal data passes this has diverged."""
RECOVERY_MEMORIES = 60
"""Number of times 1/(1-γ) rounds after hostile data from which errors count."""


class HostileData:
    """Draws chunks of rounds; the true θ is a random walk from one to the next."""

    def __init__(self, seed: int, dtype: Any) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = np.dtype(dtype)
        self.theta = self.rng.normal(size=FEATURES)

    @property
    def is_double(self) -> bool:
        """Whether values may be of float64's range."""
        return self.dtype == np.float64

    def draw(self, kind: str, rounds: int) -> tuple[Any, Any]:
        """(x, y) of ``rounds`` rounds of one of the ``KINDS``."""
        if kind == "mixture":
            return self.mixture(rounds)
        x = self.rng.standard_normal((rounds, FEATURES))
        KINDS[kind](self, x)
        y = self.targets(x)
        if kind == "outliers":
            hit = self.rng.random(rounds) < 0.001
            y[hit] += self.rng.choice((-1, 1), hit.sum()) * self.extreme(1e6, 1e12)
        return x.astype(self.dtype), y.astype(self.dtype)

    def mixture(self, rounds: int) -> tuple[Any, Any]:
        """All kinds in short turns: each change of the kind is a disturbance."""
        kinds = [kind for kind in KINDS if kind != "mixture"]
        x = np.empty((rounds, FEATURES), self.dtype)
        y, start = np.empty(rounds, self.dtype), 0
        while start < rounds:
            end = min(start + int(self.rng.integers(1, 3000)), rounds)
            part = slice(start, end)
            x[part], y[part] = self.draw(str(self.rng.choice(kinds)), end - start)
            start = end
        return x, y

    def targets(self, x: Any) -> Any:
        """y = x·θ + noise, with a θ that moves from one point to another."""
        end = self.theta + 0.1 * self.rng.normal(size=FEATURES)
        share = np.linspace(0, 1, len(x))
        y = (1 - share) * (x @ self.theta) + share * (x @ end)
        self.theta = end
        return y + NOISE * self.rng.standard_normal(len(x))

    def extreme(self, single: float, double: float) -> float:
        """The extreme that the dtype is tested with."""
        return double if self.is_double else single

    def random_feature(self) -> int:
        """The index of a feature."""
        return int(self.rng.integers(FEATURES))

    def normal(self, x: Any) -> None:
        """Nothing special."""

    def one_zero(self, x: Any) -> None:
        """A feature is zero."""
        x[:, self.random_feature()] = 0

    def all_zero(self, x: Any) -> None:
        """All features are zero."""
        x[:] = 0

    def frozen(self, x: Any) -> None:
        """The same row again and again."""
        x[:] = x[0]

    def collinear(self, x: Any) -> None:
        """One feature is the sum of three others."""
        order = self.rng.permutation(FEATURES)
        x[:, order[0]] = x[:, order[1:4]].sum(axis=1)

    def duplicated(self, x: Any) -> None:
        """Half of the features repeat the other half."""
        x[:, FEATURES // 2 :] = x[:, : FEATURES // 2]

    def tiny(self, x: Any) -> None:
        """All features are 10⁻¹² of what they were."""
        x *= 1e-12

    def vanishing(self, x: Any) -> None:
        """10⁻³⁰⁰ in float64, where even squares are zero; 10⁻³⁰ in float32."""
        x *= self.extreme(1e-30, 1e-300)

    def huge(self, x: Any) -> None:
        """One feature, or all, grow by 10⁶ or 10¹²."""
        scale = self.rng.choice((1e6, self.extreme(1e6, 1e12)))
        feature = self.random_feature()
        x[:, feature if self.rng.random() < 0.5 else slice(None)] *= scale

    def scale_changes(self, x: Any) -> None:
        """Every few hundred rounds all features change their unit."""
        power = int(self.extreme(6, 12))
        units = 10.0 ** self.rng.integers(-power, power + 1, (len(x) // 300 + 1, 1))
        x *= np.repeat(units, 300, axis=0)[: len(x)]

    def tiny_then_duplicated(self, x: Any) -> None:
        """Tiny, then of normal size with half of the features twice.

        Directions that are all but forgotten in the first half are never excited in the
        second.
        """
        half = len(x) // 2
        x[:half] *= 1e-12
        x[half:, FEATURES // 2 :] = x[half:, : FEATURES // 2]

    def outliers(self, x: Any) -> None:
        """Now and then y is off by 10¹², or 10⁶ in float32: see ``draw``."""


Kind = Callable[[HostileData, Any], None]
KINDS: dict[str, Kind] = {
    "normal": HostileData.normal,
    "one zero": HostileData.one_zero,
    "frozen": HostileData.frozen,
    "all zero": HostileData.all_zero,
    "collinear": HostileData.collinear,
    "duplicated": HostileData.duplicated,
    "tiny": HostileData.tiny,
    "huge": HostileData.huge,
    "scale changes": HostileData.scale_changes,
    "outliers": HostileData.outliers,
    "vanishing": HostileData.vanishing,
    "tiny, then duplicated": HostileData.tiny_then_duplicated,
    "mixture": HostileData.normal,  # see ``HostileData.mixture``
}
HOSTILE = [kind for kind in KINDS if kind != "normal"]


class ProgressLine:
    """A line on stderr that says how fast it goes and how long it will take."""

    def __init__(self, rounds: int) -> None:
        self.rounds, self.done, self.start = rounds, 0, time.perf_counter()

    def add(self, rounds: int) -> None:
        """Count more rounds as done."""
        self.done += rounds
        spent = time.perf_counter() - self.start
        left = spent * (self.rounds - self.done) / self.done
        text = f"{self.done / spent:,.0f} rounds/s, {left:.0f} s left"
        print(
            f"\r{self.done:,} of {self.rounds:,}, {text}    ", end="", file=sys.stderr
        )

    def end(self) -> float:
        """Finish the line; the seconds spent."""
        print(file=sys.stderr)
        return time.perf_counter() - self.start


class SoakResult(NamedTuple):
    """One line of the table."""

    rounds: int
    error: float  # mean square over the last chunk
    fresh: float  # the same of a learner that saw the last two chunks only
    fault: str  # the first fault, and where; empty if there is none


def chunk_kinds(seed: int, chunks: int) -> list[str]:
    """The kinds of the chunks: half normal, half hostile, the last two normal."""
    rng, kinds = np.random.default_rng(seed), []
    while len(kinds) < chunks - 2:
        kinds_once = HOSTILE + ["normal"] * len(HOSTILE)
        kinds += rng.permutation(kinds_once).tolist()
    return [*kinds[: chunks - 2], "normal", "normal"]


def soak(
    learner: tw.RecursiveLeastSquares, dtype: Any, chunks: int, seed: int,
    progress: ProgressLine,
) -> SoakResult:  # fmt: skip
    """Run all chunks, carrying the state, and a fresh learner on the last two."""
    data, start = HostileData(seed, dtype), np.zeros(FEATURES, dtype)
    state, fresh = learner.init(start), learner.init(start)
    fault, error, error_fresh = "", np.nan, np.nan
    for count, kind in enumerate(chunk_kinds(seed, chunks)):
        block = Block(*data.draw(kind, CHUNK_ROUNDS))
        state, trace = learner.run(state, SquaredError(), block)
        fault = fault or state_fault(state, trace, f"{kind}, chunk {count}")
        if count >= chunks - 2:
            fresh, other = learner.run(fresh, SquaredError(), block)
            error, error_fresh = mean_square(trace, block), mean_square(other, block)
        progress.add(CHUNK_ROUNDS)
    return SoakResult(chunks * CHUNK_ROUNDS, error, error_fresh, fault)


def state_fault(state: Any, trace: Any, where: str) -> str:
    """What is wrong after a chunk; empty if nothing is."""
    parts = {
        "prediction": trace.prediction, "loss": trace.loss,
        "theta": state.theta, "factor": state.factor,
    }  # fmt: skip
    for name, part in parts.items():
        if not np.isfinite(part).all():
            return f"{name} not finite ({where})"
    if not (np.diagonal(state.factor) > 0).all():
        return f"factor not positive ({where})"
    return ""


def mean_square(trace: Any, block: Block) -> float:
    """The mean squared error, in float64."""
    return float(np.mean((trace.prediction.astype(float) - block.y) ** 2))


def failure(discount: float, outcome: SoakResult) -> str:
    """What a line of the table fails with; empty if it does not."""
    if outcome.fault:
        return outcome.fault
    ratio = outcome.error / outcome.fresh
    return (
        ""
        if discount == 1 or ratio <= MAX_ERROR_RATIO
        else f"not within {MAX_ERROR_RATIO - 1:.0%}"
    )


def soak_thalweg(rounds: int) -> bool:
    """Soak every combination and print the table. Whether nothing failed."""
    runs = list(product(DISCOUNTS, (np.float64, np.float32), SETTINGS))
    chunks = max(math.ceil(rounds / CHUNK_ROUNDS / len(runs)), 3)
    progress, is_fine = ProgressLine(chunks * CHUNK_ROUNDS * len(runs)), True
    print(
        f"{'γ':>5} {'dtype':8} {'settings':17} {'rounds':>10} "
        f"{'error':>10} {'fresh':>10} {'ratio':>12}"
    )
    for seed, (discount, dtype, name) in enumerate(runs):
        learner = tw.RecursiveLeastSquares(discount, **SETTINGS[name])
        outcome = soak(learner, dtype, chunks, seed, progress)
        fault = failure(discount, outcome)
        is_fine &= not fault
        print(
            f"{discount:5g} {dtype.__name__:8} {name:17} {outcome.rounds:10,} "
            f"{outcome.error:10.4g} {outcome.fresh:10.4g} "
            f"{outcome.error / outcome.fresh:12.6g}  {fault or 'ok'}",
            flush=True,
        )
    print(f"{progress.rounds:,} rounds in {progress.end():.0f} s")
    return is_fine


class Thalweg:
    """thalweg's recursive least squares, for comparison."""

    def __init__(self, discount: float) -> None:
        self.learner = tw.RecursiveLeastSquares(discount)
        self.state = self.learner.init(np.zeros(FEATURES))

    def run(self, x: Any, y: Any) -> Any:
        """Predictions, each before its y was seen."""
        self.state, trace = self.learner.run(self.state, SquaredError(), Block(x, y))
        return trace.prediction


class Textbook:
    """benchmarks/bench/peers/plain_rls.py, in float64."""

    def __init__(self, discount: float) -> None:
        self.discount = discount
        self.theta, self.cov = np.zeros(FEATURES), np.eye(FEATURES)

    def run(self, x: Any, y: Any) -> Any:
        """Predictions, each before its y was seen."""
        out = np.empty(len(y))
        plain_rls(self.theta, self.cov, self.discount, x, y, out)
        return out


class Padasip:
    """padasip's FilterRLS."""

    def __init__(self, discount: float) -> None:
        self.filter = padasip.filters.FilterRLS(FEATURES, discount, 1.0, w="zeros")

    def run(self, x: Any, y: Any) -> Any:
        """Predictions, each before its y was seen."""
        return self.filter.run(y, x)[0]


class Pyroomacoustics:
    """pyroomacoustics' RLS: a filter of one signal; its buffer is given whole rows."""

    def __init__(self, discount: float) -> None:
        rls = pyroomacoustics.adaptive.RLS
        self.filter = rls(FEATURES, discount, 1.0, dtype=np.float64)

    def run(self, x: Any, y: Any) -> Any:
        """Predictions, each before its y was seen."""
        out, taps = np.empty(len(y)), self.filter
        for t, row in enumerate(x):
            out[t] = row[::-1] @ taps.w  # the newest sample comes first
            taps.x.flush(taps.x.size())
            for value in row[:-1]:
                taps.x.push(value)
            taps.update(row[-1], y[t])
        return out


class River:
    """River's BayesianLinearRegression; without smoothing where γ = 1."""

    def __init__(self, discount: float) -> None:
        self.model = BayesianLinearRegression(
            smoothing=discount if discount < 1 else None
        )

    def run(self, x: Any, y: Any) -> Any:
        """Predictions, each before its y was seen; NaN once it raised an error."""
        out = np.full(len(y), np.nan)
        for t, (row, target) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            features = dict(enumerate(row))
            try:
                out[t] = self.model.predict_one(features)
                self.model.learn_one(features, target)
            except np.linalg.LinAlgError:
                break
        return out


PEERS: dict[str, tuple[Any, int]] = {
    "thalweg": (Thalweg, PEER_ROUNDS),
    "textbook": (Textbook, PEER_ROUNDS),
    "padasip": (Padasip, PEER_ROUNDS),
    "pyroomacoustics": (Pyroomacoustics, PEER_ROUNDS),
    "River Bayesian": (River, RIVER_ROUNDS),
}


def peer_chunks(rounds: int) -> Iterator[tuple[str, Any, Any]]:
    """Normal and hostile in turn, the hostile kinds in the order of ``KINDS``."""
    data = HostileData(0, np.float64)
    for count in range(rounds // PEER_CHUNK_ROUNDS):
        kind = HOSTILE[count // 2 % len(HOSTILE)] if count % 2 else "normal"
        yield kind, *data.draw(kind, PEER_CHUNK_ROUNDS)


def divergence(peer: Any, discount: float, rounds: int) -> str:
    """When and how a peer diverged, in words."""
    recovered = RECOVERY_MEMORIES / (1 - discount) if discount < 1 else np.inf
    last = "nothing"
    for count, (kind, x, y) in enumerate(peer_chunks(rounds)):
        prediction = peer.run(x, y)
        diverged = ~np.isfinite(prediction)
        if kind == "normal":
            diverged |= (np.abs(prediction - y) > DIVERGED) & (
                np.arange(len(y)) >= recovered
            )
        else:
            last = kind
        if diverged.any():
            first = int(diverged.argmax())
            how = "diverged" if np.isfinite(prediction[first]) else "not finite"
            return f"{count * PEER_CHUNK_ROUNDS + first:,} {how} ({last})"
    return "finite"


def soak_peers() -> None:
    """Print when each peer diverges."""
    print(
        f"\nPeers: the first round not finite, or off by more than {DIVERGED:g} on "
        f"normal data\n{RECOVERY_MEMORIES}/(1-γ) rounds after hostile data. In "
        f"brackets: the last kind of such data."
    )
    titles = " ".join(f"{f'γ = {discount:g}':30}" for discount in DISCOUNTS)
    print(f"{'':16} {'rounds':>8} {titles}")
    for name, (peer, rounds) in PEERS.items():
        if peer is Pyroomacoustics and pyroomacoustics is None:
            print(f"{name:16} is not installed: skipped")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends = [
                divergence(peer(discount), discount, rounds) for discount in DISCOUNTS
            ]
        print(f"{name:16} {rounds:8,} " + " ".join(f"{end:30}" for end in ends))


def main() -> int:
    """Run thalweg, then its peers; 1 if thalweg failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=float, default=1e8, help="over all runs")
    is_fine = soak_thalweg(int(parser.parse_args().rounds))
    soak_peers()
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
