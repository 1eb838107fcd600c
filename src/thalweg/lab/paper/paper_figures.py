"""Figures of the paper's rates, of its trade-off and of other algorithms."""

from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from thalweg.lab.paper.reproduction import Reproduction
from thalweg.report.theme import LIGHT

INK, ACCENT, WARM = LIGHT.ink, LIGHT.accent, LIGHT.warm
FORMATS = ("png", "svg")
DECADES = [10.0**k for k in range(-3, 7)]


def save_figures(reproduction: Reproduction, folder: Path) -> list[Path]:
    """Draw all figures into ``folder``; the paths of the files."""
    charts = {
        "rates": rates_chart(reproduction),
        "tradeoff": tradeoff_chart(reproduction),
        "rivals": rivals_chart(reproduction),
    }
    saved = []
    for name, chart in charts.items():
        for kind in FORMATS:
            path = folder / f"{name}.{kind}"
            chart.save(str(path), scale_factor=2)
            saved.append(path)
    return saved


def rates_chart(reproduction: Reproduction) -> Any:
    """Regret and its bound against T, one panel a step rule and kind of regret."""
    results = [one for one in reproduction.results if one.tradeoff is not None]
    rows = []
    for result in results:
        for horizon in sorted(set(result.horizons)):
            at_horizon = np.array(result.horizons) == horizon
            for series, values in (
                ("measured", result.regret),
                ("bound", result.bound),
            ):
                rows.append(
                    {
                        "T": horizon,
                        "regret": float(
                            np.exp(np.log(np.array(values)[at_horizon]).mean())
                        ),
                        "what": series,
                        "β": f"{result.tradeoff:g}",
                        "panel": result.setting,
                    }
                )
    panels = list(dict.fromkeys(str(row["panel"]) for row in rows))
    horizons = sorted({horizon for result in results for horizon in result.horizons})
    base = _chart(rows).encode(
        x=alt.X("T:Q", title="rounds T")
        .scale(type="log", nice=False)
        .axis(values=horizons, format="~s"),
        y=alt.Y("regret:Q", title="regret").scale(type="log").axis(values=DECADES),
        color=alt.Color("β:N", title="β").scale(range=[ACCENT, WARM, INK]),
    )
    panel = _lines_and_points(base).properties(width=190, height=150)
    chart = panel.facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=4)
    return _with_title(chart, "Measured regret and its bound, γ = 1 - T^-β")


def tradeoff_chart(reproduction: Reproduction) -> Any:
    """Static and dynamic regret and their bounds against β."""
    curve, rows = reproduction.tradeoff, []
    for name in ("static", "dynamic"):
        for series, values in (
            ("measured", getattr(curve, name)),
            ("bound", getattr(curve, f"{name}_bound")),
        ):
            for beta, value in zip(curve.beta, values, strict=True):
                drift = "nothing moves" if name == "static" else "θ jumps"
                rows.append({"β": beta, "regret": value, "what": series, "when": drift})
    base = _chart(rows).encode(
        x=alt.X("β:Q", title="β: the memory is T^β rounds").scale(zero=False),
        y=alt.Y("regret:Q", title="regret").scale(type="log").axis(values=DECADES),
        color=alt.Color("when:N", title=None).scale(range=[ACCENT, WARM]),
    )
    chart = _lines_and_points(base).properties(width=420, height=280)
    return _with_title(
        chart, f"What a longer memory costs and saves, T = {curve.horizon}"
    )


def rivals_chart(reproduction: Reproduction) -> Any:
    """Regret of each learner over that of the best fixed discount."""
    regrets, rows = reproduction.rivals, []
    for kind, row in zip(regrets.kinds, regrets.regret, strict=True):
        for name, value in zip(regrets.learners[1:], row[1:], strict=True):
            rows.append({"stream": kind, "learner": name, "ratio": value / row[0]})
    cells = _chart(rows).encode(
        x=alt.X("learner:N", title=None, sort=regrets.learners).axis(
            orient="top", labelAngle=0, domain=False, ticks=False
        ),
        y=alt.Y("stream:N", title=None, sort=regrets.kinds).axis(
            domain=False, ticks=False
        ),
    )
    heat = cells.mark_rect().encode(
        color=alt.Color("ratio:Q", legend=None).scale(
            type="log", scheme="blues", domain=[0.5, 40], clamp=True
        )
    )
    text = cells.mark_text(fontSize=13).encode(
        text=alt.Text("ratio:Q", format=".1f"),
        color=alt.condition("datum.ratio > 6", alt.value("white"), alt.value(INK)),
    )
    title = "Dynamic regret over that of the best discount in hindsight"
    return _with_title((heat + text).properties(width=460, height=230), title)


def _chart(rows: list[dict[str, Any]]) -> Any:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def _lines_and_points(base: Any) -> Any:
    """Solid with points for what was measured, dashed for what the theory allows."""
    dash = alt.StrokeDash("what:N", title=None).scale(
        domain=["measured", "bound"], range=[[1, 0], [4, 3]]
    )
    lines = base.mark_line(strokeWidth=1.8).encode(
        strokeDash=dash.legend(symbolType="stroke", symbolSize=300)
    )
    points = base.mark_circle(size=24).transform_filter("datum.what == 'measured'")
    return lines + points


def _with_title(chart: Any, title: str) -> Any:
    return (
        chart.properties(title=title)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_title(fontSize=15, anchor="start", color=INK, offset=12)
        .configure_axis(gridColor=LIGHT.grid, domainColor="#9aa5b1", labelColor=INK)
        .configure_view(stroke=None)
    )
