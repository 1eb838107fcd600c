"""Online learning on drifting streams, with the regret measured.

docs/architecture.md is the map of the source: packages, five journeys of a call through
the files, and which files to edit for which change.
"""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg import bandits as bandits
    from thalweg import bounds as bounds
    from thalweg import discounts as discounts
    from thalweg import domains as domains
    from thalweg import errors as errors
    from thalweg import evaluation as evaluation
    from thalweg import forecasting as forecasting
    from thalweg import integrations as integrations
    from thalweg import keyed as keyed
    from thalweg import learners as learners
    from thalweg import losses as losses
    from thalweg import models as models
    from thalweg import persistence as persistence
    from thalweg import regret as regret
    from thalweg import streams as streams
    from thalweg import tables as tables
    from thalweg.domains import Ball as Ball
    from thalweg.domains import Box as Box
    from thalweg.domains import Ellipsoid as Ellipsoid
    from thalweg.domains import Everywhere as Everywhere
    from thalweg.domains import Polytope as Polytope
    from thalweg.domains import Simplex as Simplex
    from thalweg.forecasting import Forecaster as Forecaster
    from thalweg.forecasting.long_frames import cross_validation as cross_validation
    from thalweg.forecasting.long_frames import forecast as forecast
    from thalweg.keyed import KeyedModels as KeyedModels
    from thalweg.learners import Ader as Ader
    from thalweg.learners import AggregatingExperts as AggregatingExperts
    from thalweg.learners import ClippedRLS as ClippedRLS
    from thalweg.learners import ConstantStepGradient as ConstantStepGradient
    from thalweg.learners import DirectionalRLS as DirectionalRLS
    from thalweg.learners import DiscountedGradient as DiscountedGradient
    from thalweg.learners import DiscountedNewton as DiscountedNewton
    from thalweg.learners import Experts as Experts
    from thalweg.learners import FollowTheLeadingHistory as FollowTheLeadingHistory
    from thalweg.learners import GeneralLeastSquares as GeneralLeastSquares
    from thalweg.learners import LastValue as LastValue
    from thalweg.learners import LogisticTracker as LogisticTracker
    from thalweg.learners import OnlineGradientDescent as OnlineGradientDescent
    from thalweg.learners import OnlineNewtonStep as OnlineNewtonStep
    from thalweg.learners import RecursiveLeastSquares as RecursiveLeastSquares
    from thalweg.learners import RestartExperts as RestartExperts
    from thalweg.learners import SlidingWindow as SlidingWindow
    from thalweg.learners import Tracker as Tracker
    from thalweg.losses import Function as Function
    from thalweg.losses import Functions as Functions
    from thalweg.losses import Huber as Huber
    from thalweg.losses import LinearMap as LinearMap
    from thalweg.losses import Logistic as Logistic
    from thalweg.losses import SquaredError as SquaredError
    from thalweg.losses import Tracking as Tracking
    from thalweg.models import AdaptiveFilter as AdaptiveFilter
    from thalweg.models import Classifier as Classifier
    from thalweg.models import Online as Online
    from thalweg.models import Ticket as Ticket
    from thalweg.models import adaptive_filter as adaptive_filter
    from thalweg.types import Block as Block
    from thalweg.types import Interval as Interval
    from thalweg.types import Trace as Trace

__version__ = "0.1.0"

# `import thalweg` brings in neither numba nor scipy.
__getattr__, __all__ = lazy_exports(__name__)


def __dir__() -> list[str]:
    return __all__
