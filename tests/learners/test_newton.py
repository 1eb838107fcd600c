import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from tests import oracles
from thalweg.domains import Ball, Box, Ellipsoid, Everywhere, Polytope, Simplex
from thalweg.errors import InvalidParameterError, UnsupportedLossError
from thalweg.learners import DiscountedNewton, Experts, RecursiveLeastSquares
from thalweg.losses import Huber, LinearMap, Logistic, Round, SquaredError, Tracking
from thalweg.types import Block

E = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
A = np.vstack([np.eye(3), -np.eye(3), [[1.0, 1.0, 1.0]]])
B = np.array([0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7])
DOMAINS = [
    Everywhere(),
    Ball(0.5),
    Box(np.array([-0.3, -0.5, 0.0]), np.array([0.4, 0.2, 0.6])),
    Simplex(),
    Ellipsoid(np.array([0.1, 0.0, -0.1]), E),
    Polytope(A, B),
]
START = {"Simplex": np.full(3, 1 / 3)}


def constraints_of(domain):
    """The same set in the words of a general solver."""
    match domain:
        case Ball():
            return [NonlinearConstraint(lambda z: z @ z, -np.inf, domain.radius**2)]
        case Box():
            return [LinearConstraint(np.eye(3), domain.low, domain.high)]
        case Simplex():
            return [
                LinearConstraint(np.eye(3), 0, np.inf),
                LinearConstraint(np.ones((1, 3)), 1, 1),
            ]
        case Ellipsoid():
            centre = domain.centre
            return [
                NonlinearConstraint(
                    lambda z: (z - centre) @ E @ (z - centre), -np.inf, 1
                )
            ]
        case Polytope():
            return [LinearConstraint(A, -np.inf, B)]
    return []


def general_projection(domain):
    """argmin over S of ‖z - y‖²_P by SLSQP, polished until it no longer moves."""

    def project(y, P):
        # In the coordinates of P's root the problem is a plain nearest point.
        scale = np.linalg.eigvalsh(P)[-1]
        best = None
        for start in (domain.project(y), domain.project(np.zeros(3))):
            result = minimize(
                lambda z: 0.5 * (z - y) @ P @ (z - y) / scale,
                start if best is None else best.x,
                jac=lambda z: P @ (z - y) / scale,
                constraints=constraints_of(domain),
                method="SLSQP",
                options={"ftol": 1e-16, "maxiter": 500},
            )
            if best is None or result.fun < best.fun:
                best = result
        return best.x

    return project if constraints_of(domain) else lambda y, P: y


def stream(loss, seed, rounds=12):
    rng = np.random.default_rng(seed)
    if isinstance(loss, Tracking):
        return Block(None, rng.uniform(-0.6, 0.6, size=(rounds, 3)))
    if isinstance(loss, LinearMap):
        return Block(rng.normal(size=(rounds, 2, 3)), rng.normal(size=(rounds, 2)))
    x, y = rng.normal(size=(rounds, 3)), rng.normal(size=rounds)
    rates = rng.uniform(0.2, 2, size=(2, rounds))
    return Block(x, 1.0 * (y > 0) if isinstance(loss, Logistic) else y, *rates)


CASES = [
    ("gradient", 1.0, SquaredError()),
    ("gradient", 0.5, Logistic()),
    ("hessian", 1.0, SquaredError()),
    ("hessian", 1.0, LinearMap()),
    ("hessian", 0.5, Huber(1.0, ridge=0.5)),
    ("hessian", 0.5, Logistic()),
    ("hessian", 1.0, Tracking()),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: type(d).__name__)
