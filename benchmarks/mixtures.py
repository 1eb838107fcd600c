"""Mixtures of the paper and its rivals: their kernels against one update a round.

Processor time on one thread, the best of some runs of each, in one process. Both play
the same rounds, and have to agree before anything is timed. The stream is the paper's
hardest, with one feature: a mean that jumps between ±0.4, and coins of ±0.6 on top.

python benchmarks/mixtures.py --rounds 64000
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import thalweg as tw
from thalweg.learners import (
    Ader,
    DiscountedNewton,
    Experts,
    FollowTheLeadingHistory,
    Learner,
    OnlineGradientDescent,
)
from thalweg.losses import Loss, SquaredError, Tracking
from thalweg.types import Block

DOMAIN, DEFINITION_ROUNDS, REPEATS = tw.Ball(1.0), 500, 5
TOLERANCE = 1e-9
"""Differences of predictions up to this one are rounding."""


def jumping_coins(rounds: int) -> Block:
    """Labels of one feature that is 1, with √T/4 jumps."""
    rng = np.random.default_rng(0)
    jumps = np.floor(np.arange(rounds) * max(rounds**0.5 / 4, 1) / rounds)
    y = 0.4 * (-1.0) ** jumps + 0.6 * rng.choice([-1.0, 1.0], rounds)
    return Block(np.ones((rounds, 1)), y)


def learners(block: Block) -> Iterator[tuple[str, Learner[Any], Loss, Block]]:
    """Name, learner, loss and rounds."""
    T, loss = len(block), SquaredError()
    constants = loss.constants(DOMAIN, block)
    for case in (1, 2, 3):
        mixture = Experts.from_newton_grid(constants, DOMAIN, T, case)
        yield f"Newton mixture, case {case}", mixture, loss, block
    points = Block(None, block.y[:, None])
    of_points = Tracking().constants(DOMAIN, points)
    gradients = Experts.from_gradient_grid(of_points, DOMAIN, T)
    yield "gradient mixture", gradients, Tracking(), points
    newton = DiscountedNewton.from_theorem(3, constants, DOMAIN, 1.0)
    history = FollowTheLeadingHistory(newton, constants.exp_concavity)
    yield "leading history of Newton", history, loss, block
    yield "Ader", Ader(T, constants.gradient_bound, DOMAIN), loss, block
    yield "online gradient descent", OnlineGradientDescent(0.5, DOMAIN), loss, block


def processor_time(call: Callable[[], Any], repeats: int) -> float:
    """The least time of some calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print a line for each learner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=64_000)
    block = jumping_coins(parser.parse_args().rounds)
    print(f"{'':28}{'update, µs':>12}{'kernel, µs':>12}{'ratio':>8}   a round")
    for name, learner, loss, rounds in learners(block):
        state, few = learner.init(np.zeros(1)), rounds[:DEFINITION_ROUNDS]
        _, fast = learner.run(state, loss, few)
        _, slow = Learner._play(learner, state, loss, few, ())
        difference = np.abs(fast.prediction - slow.prediction).max()
        assert difference <= TOLERANCE, (name, difference)
        # The lambdas are called before the next learner is bound.
        update = processor_time(
            lambda: Learner._play(learner, state, loss, few, ()),  # noqa: B023
            2,
        )
        kernel = processor_time(
            lambda: learner.run(state, loss, rounds),  # noqa: B023
            REPEATS,
        )
        a, b = 1e6 * update / len(few), 1e6 * kernel / len(rounds)
        print(f"{name:28}{a:12.0f}{b:12.2f}{a / b:8.0f}")


if __name__ == "__main__":
    main()
