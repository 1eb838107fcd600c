"""Domains: convex sets with their projections and support functions."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.domains.ball import Ball as Ball
    from thalweg.domains.base import Domain as Domain
    from thalweg.domains.base import Projection as Projection
    from thalweg.domains.box import Box as Box
    from thalweg.domains.ellipsoid import Ellipsoid as Ellipsoid
    from thalweg.domains.everywhere import Everywhere as Everywhere
    from thalweg.domains.polytope import Polytope as Polytope
    from thalweg.domains.simplex import Simplex as Simplex

__getattr__, __all__ = lazy_exports(__name__)
