"""Charts of results, drawn with altair, which is imported when the first is drawn."""

from typing import TYPE_CHECKING

from thalweg.lazy import lazy_exports

if TYPE_CHECKING:
    from thalweg.report.charts.classification_charts import (
        classification_figures as classification_figures,
    )
    from thalweg.report.charts.forecast_charts import forecast_figure as forecast_figure
    from thalweg.report.charts.forecast_charts import (
        step_error_figure as step_error_figure,
    )
    from thalweg.report.charts.study_charts import (
        coefficient_figures as coefficient_figures,
    )
    from thalweg.report.charts.study_charts import expert_figures as expert_figures
    from thalweg.report.charts.study_charts import (
        hindsight_figures as hindsight_figures,
    )
    from thalweg.report.charts.study_charts import learner_figures as learner_figures
    from thalweg.report.charts.study_charts import main_figures as main_figures

__getattr__, __all__ = lazy_exports(__name__)
