"""All figures of a study, in the order in which a page shows them."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from thalweg.evaluation.downsampling import Curve
from thalweg.evaluation.study import LastRounds, Study
from thalweg.report.charts.chart_elements import (
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Figure,
    base_chart,
)
from thalweg.report.charts.error_charts import (
    coverage_figure,
    cumulative_error_figure,
    error_over_time_figure,
    relative_error_figure,
    residual_figure,
)
from thalweg.report.charts.hindsight_charts import frontier_figure, regret_figure
from thalweg.report.charts.stream_charts import recent_rows_figure, stream_figure
from thalweg.report.charts.tracker_charts import (
    calibration_figure,
    coefficients_figure,
    memory_figure,
    weights_figure,
)

MAX_BARS = 12
BAR_HEIGHT = 24
"""Pixels from one bar to the next."""
NAME_WIDTH = 190
"""Pixels for a name; a longer one is cut, and complete in the tooltip."""


CALENDAR_WORDS = {
    "hour": "time of day",
    "weekday": "day of the week",
    "year": "time of the year",
}
"""What a pair of a sine and a cosine stands for."""


def effects_figure(target: str, effects: Mapping[str, float]) -> Figure:
    """A bar for each feature, the largest first."""
    ordered = sorted(_join_waves(effects).items(), key=lambda item: -item[1])
    shown = ordered[:MAX_BARS]
    names, sizes = zip(*shown, strict=True)
    bars = base_chart({"name": list(names), "size": np.array(sizes)})
    x = alt.X("size:Q", title=f"moves the forecast by, in units of {target}")
    y = alt.Y("name:N", title=None, sort=None)
    chart = alt.layer(
        bars.mark_bar(style="bar", cornerRadiusEnd=2).encode(
            x=x.axis(labelExpr=NUMBER_LABEL, tickCount=5),
            y=y.axis(labelLimit=NAME_WIDTH, ticks=False, domain=False, labelPadding=6),
            tooltip=[
                alt.Tooltip("name:N", title="feature"),
                alt.Tooltip("size:Q", title="moves it by", format=TOOLTIP_FORMAT),
            ],
        )
    ).properties(
        width="container",
        height=BAR_HEIGHT * len(shown),
        description=f"Bars of {len(shown)} features by how much they move forecasts.",
    )
    caption = (
        "How much each feature moves the forecast up or down, on average over the "
        "rows: the size of its coefficient times how far the feature is from its own "
        "mean. What no feature explains comes from past values of the target."
    )
    if len(ordered) > len(shown):
        caption += f" {len(ordered) - len(shown)} smaller ones are not drawn."
    return Figure("effects", "What the forecast is based on", caption, chart)


def _join_waves(effects: Mapping[str, float]) -> dict[str, float]:
    """The effects, those of a sine and a cosine of one angle as one."""
    joined: dict[str, float] = {}
    for name, size in effects.items():
        stem, _, wave = name.rpartition(" ")
        if wave in ("sin", "cos") and stem in CALENDAR_WORDS:
            name = CALENDAR_WORDS[stem]
        joined[name] = float(np.hypot(joined.get(name, 0.0), size))
    return joined


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
