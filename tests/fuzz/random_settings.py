"""Random settings of every public learner, with a loss that they accept."""

from dataclasses import replace

import numpy as np

from thalweg import domains, learners
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import Huber, LinearMap, Logistic, SquaredError, Tracking

DISCOUNTS = (1.0, 0.999, 0.9, 0.5)
RIDGES = (0.0, 1e-10, 1.0, 1e6)
PRIORS = RIDGES[1:]
"""Ridges of learners that need one above zero."""
LOSSES = {"squared": SquaredError(), "logistic": Logistic(), "huber": Huber(0.5)}
BOUNDED = ("ball", "small ball", "box", "ellipsoid", "polytope")
ANY_DOMAIN = ("everywhere", *BOUNDED, "simplex")


class Draw:
    """Random choices by name, each of which is recorded; some may be forced."""

    def __init__(self, rng, forced=None):
        self.rng, self.forced = rng, forced or {}
        self.options = {}
        """The label of every choice that was made, by the name of the option."""

    def choose(self, name, values, chances=None):
        """One of the values; of a dict, the value at a key, which is its label."""
        labels = list(values)
        i = int(self.rng.choice(len(labels), p=chances))
        if self.forced.get(name) in labels:
            i = labels.index(self.forced[name])
        self.options[name] = labels[i]
        return values[labels[i]] if isinstance(values, dict) else labels[i]


def random_domain(draw, n, names=ANY_DOMAIN):
    """A domain in n dimensions; all but the simplex contain zero."""
    name, rng = draw.choose("domain", names), draw.rng
    match name:
        case "everywhere":
            return domains.Everywhere()
        case "ball":
            return domains.Ball(1.0)
        case "small ball":
            return domains.Ball(1e-3)
        case "box":
            return domains.Box(-rng.uniform(0, 2, n), rng.uniform(0, 2, n))
        case "ellipsoid":
            axes = np.linalg.qr(rng.normal(size=(n, n)))[0]
            shape = axes * 10.0 ** rng.uniform(-2, 2, n) @ axes.T
            return domains.Ellipsoid(np.zeros(n), 0.5 * (shape + shape.T))
        case "polytope":
            normals = np.vstack([np.eye(n), -np.eye(n), rng.normal(size=(2, n))])
            return domains.Polytope(normals, rng.uniform(0, 1, len(normals)))
    return domains.Simplex(1.0)


def rls(draw, n=None):
    """Recursive least squares."""
    return random_rls(draw), SquaredError()


def random_rls(draw, suffix=""):
    """Settings of recursive least squares; ``suffix`` tells several of them apart."""
    floors = {
        "none": (None, False),
        "1e-3": (1e-3, False),
        "1.0": (1.0, False),
        "leaky": (0.1, True),
    }
    return RecursiveLeastSquares(
        draw.choose(f"discount{suffix}", DISCOUNTS),
        draw.choose(f"ridge{suffix}", RIDGES),
        *draw.choose(f"floor{suffix}", floors),
    )


def clipped(draw, n):
    low, high = draw.choose("range", ((-1.0, 1.5), (-1e100, 1e100)))
    return learners.ClippedRLS(low, high, random_rls(draw)), SquaredError()


def directional(draw, n):
    discount, ridge = draw.choose("discount", DISCOUNTS), draw.choose("ridge", PRIORS)
    domain = random_domain(draw, n)
    return learners.DirectionalRLS(discount, ridge, domain), SquaredError()


def newton(draw, n):
    learner = learners.DiscountedNewton(
        draw.choose("discount", DISCOUNTS),
        draw.choose("newton step", (0.1, 1.0, 10.0)),
        draw.choose("ridge", PRIORS),
        draw.choose("curvature", ("gradient", "hessian")),
        random_domain(draw, n),
    )
    return learner, draw.choose("loss", LOSSES)


def gradient(draw, n):
    rule = draw.choose("rule", ("tracking", "smooth", "strongly_convex"))
    convexity, smoothness = draw.choose("convexity", ((1.0, 1.0), (0.01, 10.0)))
    learner = learners.DiscountedGradient(
        draw.choose("discount", DISCOUNTS),
        rule,
        convexity,
        smoothness,
        random_domain(draw, n),
    )
    if rule == "tracking":
        return learner, Tracking()
    return learner, draw.choose("loss", LOSSES)


def gradient_descent(draw, n):
    step = draw.choose("step size", (0.01, 1.0))
    learner = learners.OnlineGradientDescent(step, random_domain(draw, n))
    return learner, draw.choose("loss", LOSSES)


