"""A model for every key on Spark (https://spark.apache.org): ``thalweg[spark]``."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.integrations.spark.key_backtest import backtest as backtest
    from thalweg.integrations.spark.key_stream import learn as learn
    from thalweg.integrations.spark.state_reader import export_models as export_models
    from thalweg.integrations.spark.state_reader import read_models as read_models
    from thalweg.integrations.spark.state_reader import to_online as to_online

# What is learnt from rows needs no Spark, nor do its tests.
__getattr__, __all__ = lazy_exports(__name__)
