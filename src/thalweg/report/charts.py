"""All figures of a study, in the order in which a page shows them."""

import numpy as np

from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.study import Study
from thalweg.report.chart_elements import Figure
from thalweg.report.error_charts import cumulative_error_figure, relative_error_figure
from thalweg.report.frontier_chart import frontier_figure
from thalweg.report.regret_chart import regret_figure
from thalweg.report.stream_charts import recent_rows_figure, stream_figure
from thalweg.report.tracker_charts import (
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
    if (recent := study.last_rounds) is not None and np.isfinite(recent.observed).any():
        figures.append(recent_rows_figure(study, recent))
    # A single level of coverage is a tile, and needs no chart.
    if (history := study.history) is not None:
        if len(history.coverage) > 1:
            figures.append(calibration_figure(history))
        if _has_values(history.memory):
            figures.append(memory_figure(history))
    return figures


def learner_figures(study: Study) -> list[Figure]:
    """The errors of all learners over the rows."""
    return [cumulative_error_figure(study), relative_error_figure(study)]


def coefficient_figures(study: Study) -> list[Figure]:
    """The coefficients of the features over the rows."""
    history = study.history
    if history is None or not any(map(_has_values, history.coefficients.values())):
        return []
    return [coefficients_figure(history, len(study.features))]


def expert_figures(study: Study) -> list[Figure]:
    """The weights of the experts over the rows."""
    history = study.history
    if history is None or not any(map(_has_values, history.weights.values())):
        return []
    return [weights_figure(history)]


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
