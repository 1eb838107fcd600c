"""Legal numbers in, finite numbers out: every learner, domain and loss.

The rows are as hostile as legal rows can be: from the smallest to the largest numbers,
spikes, zeros, repeated and one-hot rows, weights of 0 to 1e6, gaps in time. Every run
leaves finite predictions, losses and θ, with θ in the learner's domain; warnings of
NumPy's are errors in tests, and so are its own exceptions.
"""

import numpy as np
import pytest

from tests.contracts.examples import (
    DOMAINS,
    LEARNERS,
    START,
    example_learners,
)
from thalweg import checks, learners
from thalweg.domains import Ball, Box, Everywhere, Polytope
from thalweg.learners import (
    Ader,
    ConstantStepGradient,
    DirectionalRLS,
    DiscountedGradient,
    DiscountedNewton,
    Experts,
    FollowTheLeadingHistory,
    OnlineGradientDescent,
    OnlineNewtonStep,
    RecursiveLeastSquares,
    SlidingWindow,
)
from thalweg.losses import Huber, LinearMap, Logistic, SquaredError, Tracking
from thalweg.types import Block

ROUNDS = 12
UNBOUNDED_BOX = Box([-np.inf, 0.0, -1.0], [np.inf, np.inf, np.inf])
HALF_SPACE = Polytope([[1.0, 1.0, 1.0]], [1.0])
ALL_DOMAINS = {
    **{kind.__name__: make() for kind, make in DOMAINS.items()},
    "a cube": Box(-1.0, 1.0),
    "an unbounded box": UNBOUNDED_BOX,
    "a half-space": HALF_SPACE,
    "a flat polytope": Polytope([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]], [1.0, -1.0]),
    "a huge ball": Ball(1e100),
}
ANY_LOSS = (SquaredError(), Huber(0.7), Huber(0.7, 0.1), Logistic(), LinearMap())
PROJECTING = {
    "gradient": lambda S: DiscountedGradient(0.9, domain=S),
    "smooth gradient": lambda S: DiscountedGradient(0.9, "smooth", 1.0, 2.0, domain=S),
    "tracking gradient": lambda S: DiscountedGradient(0.9, "tracking", domain=S),
    "gradient descent": lambda S: OnlineGradientDescent(0.5, S),
    "constant step": lambda S: ConstantStepGradient(2.0, 0.5, S),
    "quasi-Newton": lambda S: DiscountedNewton(0.9, 1.0, 1.0, "gradient", S),
    "full Newton": lambda S: DiscountedNewton(0.9, 1.0, 1.0, "hessian", S),
    "directional": lambda S: DirectionalRLS(0.9, 0.5, S),
    "online Newton": lambda S: OnlineNewtonStep(30.0, 0.01, S),
    "Ader": lambda S: Ader(100, 30.0, S),
    "Ader, one gradient": lambda S: Ader(100, 30.0, S, surrogate=True),
}
NEEDS_RADIUS = ("online Newton", "Ader", "Ader, one gradient")


def hostile_row(rng, shape, exponent):
    """One x or y, legal in numbers up to 10^exponent."""
    row = rng.normal(size=shape)
    match rng.integers(9):
        case 0:
            row *= 10 ** rng.uniform(-exponent, exponent)
        case 1:
            row *= 10 ** rng.uniform(-exponent, exponent, size=shape)
        case 2:
            row = np.zeros(shape)
        case 3:
            row = np.full(shape, 10.0 ** rng.choice([-exponent, 0, exponent]))
        case 4:
            row = np.zeros(shape)
            size = 10.0 ** rng.choice([-exponent, -exponent / 2, 0, exponent])
            row.flat[rng.integers(row.size)] = size
        case 5:
            row = np.sign(row) * 10.0**exponent
        case 6:
            row = 1.0 * (row > 0)
        case 7:
            row = np.round(row)
    return row


def hostile_rows(rng, shape, exponent):
    """Rows that are all different, all the same, or ordinary, with one spike."""
    kind = rng.integers(4)
    rows = rng.normal(size=(ROUNDS, *shape))
    if kind == 0:
        rows = np.array([hostile_row(rng, shape, exponent) for _ in rows])
    elif kind < 3:
        rows[:] = hostile_row(rng, shape, exponent)
    if kind > 1:
        rows[rng.integers(ROUNDS)] = hostile_row(rng, shape, exponent)
    return rows


