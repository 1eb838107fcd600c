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
    figures = [stream_figure(study)] if _has_values(study.observed) else []
    if (recent := study.last_rounds) is not None and np.isfinite(recent.observed).any():
        figures.append(recent_rows_figure(study, recent))
    figures += [cumulative_error_figure(study), relative_error_figure(study)]
    if (history := study.history) is not None:
        if _has_values(history.memory):
            figures.append(memory_figure(history))
        if any(map(_has_values, history.weights.values())):
            figures.append(weights_figure(history))
        if any(map(_has_values, history.coefficients.values())):
            figures.append(coefficients_figure(history, len(study.features)))
    if study.hindsight is not None:
        figures.append(frontier_figure(study, study.hindsight))
    if study.regrets:
        figures.append(regret_figure(study.regrets))
    # A single level of coverage is a sentence of the summary, and needs no chart.
    if history is not None and len(history.coverage) > 1:
        figures.append(calibration_figure(history))
    return figures


def _has_values(curve: Curve) -> bool:
    return bool(np.isfinite(curve.mean).any())