@pytest.mark.parametrize(
    "curvature, eta, loss", CASES, ids=[f"{c}-{type(x).__name__}" for c, _, x in CASES]
)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), discount=st.sampled_from([0.7, 0.9, 0.99, 1.0]))
def test_algorithm_1_equals_the_box_with_dense_matrices(
    domain, curvature, eta, loss, seed, discount
):
    """Step by step from the library's own θ_t: SLSQP's error must not pile up."""
    block = stream(loss, seed)
    learner = DiscountedNewton(discount, 1 / eta, 1.0, curvature, domain)
    start = START.get(type(domain).__name__, np.zeros(3))
    state, trace = learner.run(learner.init(start), loss, block, ("theta",))
    ours = np.vstack([trace.theta, state.theta])
    project, P = general_projection(domain), np.eye(3)
    for t, (x, y, weight, elapsed) in enumerate(block.rounds()):
        grad = weight * loss.grad(ours[t], x, y)
        H = weight * loss.hess(ours[t], x, y)
        P = discount**elapsed * P + (np.outer(grad, grad) if eta and
                                     curvature == "gradient" else H)  # fmt: skip
        point = ours[t] - np.linalg.inv(P) @ grad / eta
        np.testing.assert_allclose(ours[t + 1], project(point, P), atol=1e-7)
    np.testing.assert_allclose(state.information, P, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("curvature, eta, loss", CASES)
def test_without_constraints_whole_paths_equal_the_box(curvature, eta, loss):
    block = stream(loss, 7, rounds=60)
    learner = DiscountedNewton(0.95, 1 / eta, 1.0, curvature, Everywhere())
    state, trace = learner.run(learner.init(np.zeros(3)), loss, block, ("theta",))
    played, P = oracles.algorithm_1(
        np.zeros(3), 0.95, eta, 1.0, curvature, loss, block, lambda y, P: y
    )
    np.testing.assert_allclose(trace.theta, played[:-1], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(state.information, P, rtol=1e-9, atol=1e-9)


def test_full_newton_on_squares_is_recursive_least_squares():
    rng = np.random.default_rng(0)
    block = Block(rng.normal(size=(100, 3)), rng.normal(size=100))
    newton = DiscountedNewton(0.95, curvature="hessian", domain=Everywhere())
    rls = RecursiveLeastSquares(0.95)
    _, ours = newton.run(newton.init(np.zeros(3)), SquaredError(), block, ("theta",))
    _, theirs = rls.run(rls.init(np.zeros(3)), SquaredError(), block, ("theta",))
    np.testing.assert_allclose(ours.theta, theirs.theta, rtol=1e-9, atol=1e-12)


def test_the_theorems_settings():
    block = Block(np.array([[0.6, 0.8]]), np.array([1.0]))
    domain = Ball(1.0)
    constants = SquaredError().constants(domain, block)
    assert constants == (0.0, 1.0, 0.25, 2.0)
    one = DiscountedNewton.from_theorem(1, constants, domain, 0.9)
    assert (one.newton_step, one.curvature) == (16.0, "gradient")
    three = DiscountedNewton.from_theorem(3, constants, domain, 0.9)
    assert (three.newton_step, three.curvature) == (1.0, "hessian")
    tracking = Tracking().constants(domain, Block(None, [[1.0, 0.0]]))
    two = DiscountedNewton.from_theorem(2, tracking, domain, 0.9)
    assert (two.newton_step, two.curvature) == (1.0, "hessian")
    for case in (0, 2):
        with pytest.raises(InvalidParameterError, match=f"Got case {case}"):
            DiscountedNewton.from_theorem(case, constants, domain, 0.9)


def test_case_3_of_the_theorem_refuses_a_loss_that_is_not_quadratic():
    domain = Ball(1.0)
    block = Block(np.array([[0.6, 0.8]]), np.array([1.0]))
    for loss in (Logistic(), Huber(5.0)):
        constants = loss.constants(domain, block)
        three = DiscountedNewton.from_theorem(3, constants, domain, 0.9)
        mixture = Experts.from_newton_grid(constants, domain, 100, case=3)
        for learner in (three, mixture):
            state = learner.init(np.zeros(2))
            with pytest.raises(UnsupportedLossError, match="case 3 .* quadratic"):
                learner.run(state, loss, block)
            with pytest.raises(UnsupportedLossError, match="case 3 .* quadratic"):
                learner.update(state, Round(loss, block.x[0], block.y[0]))
        by_hand = DiscountedNewton(0.9, curvature="hessian", domain=domain)
        by_hand.run(by_hand.init(np.zeros(2)), loss, block)
    one = DiscountedNewton.from_theorem(
        1, Logistic().constants(domain, block), domain, 0.9
    )
    one.run(one.init(np.zeros(2)), Logistic(), block)


def test_case_3_of_the_theorem_takes_every_quadratic_loss():
    rounds = {
        SquaredError(): Block(np.array([[0.6, 0.8]]), np.array([1.0])),
        LinearMap(): Block(np.ones((1, 3, 2)), np.ones((1, 3))),
        Tracking(): Block(None, np.ones((1, 2))),
    }
    for loss, block in rounds.items():
        constants = loss.constants(Ball(1.0), block)
        three = DiscountedNewton.from_theorem(3, constants, Ball(1.0), 0.9)
        three.run(three.init(np.zeros(2)), loss, block)


def test_a_domain_of_another_dimension_is_refused():
    learner = DiscountedNewton(domain=Box([0.0], [1.0]))
    with pytest.raises(InvalidParameterError, match="has 1 coordinates"):
        learner.init(np.zeros(3))


@pytest.mark.parametrize("dtype, size", [(np.float64, 1e150), (np.float32, 1e15)])
def test_an_update_by_the_largest_legal_row_overflows_nowhere(dtype, size):
    learner = DiscountedNewton(curvature="hessian")
    state = learner.init(np.zeros(6, dtype))
    x, y = np.full(6, size, dtype), dtype(size)
    with np.errstate(over="raise"):
        state = learner.update(state, Round(SquaredError(), x, y))
    assert np.isfinite(state.theta).all()
