"""What users hold and mutate: a model, a classifier, a filter, many models by key."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.models.adaptive_filters import AdaptiveFilter as AdaptiveFilter
    from thalweg.models.adaptive_filters import adaptive_filter as adaptive_filter
    from thalweg.models.classifier import Classifier as Classifier
    from thalweg.models.forecast import Backtest as Backtest
    from thalweg.models.forecast import Forecast as Forecast
    from thalweg.models.forecaster import Forecaster as Forecaster
    from thalweg.models.keyed import KeyedModels as KeyedModels
    from thalweg.models.online import Online as Online
    from thalweg.models.tickets import Ticket as Ticket

_MODULE_OF = {
    "AdaptiveFilter": "adaptive_filters",
    "Backtest": "forecast",
    "Classifier": "classifier",
    "Forecast": "forecast",
    "Forecaster": "forecaster",
    "KeyedModels": "keyed",
    "Online": "online",
    "Ticket": "tickets",
    "adaptive_filter": "adaptive_filters",
}

__all__ = sorted(_MODULE_OF)

# KeyedModels needs a lock that only POSIX systems have.
__getattr__ = lazy_exports(__name__, _MODULE_OF)