def hostile_block(rng, loss, dtype):
    """A block of legal rounds for the loss, in three dimensions."""
    exponent = round(np.log10(checks.MAX_MAGNITUDE[np.dtype(dtype)]))
    largest = 0.999 * 10.0**exponent  # below the limit, also when rounded to float32
    shapes = {Tracking: (None, (3,)), LinearMap: ((2, 3), (2,))}
    shape_x, shape_y = shapes.get(type(loss), ((3,), ()))
    y = hostile_rows(rng, shape_y, exponent)
    x = None if shape_x is None else hostile_rows(rng, shape_x, exponent)
    weight = elapsed = None
    if rng.random() < 0.5:
        weight = rng.choice([0.0, 1e-6, 1.0, 1e6], ROUNDS)
        largest = largest / np.sqrt(np.maximum(weight, 1))
    if rng.random() < 0.5:
        elapsed = rng.choice([0.0, 0.5, 1.0, 1e4, 10.0**exponent], ROUNDS)
    x, y = (None if v is None else np.clip(v.T, -largest, largest).T for v in (x, y))
    return Block(x, 1.0 * (y > 0) if isinstance(loss, Logistic) else y, weight, elapsed)


def assert_finite_run(learner, loss, dtype, seed, domain=None):
    start = START if domain is None else domain.project(START)
    block = hostile_block(np.random.default_rng(seed), loss, dtype)
    state, trace = learner.run(learner.init(start.astype(dtype)), loss, block)
    for name in ("prediction", "loss"):
        assert np.isfinite(getattr(trace, name)).all(), (name, loss, dtype, seed)
    assert np.isfinite(state.theta).all(), (loss, dtype, seed)
    if domain is not None:
        assert domain.contains(state.theta), (state.theta, loss, dtype, seed)


@pytest.mark.parametrize("name", PROJECTING)
@pytest.mark.parametrize("domain", ALL_DOMAINS.values(), ids=ALL_DOMAINS)
def test_hostile_rows_leave_finite_numbers_in_every_domain(name, domain):
    if name in NEEDS_RADIUS and np.isinf(domain.radius):
        pytest.skip("the learner asks for a bounded domain")
    learner = PROJECTING[name](domain)
    losses = {"tracking gradient": (Tracking(),), "directional": (SquaredError(),)}
    for seed in range(8):
        for loss in losses.get(name, (*ANY_LOSS, Tracking())):
            for dtype in (np.float64, np.float32):
                assert_finite_run(learner, loss, dtype, seed, domain)


OTHERS = [
    (learner, loss)
    for learner, loss in example_learners()
    if not hasattr(learner, "domain")
] + [
    (FollowTheLeadingHistory(RecursiveLeastSquares(0.9)), SquaredError()),
    (Experts((DiscountedNewton(0.9), DirectionalRLS(0.9))), SquaredError()),
    (Experts((DiscountedGradient(0.9, domain=Everywhere()),)), SquaredError()),
    (SlidingWindow(5, 0.0), SquaredError()),
]


@pytest.mark.parametrize(
    "learner, loss",
    OTHERS,
    ids=[f"{type(a).__name__}-{i}" for i, (a, _) in enumerate(OTHERS)],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_hostile_rows_leave_finite_numbers(learner, loss, dtype):
    for seed in range(60):
        assert_finite_run(learner, loss, dtype, seed)


def test_every_learner_with_a_domain_is_tried_in_every_domain():
    tried = {type(make(Ball(1.0))) for make in PROJECTING.values()}
    have_domain = {kind for kind in LEARNERS if hasattr(LEARNERS[kind]()[0], "domain")}
    assert tried == have_domain and set(LEARNERS) == {
        getattr(learners, name) for name in learners.__all__ if name != "Learner"
    }


@pytest.mark.parametrize("kind", ["Ellipsoid", "Polytope"])
@pytest.mark.parametrize("name", ["gradient", "gradient descent", "constant step"])
def test_one_spike_does_not_end_a_gradient_learner(kind, name):
    """The learner returns to the error that it has without the spike."""
    domain = ALL_DOMAINS[kind]
    learner, loss = PROJECTING[name](domain), SquaredError()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 3))
    y = x @ domain.project(np.array([0.4, 0.3, 0.2]))
    spiked = x.copy()
    spiked[100] = 1e100
    start = learner.init(domain.project(START))
    _, trace = learner.run(start, loss, Block(spiked, y))
    _, calm = learner.run(start, loss, Block(x, y))
    after = slice(300, None)
    assert trace.loss[after].mean() <= calm.loss[after].mean() + 1e-4
