"""What every domain promises."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from tests.contracts.examples import DOMAINS, example_domains
from thalweg import domains
from thalweg.errors import InvalidParameterError

EXAMPLES = example_domains()
every_domain = pytest.mark.parametrize(
    "domain", EXAMPLES, ids=[type(domain).__name__ for domain in EXAMPLES]
)

# What a general solver is told: functions that are ≥ 0 inside (or = 0, for "eq").
INSIDE = {
    "Ball": lambda S: [("ineq", lambda z: S.radius**2 - z @ z)],
    "Box": lambda S: [("ineq", lambda z: np.append(z - S.low, S.high - z))],
    "Ellipsoid": lambda S: [
        ("ineq", lambda z: 1 - (z - S.centre) @ S.shape @ (z - S.centre))
    ],
    "Everywhere": lambda S: [],
    "Polytope": lambda S: [("ineq", lambda z: S.offsets - S.normals @ z)],
    "Simplex": lambda S: [("ineq", lambda z: z), ("eq", lambda z: z.sum() - S.total)],
}

coordinates = st.floats(-1e3, 1e3, allow_subnormal=False)
points = hnp.arrays(np.float64, 3, elements=coordinates)
factors = hnp.arrays(np.float64, (3, 3), elements=st.floats(-3, 3))


def well_conditioned(factor):
    return factor @ factor.T + np.eye(3)


def members(domain, count=200):
    """Points of S: projections of random points, and points between two of them."""
    rng = np.random.default_rng(3)
    edge = np.array([domain.project(y) for y in 3 * rng.standard_normal((count, 3))])
    share = rng.random((count, 1))
    return np.vstack([edge, share * edge + (1 - share) * edge[::-1]])


def tight(domain):
    """Directions in which S ends."""
    directions = np.random.default_rng(4).standard_normal((40, 3))
    return directions[np.isfinite(domain.support(directions))]


@every_domain
@given(y=points, factor=factors)
def test_projections_land_inside(domain, y, factor):
    assert domain.contains(domain.project(y))
    P = well_conditioned(factor)
    nearest = domain.project_in(y, P)
    assert domain.contains(nearest.point)
    assert 0 <= nearest.gap <= 1e-13 * np.trace(P) * (1 + y @ y)


@every_domain
def test_what_is_inside_does_not_move(domain):
    P = np.diag([1.0, 10.0, 100.0])
    for z in members(domain):
        assert domain.contains(z)
        assert domain.project_in(z, P).point is z
        assert domain.project_in(z, P).gap == 0
        np.testing.assert_allclose(domain.project(z), z, rtol=1e-15, atol=0)


@every_domain
@given(y=points, factor=factors)
def test_no_other_point_is_nearer(domain, y, factor):
    P = well_conditioned(factor)
    for z, metric in ((domain.project(y), np.eye(3)), (domain.project_in(y, P)[0], P)):
        # Variational inequality: P(z - y) makes no obtuse angle with any way into S.
        rise = (members(domain, 20) - z) @ metric @ (z - y)
        size = np.trace(metric) * (1 + y @ y)
        assert rise.min() >= -1e-13 * size


@every_domain
@pytest.mark.parametrize("seed", range(5))
def test_a_general_solver_finds_the_same_point(domain, seed):
    rng = np.random.default_rng(seed)
    y = 2 * rng.standard_normal(3)
    for P in (np.eye(3), well_conditioned(rng.standard_normal((3, 3)))):
        result = minimize(
            lambda z, P=P: 0.5 * (z - y) @ P @ (z - y),
            domain.project(y),
            jac=lambda z, P=P: P @ (z - y),
            method="SLSQP",
            constraints=[
                {"type": kind, "fun": inside}
                for kind, inside in INSIDE[type(domain).__name__](domain)
            ],
            options={"ftol": 1e-16, "maxiter": 500},
        )
        np.testing.assert_allclose(domain.project_in(y, P).point, result.x, atol=1e-7)
        if P[0, 1] == 0:
            np.testing.assert_allclose(domain.project(y), result.x, atol=1e-7)


@every_domain
def test_both_projections_agree_where_the_information_is_the_identity(domain):
    for y in 5 * np.random.default_rng(5).standard_normal((50, 3)):
        in_information = domain.project_in(y, np.eye(3)).point
        np.testing.assert_allclose(in_information, domain.project(y), atol=1e-14)


@every_domain
def test_the_projection_depends_on_no_scale_of_the_information(domain):
    y = np.array([3.0, -2.0, 1.0])
    P = well_conditioned(np.random.default_rng(6).standard_normal((3, 3)))
    expected = domain.project_in(y, P).point
    for scale in (1e-12, 1e12):
        nearest = domain.project_in(y, scale * P).point
        np.testing.assert_allclose(nearest, expected, rtol=1e-12, atol=1e-14)


EXTREME_INFORMATION = {
    "identity": np.eye(3),
    "of rank one": np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    "of condition 1e200": np.diag([1e-100, 1.0, 1e100]),
    "huge": 1e250 * well_conditioned(np.diag([1.0, 2.0, 3.0])),
    "tiny": 1e-250 * well_conditioned(np.diag([1.0, 2.0, 3.0])),
    "infinite": np.full((3, 3), np.inf),
}


@every_domain
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("P", EXTREME_INFORMATION.values(), ids=EXTREME_INFORMATION)
def test_a_point_however_far_has_a_finite_projection_inside(domain, dtype, P):
    rays = np.array([[1.0, -1.5, 0.7], [-1.0, -1.0, -1.0]])
    sizes = np.array([1e-100, 1.0, 1e20, 1e100, 1e150, 1e300, np.inf])
    with np.errstate(over="ignore"):  # in single precision infinite, from 1e39 on
        ys = np.multiply.outer(sizes, rays).astype(dtype)
    for y in ys.reshape(-1, 3):
        for nearest in (domain.project(y), domain.project_in(y, P).point):
            assert nearest.dtype == dtype and np.isfinite(nearest).all()
            assert domain.contains(nearest)


@every_domain
@pytest.mark.parametrize("size", [1e50, 1e100, 1e150, 1e200])
def test_the_projection_of_a_far_point_is_the_limit_along_its_ray(domain, size):
    if np.isinf(domain.radius):
        pytest.skip("the projection goes on along the ray")
    for y in np.random.default_rng(7).standard_normal((20, 3)):
        expected = domain.project(1e12 * y)
        np.testing.assert_allclose(domain.project(size * y), expected, atol=1e-9)


@every_domain
def test_no_domain_contains_what_is_not_finite(domain):
    for bad in (np.nan, np.inf, -np.inf):
        assert not domain.contains(np.array([0.3, 0.2, bad]))


@every_domain
def test_no_member_passes_the_support(domain):
    directions = tight(domain)
    reach = members(domain) @ directions.T
    assert (reach <= domain.support(directions) + 1e-12).all()


@every_domain
def test_some_member_attains_the_support(domain):
    # The projection of a far point along x tends to where x·θ is largest.
    for x in tight(domain):
        farthest = domain.project(1e6 * x)
        (support,) = domain.support(x[None])
        assert support - x @ farthest == pytest.approx(0, abs=1e-5)


@every_domain
def test_no_member_is_longer_than_the_radius(domain):
    norms = np.linalg.norm(members(domain), axis=1)
    assert norms.max() <= domain.radius * (1 + 1e-15)


@every_domain
def test_single_precision_stays_single_and_inside(domain):
    rng = np.random.default_rng(8)
    for y in (10.0 ** rng.uniform(-1, 4) * rng.standard_normal((50, 3))).astype("f4"):
        P = well_conditioned(rng.standard_normal((3, 3))).astype(np.float32)
        euclidean, nearest = domain.project(y), domain.project_in(y, P)
        assert euclidean.dtype == nearest.point.dtype == np.float32
        assert domain.contains(euclidean) and domain.contains(nearest.point)
        # The certificate is that of the rounded point, not of the one before.
        assert 0 <= nearest.gap <= 1e-6 * np.trace(P) * (1 + y @ y)


@every_domain
def test_inputs_are_untouched(domain):
    y, P = np.array([3.0, -2.0, 1.0]), np.diag([1.0, 2.0, 3.0])
    y.flags.writeable = P.flags.writeable = False
    domain.project(y)
    domain.project_in(y, P)
    domain.support(y[None])


@every_domain
def test_settings_survive_a_pickle(domain):
    domain.project_in(np.array([9.0, 9.0, 9.0]), np.eye(3))  # caches are filled
    again = pickle.loads(pickle.dumps(domain))
    assert again == domain and hash(again) == hash(domain)
    assert domain == DOMAINS[type(domain)]()
    assert domain.dimension in (None, 3)


def test_different_settings_are_not_equal():
    assert len(set(EXAMPLES)) == len(EXAMPLES)
    assert domains.Ball(1.0) != domains.Ball(2.0)
    assert domains.Box([0.0], [1.0]) != domains.Box([0.0], [2.0])


@pytest.mark.parametrize("name", ["Box", "Ellipsoid", "Polytope"])
def test_array_settings_are_read_only(name):
    domain = DOMAINS[getattr(domains, name)]()
    for setting in vars(type(domain))["__dataclass_fields__"]:
        with pytest.raises(ValueError, match="read-only"):
            getattr(domain, setting)[0] = 0.0


@pytest.mark.parametrize("name, setting", [("Ball", "radius"), ("Simplex", "total")])
@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan, "1", True])
def test_sizes_are_positive_and_finite(name, setting, value):
    rule = (
        rf"The '{setting}' parameter of {name} must be in \(0, inf\)\. Got .* instead"
    )
    with pytest.raises(InvalidParameterError, match=rule):
        getattr(domains, name)(value)


def test_every_listed_name_can_be_imported():
    assert domains.__all__ == sorted(domains.__all__)
    assert all(hasattr(domains, name) for name in domains.__all__)
