"""The online learners: those of the paper, the Tracker, and baselines."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.learners.ader import Ader as Ader
    from thalweg.learners.aggregating import AggregatingExperts as AggregatingExperts
    from thalweg.learners.base import Learner as Learner
    from thalweg.learners.clipped import ClippedRLS as ClippedRLS
    from thalweg.learners.constant_step import (
        ConstantStepGradient as ConstantStepGradient,
    )
    from thalweg.learners.directional import DirectionalRLS as DirectionalRLS
    from thalweg.learners.experts import Experts as Experts
    from thalweg.learners.flh import FollowTheLeadingHistory as FollowTheLeadingHistory
    from thalweg.learners.general_least_squares import (
        GeneralLeastSquares as GeneralLeastSquares,
    )
    from thalweg.learners.gradient import DiscountedGradient as DiscountedGradient
    from thalweg.learners.last_value import LastValue as LastValue
    from thalweg.learners.logistic_tracker import LogisticTracker as LogisticTracker
    from thalweg.learners.newton import DiscountedNewton as DiscountedNewton
    from thalweg.learners.ogd import OnlineGradientDescent as OnlineGradientDescent
    from thalweg.learners.ons import OnlineNewtonStep as OnlineNewtonStep
    from thalweg.learners.restarts import RestartExperts as RestartExperts
    from thalweg.learners.rls import RecursiveLeastSquares as RecursiveLeastSquares
    from thalweg.learners.tracker import Tracker as Tracker
    from thalweg.learners.window import SlidingWindow as SlidingWindow

# A model of one learner loads no other.
__getattr__, __all__ = lazy_exports(__name__)
