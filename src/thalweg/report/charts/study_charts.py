"""All figures of a study, in the order in which a page shows them."""

import numpy as np

from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.study import LastRounds, Study
from thalweg.report.charts.chart_elements import Figure
from thalweg.report.charts.effects_chart import effects_figure
from thalweg.report.charts.error_charts import (
    cumulative_error_figure,
    relative_error_figure,
)
from thalweg.report.charts.frontier_chart import frontier_figure
from thalweg.report.charts.regret_chart import regret_figure
from thalweg.report.charts.residual_charts import (
    coverage_figure,
    error_over_time_figure,
    residual_figure,
)
from thalweg.report.charts.stream_charts import recent_rows_figure, stream_figure
from thalweg.report.charts.tracker_charts import (
    calibration_figure,
    coefficients_figure,
    memory_figure,
    weights_figure,
)


def study_figures(study: Study) -> list[Figure]:
    """Every figure that the study has numbers for."""
    return [
        *main_figures(study),
        *learner_figures(study),
        *coefficient_figures(study),
        *expert_figures(study),
        *hindsight_figures(study),
    ]


def main_figures(study: Study) -> list[Figure]:
    """The figures that every reader sees: forecasts, errors, bands, memory."""
    figures = [stream_figure(study)] if _has_values(study.observed) else []
    if _has_more_detail(study.last_rounds, study.observed):
        assert study.last_rounds is not None
        figures.append(recent_rows_figure(study, study.last_rounds))
    if (error := error_over_time_figure(study)) is not None:
        figures.append(error)
    if study.residuals is not None:
        figures.append(residual_figure(study, study.residuals))
    if study.bands is not None:
        coverage = coverage_figure(study, study.bands)
        figures += [] if coverage is None else [coverage]
    # A single level of coverage is a tile, and needs no chart.
    if (history := study.history) is not None and len(history.coverage) > 1:
        figures.append(calibration_figure(history))
    if study.effects and any(study.effects.values()):
        figures.append(effects_figure(study.target, study.effects))
    if history is not None and _has_values(history.memory):
        figures.append(memory_figure(study, history))
    return figures


def _has_more_detail(last: LastRounds | None, observed: Curve) -> bool:
    """Whether the last rows one by one show more than the curve of all rows."""
    if last is None or not np.isfinite(last.observed).any():
        return False
    return bool(observed.last_round[0] > 1)


def learner_figures(study: Study) -> list[Figure]:
    """The errors of all learners over the rows."""
    return [cumulative_error_figure(study), relative_error_figure(study)]


def coefficient_figures(study: Study) -> list[Figure]:
    """The coefficients of the features over the rows."""
    history = study.history
    if history is None or not any(map(_has_values, history.coefficients.values())):
        return []
    return [coefficients_figure(study, history)]


def expert_figures(study: Study) -> list[Figure]:
    """The weights of the experts over the rows."""
    history = study.history
    if history is None or not any(map(_has_values, history.weights.values())):
        return []
    return [weights_figure(study, history)]


def hindsight_figures(study: Study) -> list[Figure]:
    """What hindsight could have done, and regret against it."""
    figures = []
    if study.hindsight is not None:
        figures.append(frontier_figure(study, study.hindsight))
    if study.regrets:
        figures.append(regret_figure(study.regrets))
    return figures


def _has_values(curve: Curve) -> bool:
    return bool(np.isfinite(curve.mean).any())