def constant_step(draw, n):
    learner = learners.ConstantStepGradient(
        draw.choose("smoothness", (0.5, 10.0)),
        draw.choose("averaging", (1.0, 0.3)),
        random_domain(draw, n),
    )
    return learner, draw.choose("loss", LOSSES | {"tracking": Tracking()})


def online_newton(draw, n):
    learner = learners.OnlineNewtonStep(
        draw.choose("gradient bound", (1.0, 30.0)),
        draw.choose("exp-concavity", (0.01, 1.0)),
        random_domain(draw, n, BOUNDED),
    )
    return learner, draw.choose("loss", LOSSES)


def ader(draw, n):
    learner = learners.Ader(
        draw.choose("horizon", (1, 100)),
        draw.choose("gradient bound", (1.0, 30.0)),
        random_domain(draw, n, BOUNDED),
        draw.choose("surrogate", (False, True)),
    )
    return learner, draw.choose("loss", LOSSES | {"tracking": Tracking()})


def experts(draw, n):
    rate = draw.choose("mixing rate", (1e-3, 1.0, 1e3))
    kinds = ("bank", "mixed", "newton", "gradient")
    kind = draw.choose("members", kinds, (0.34, 0.16, 0.25, 0.25))
    if kind in ("newton", "gradient"):
        # The same settings at three discounts, as in the grids of the theorems.
        first, loss = {"newton": newton, "gradient": gradient}[kind](draw, n)
        members = [first, *(replace(first, discount=gamma) for gamma in (0.99, 0.7))]
        return learners.Experts(tuple(members), rate), loss
    members = [random_rls(draw, f" {i}") for i in range(1, 4)]
    if kind == "mixed":
        members[2] = learners.DiscountedNewton(0.9)
    return learners.Experts(tuple(members), rate), SquaredError()


def aggregating(draw, n):
    bound = draw.choose("label bound", (1.0, 100.0, 1e100))
    members = tuple(random_rls(draw, f" {i}") for i in range(1, 4))
    return learners.AggregatingExperts(members, bound), SquaredError()


def leading_history(draw, n):
    alpha = draw.choose("exp-concavity", (1e-3, 1.0))
    kinds = {"rls": rls, "gradient": gradient, "newton": newton}
    expert, loss = draw.choose("expert", kinds)(draw, n)
    return learners.FollowTheLeadingHistory(expert, alpha), loss


def general_least_squares(draw, n):
    return learners.GeneralLeastSquares(draw.choose("discount", DISCOUNTS)), LinearMap()


def restarts(draw, n):
    bound = draw.choose("label bound", (1.0, 100.0, 1e100))
    ridge = draw.choose("ridge", RIDGES)
    return learners.RestartExperts(bound, ridge), SquaredError()


def window(draw, n):
    size = draw.choose("window", (1, 4, 20, 100))
    return learners.SlidingWindow(size, draw.choose("ridge", RIDGES)), SquaredError()


def last_value(draw, n):
    return learners.LastValue(), draw.choose("loss", LOSSES)


def tracker(draw, n):
    learner = learners.Tracker(
        draw.choose("information", ("all", "features")),
        draw.choose("coverage", (0.5, 0.9, 0.99)),
        draw.choose("delay", (0, 1, 5, 40)),
    )
    return learner, SquaredError()


def logistic_tracker(draw, n):
    certainty = draw.choose("certainty", (1e-9, 1e-3, 0.3))
    return learners.LogisticTracker(certainty), Logistic()


SETTINGS = {
    learners.Ader: ader,
    learners.AggregatingExperts: aggregating,
    learners.ClippedRLS: clipped,
    learners.ConstantStepGradient: constant_step,
    learners.DirectionalRLS: directional,
    learners.DiscountedGradient: gradient,
    learners.DiscountedNewton: newton,
    learners.Experts: experts,
    learners.FollowTheLeadingHistory: leading_history,
    learners.GeneralLeastSquares: general_least_squares,
    learners.LastValue: last_value,
    learners.LogisticTracker: logistic_tracker,
    learners.OnlineGradientDescent: gradient_descent,
    learners.OnlineNewtonStep: online_newton,
    learners.RecursiveLeastSquares: rls,
    learners.RestartExperts: restarts,
    learners.SlidingWindow: window,
    learners.Tracker: tracker,
}
"""For each learner, a function of a ``Draw`` and n that gives settings and a loss."""
NAMES = {kind.__name__: kind for kind in SETTINGS}
