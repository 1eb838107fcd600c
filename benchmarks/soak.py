"""10⁸ rounds of normal and hostile data: nothing may break, and nothing may be lost.

    python benchmarks/soak.py                # about two minutes
    python benchmarks/soak.py --rounds 2e7   # a fifth of it

Recursive least squares of eight features, with four discounts, two dtypes, with and
without a kept ridge. Chunks of 10⁵ rounds come from a seeded menu, half of them normal;
the last two are always normal. After every chunk predictions, losses and state must be
finite and the factor's diagonal positive; in the end, for γ < 1, the error over the
last chunk must be within 5 % of that of a learner that saw the last two chunks only.
Then peers get the same menu in float64, in stretches of 10,000 rounds, normal and
hostile in turn, until they die.
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
from plain_rls import plain_rls
from river.linear_model import BayesianLinearRegression

import thalweg as tw
from thalweg.losses import SquaredError
from thalweg.types import Block

try:
    import pyroomacoustics
except ImportError:
    pyroomacoustics = None

FEATURES, NOISE, CHUNK = 8, 0.1, 100_000
DISCOUNTS = (0.5, 0.9, 0.99, 1.0)
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "floor=0.01, leaky": {"floor": 0.01, "leaky": True},
}
SLACK = 1.05
"""How far the final error may lie above a fresh learner's."""
STRETCH, PEER_ROUNDS, RIVER_ROUNDS = 10_000, 200_000, 30_000
DEAD = 1e6 * NOISE
"""A peer whose error on normal data passes this is lost."""
MEMORIES = 60
"""An error counts so many times 1/(1-γ) rounds after a hostile stretch, not before."""


