"""Which features carry the forecast: the mean size of what each adds to it."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from thalweg.report.charts.chart_elements import (
    NUMBER_LABEL,
    TOOLTIP_FORMAT,
    Figure,
    base_chart,
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
