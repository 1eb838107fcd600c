"""Loss functions with their gradients, Hessians and constants."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.losses.base import Constants as Constants
    from thalweg.losses.base import Loss as Loss
    from thalweg.losses.base import Round as Round
    from thalweg.losses.functions import Function as Function
    from thalweg.losses.functions import Functions as Functions
    from thalweg.losses.huber import Huber as Huber
    from thalweg.losses.linear import LinearLoss as LinearLoss
    from thalweg.losses.linear_map import LinearMap as LinearMap
    from thalweg.losses.logistic import Logistic as Logistic
    from thalweg.losses.squared import SquaredError as SquaredError
    from thalweg.losses.tracking import Tracking as Tracking

__getattr__, __all__ = lazy_exports(__name__)