class World:
    """Draws stretches of rounds; the true θ walks on from one to the next."""

    def __init__(self, seed: int, dtype: Any) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = np.dtype(dtype)
        self.theta = self.rng.normal(size=FEATURES)

    @property
    def double(self) -> bool:
        """Whether values may be of float64's range."""
        return self.dtype == np.float64

    def stretch(self, kind: str, rounds: int) -> tuple[Any, Any]:
        """(x, y) of ``rounds`` rounds of a kind that ``MENU`` lists."""
        if kind == "medley":
            return self.medley(rounds)
        x = self.rng.standard_normal((rounds, FEATURES))
        MENU[kind](self, x)
        y = self.answers(x)
        if kind == "outliers":
            hit = self.rng.random(rounds) < 0.001
            y[hit] += self.rng.choice((-1, 1), hit.sum()) * self.pick(1e6, 1e12)
        return x.astype(self.dtype), y.astype(self.dtype)

    def medley(self, rounds: int) -> tuple[Any, Any]:
        """All kinds in short turns: each change of the kind is a shock of its own."""
        kinds = [kind for kind in MENU if kind != "medley"]
        x = np.empty((rounds, FEATURES), self.dtype)
        y, start = np.empty(rounds, self.dtype), 0
        while start < rounds:
            end = min(start + int(self.rng.integers(1, 3000)), rounds)
            part = slice(start, end)
            x[part], y[part] = self.stretch(str(self.rng.choice(kinds)), end - start)
            start = end
        return x, y

    def answers(self, x: Any) -> Any:
        """y = x·θ + noise, with a θ that walks from one point to another."""
        goal = self.theta + 0.1 * self.rng.normal(size=FEATURES)
        share = np.linspace(0, 1, len(x))
        y = (1 - share) * (x @ self.theta) + share * (x @ goal)
        self.theta = goal
        return y + NOISE * self.rng.standard_normal(len(x))

    def pick(self, single: float, double: float) -> float:
        """The extreme that the dtype is tried with."""
        return double if self.double else single

    def some(self) -> int:
        """A feature."""
        return int(self.rng.integers(FEATURES))

    def normal(self, x: Any) -> None:
        """Nothing special."""

    def one_quiet(self, x: Any) -> None:
        """A feature is zero."""
        x[:, self.some()] = 0

    def all_quiet(self, x: Any) -> None:
        """All are."""
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
        x *= self.pick(1e-30, 1e-300)

    def huge(self, x: Any) -> None:
        """One feature, or all, grow by 10⁶ or 10¹²."""
        scale = self.rng.choice((1e6, self.pick(1e6, 1e12)))
        some = self.some()
        x[:, some if self.rng.random() < 0.5 else slice(None)] *= scale

    def scale_changes(self, x: Any) -> None:
        """Every few hundred rounds all features change their unit."""
        most = int(self.pick(6, 12))
        units = 10.0 ** self.rng.integers(-most, most + 1, (len(x) // 300 + 1, 1))
        x *= np.repeat(units, 300, axis=0)[: len(x)]

    def tiny_then_twins(self, x: Any) -> None:
        """Tiny, then of normal size with half of the features twice.

        What is all but forgotten in the first half is never excited in the second.
        """
        half = len(x) // 2
        x[:half] *= 1e-12
        x[half:, FEATURES // 2 :] = x[half:, : FEATURES // 2]

    def outliers(self, x: Any) -> None:
        """Now and then y is off by 10¹², or 10⁶ in float32: see ``stretch``."""


Kind = Callable[[World, Any], None]
MENU: dict[str, Kind] = {
    "normal": World.normal,
    "one quiet": World.one_quiet,
    "frozen": World.frozen,
    "all quiet": World.all_quiet,
    "collinear": World.collinear,
    "duplicated": World.duplicated,
    "tiny": World.tiny,
    "huge": World.huge,
    "scale changes": World.scale_changes,
    "outliers": World.outliers,
    "vanishing": World.vanishing,
    "tiny, then twins": World.tiny_then_twins,
    "medley": World.normal,  # see ``World.medley``
}
HOSTILE = [kind for kind in MENU if kind != "normal"]


class Progress:
    """A line on stderr that says how fast it goes and how long it will take."""

    def __init__(self, rounds: int) -> None:
        self.rounds, self.done, self.began = rounds, 0, time.perf_counter()

    def add(self, rounds: int) -> None:
        """So many more are done."""
        self.done += rounds
        spent = time.perf_counter() - self.began
        left = spent * (self.rounds - self.done) / self.done
        text = f"{self.done / spent:,.0f} rounds/s, {left:.0f} s left"
        print(
            f"\r{self.done:,} of {self.rounds:,}, {text}    ", end="", file=sys.stderr
        )

    def end(self) -> float:
        """Finish the line; the seconds spent."""
        print(file=sys.stderr)
        return time.perf_counter() - self.began


class Outcome(NamedTuple):
    """One line of the table."""

    rounds: int
    error: float  # mean square over the last chunk
    fresh: float  # the same of a learner that saw the last two chunks only
    broken: str  # what broke, and where; empty if nothing


def courses(seed: int, chunks: int) -> list[str]:
    """The kinds of the chunks: half normal, half hostile, the last two normal."""
    rng, kinds = np.random.default_rng(seed), []
    while len(kinds) < chunks - 2:
        turn = HOSTILE + ["normal"] * len(HOSTILE)
        kinds += rng.permutation(turn).tolist()
    return [*kinds[: chunks - 2], "normal", "normal"]


def soak(
    learner: tw.RecursiveLeastSquares, dtype: Any, chunks: int, seed: int,
    said: Progress,
) -> Outcome:  # fmt: skip
    """Play all chunks, the state carried along, and a fresh learner on the last two."""
    world, start = World(seed, dtype), np.zeros(FEATURES, dtype)
    state, fresh = learner.init(start), learner.init(start)
    broken, error, error_fresh = "", np.nan, np.nan
    for count, kind in enumerate(courses(seed, chunks)):
        block = Block(*world.stretch(kind, CHUNK))
        state, trace = learner.run(state, SquaredError(), block)
        broken = broken or ailment(state, trace, f"{kind}, chunk {count}")
        if count >= chunks - 2:
            fresh, other = learner.run(fresh, SquaredError(), block)
            error, error_fresh = mean_square(trace, block), mean_square(other, block)
        said.add(CHUNK)
    return Outcome(chunks * CHUNK, error, error_fresh, broken)


def ailment(state: Any, trace: Any, where: str) -> str:
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


def verdict(discount: float, outcome: Outcome) -> str:
    """What a line of the table fails with; empty if it does not."""
    if outcome.broken:
        return outcome.broken
    ratio = outcome.error / outcome.fresh
    return "" if discount == 1 or ratio <= SLACK else f"not within {SLACK - 1:.0%}"


def ours(rounds: int) -> bool:
    """Soak every combination and print the table. Whether all is well."""
    runs = list(product(DISCOUNTS, (np.float64, np.float32), SETTINGS))
    chunks = max(math.ceil(rounds / CHUNK / len(runs)), 3)
    said, fine = Progress(chunks * CHUNK * len(runs)), True
    print(
        f"{'γ':>5} {'dtype':8} {'settings':17} {'rounds':>10} "
        f"{'error':>10} {'fresh':>10} {'ratio':>12}"
    )
    for seed, (discount, dtype, name) in enumerate(runs):
        learner = tw.RecursiveLeastSquares(discount, **SETTINGS[name])
        outcome = soak(learner, dtype, chunks, seed, said)
        fault = verdict(discount, outcome)
        fine &= not fault
        print(
            f"{discount:5g} {dtype.__name__:8} {name:17} {outcome.rounds:10,} "
            f"{outcome.error:10.4g} {outcome.fresh:10.4g} "
            f"{outcome.error / outcome.fresh:12.6g}  {fault or 'ok'}",
            flush=True,
        )
    print(f"{said.rounds:,} rounds in {said.end():.0f} s")
    return fine


class OurPeer:
    """Ours, for comparison."""

    def __init__(self, discount: float) -> None:
        self.learner = tw.RecursiveLeastSquares(discount)
        self.state = self.learner.init(np.zeros(FEATURES))

    def run(self, x: Any, y: Any) -> Any:
        """Predictions, each before its y was seen."""
        self.state, trace = self.learner.run(self.state, SquaredError(), Block(x, y))
        return trace.prediction


class Textbook:
    """benchmarks/plain_rls.py, in float64."""

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


class Room:
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
    "thalweg": (OurPeer, PEER_ROUNDS),
    "textbook": (Textbook, PEER_ROUNDS),
    "padasip": (Padasip, PEER_ROUNDS),
    "pyroomacoustics": (Room, PEER_ROUNDS),
    "River Bayesian": (River, RIVER_ROUNDS),
}


def stretches(rounds: int) -> Iterator[tuple[str, Any, Any]]:
    """Normal and hostile in turn, the hostile kinds in the order of the menu."""
    world = World(0, np.float64)
    for count in range(rounds // STRETCH):
        kind = HOSTILE[count // 2 % len(HOSTILE)] if count % 2 else "normal"
        yield kind, *world.stretch(kind, STRETCH)


def death(peer: Any, discount: float, rounds: int) -> str:
    """When and how a peer died, in words."""
    settled = MEMORIES / (1 - discount) if discount < 1 else np.inf
    last = "nothing"
    for count, (kind, x, y) in enumerate(stretches(rounds)):
        prediction = peer.run(x, y)
        lost = ~np.isfinite(prediction)
        if kind == "normal":
            lost |= (np.abs(prediction - y) > DEAD) & (np.arange(len(y)) >= settled)
        else:
            last = kind
        if lost.any():
            first = int(lost.argmax())
            how = "lost" if np.isfinite(prediction[first]) else "not finite"
            return f"{count * STRETCH + first:,} {how} ({last})"
    return "alive"


def peers() -> None:
    """Print when each peer dies."""
    print(
        f"\nPeers: the first round not finite, or off by more than {DEAD:g} on normal "
        f"data\n{MEMORIES}/(1-γ) rounds after a hostile stretch. In brackets: the last "
        f"such stretch."
    )
    titles = " ".join(f"{f'γ = {discount:g}':30}" for discount in DISCOUNTS)
    print(f"{'':16} {'rounds':>8} {titles}")
    for name, (peer, rounds) in PEERS.items():
        if peer is Room and pyroomacoustics is None:
            print(f"{name:16} is not installed: skipped")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ends = [death(peer(discount), discount, rounds) for discount in DISCOUNTS]
        print(f"{name:16} {rounds:8,} " + " ".join(f"{end:30}" for end in ends))


def main() -> int:
    """Soak ours, then the peers; 1 if ours failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=float, default=1e8, help="over all runs")
    fine = ours(int(parser.parse_args().rounds))
    peers()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
