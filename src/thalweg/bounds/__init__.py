"""Regret bounds: the right-hand sides of the theorems, from numbers alone.

Each takes a ``Problem``, or the numbers it needs, and gives a number. What is marked
``sharp`` is ours: proven with the same arguments, never larger than the paper's, and
finite at γ = 1.
"""

from thalweg.bounds.cited_algorithms import ader as ader
from thalweg.bounds.cited_algorithms import constant_step as constant_step
from thalweg.bounds.cited_algorithms import leading_history as leading_history
from thalweg.bounds.cited_algorithms import (
    online_gradient_descent as online_gradient_descent,
)
from thalweg.bounds.cited_algorithms import online_newton_step as online_newton_step
from thalweg.bounds.conversion import adaptive_to_dynamic as adaptive_to_dynamic
from thalweg.bounds.conversion import (
    adaptive_to_dynamic_by_total as adaptive_to_dynamic_by_total,
)
from thalweg.bounds.experts import expert_index as expert_index
from thalweg.bounds.experts import experts_gradient as experts_gradient
from thalweg.bounds.experts import experts_newton as experts_newton
from thalweg.bounds.experts import mixing_cost as mixing_cost
from thalweg.bounds.general import general_dynamic as general_dynamic
from thalweg.bounds.general import general_largest_discount as general_largest_discount
from thalweg.bounds.general import general_static as general_static
from thalweg.bounds.gradient import smooth_dynamic as smooth_dynamic
from thalweg.bounds.gradient import smooth_static as smooth_static
from thalweg.bounds.gradient import strongly_convex as strongly_convex
from thalweg.bounds.gradient import (
    strongly_convex_by_path_length as strongly_convex_by_path_length,
)
from thalweg.bounds.gradient import tracking_dynamic as tracking_dynamic
from thalweg.bounds.gradient import tracking_static as tracking_static
from thalweg.bounds.lower_bound import lower_bound as lower_bound
from thalweg.bounds.lower_bound import (
    lower_bound_by_exponent as lower_bound_by_exponent,
)
from thalweg.bounds.lower_bound import minimax_rate as minimax_rate
from thalweg.bounds.lower_bound import static_lower_bound as static_lower_bound
from thalweg.bounds.newton import best_ridge as best_ridge
from thalweg.bounds.newton import largest_rate as largest_rate
from thalweg.bounds.newton import newton as newton
from thalweg.bounds.newton import newton_by_path_length as newton_by_path_length
from thalweg.bounds.newton import newton_by_tradeoff as newton_by_tradeoff
from thalweg.bounds.newton import paper_ridge as paper_ridge
from thalweg.bounds.newton import printed_telescoped_sum as printed_telescoped_sum
from thalweg.bounds.newton import telescoped_sum as telescoped_sum
from thalweg.bounds.newton import theorem_constants as theorem_constants
from thalweg.bounds.problem import Problem as Problem
from thalweg.lazy import exported_names

__all__ = exported_names(__name__)
