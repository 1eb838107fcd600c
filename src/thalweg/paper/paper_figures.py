"""Figures for a talk: exponents, rates, the tight stream, the trade-off, the rivals."""

import math
from json import dumps
from pathlib import Path
from typing import Any

import altair as alt

from thalweg.paper.claim_result import ClaimResult
from thalweg.paper.path_length_claims import MANY_JUMPS
from thalweg.paper.reproduction import Reproduction
from thalweg.paper.rival_regrets import MIXTURE
from thalweg.report.charts.theme import LIGHT

INK, ACCENT, WARM, MUTED = LIGHT.ink, LIGHT.accent, LIGHT.warm, LIGHT.muted
FORMATS = ("png", "svg")
DECADES = [10.0**k for k in range(-3, 8)]
SERIES: dict[str, list[float]] = {
    "measured": [1, 0],
    "bound": [7, 4],
    "leading term": [1.5, 3],
}
"""The dash pattern of what was measured, and of what the theory says."""
PANEL_SPACING = 36
"""Pixels between panels, so that the labels of their axes do not meet."""
EXPONENTS = ("theory", "bound", "fitted", "low", "high")
MAX_LABEL = 400
"""Pixels: labels of the exponents' rows are never cut."""


def save_figures(reproduction: Reproduction, folder: Path) -> list[Path]:
    """Draw all figures into ``folder``; the paths of the files."""
    charts = {
        "exponents": exponents_chart(reproduction),
        "rates": rates_chart(reproduction),
        "tight": tight_chart(reproduction),
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


def exponents_chart(reproduction: Reproduction) -> Any:
    """Fitted exponents with their intervals, beside the theory's and the bound's."""
    rows = []
    for result in reproduction.results:
        fit = result.growth
        if fit is not None:
            rows.append(
                {
                    "claim": _row_label(result),
                    "theory": result.theory_exponent,
                    "bound": result.bound_exponent,
                    "fitted": fit.exponent,
                    "low": fit.low,
                    "high": fit.high,
                }
            )
    y = alt.Y("claim:N", title=None, sort=[str(row["claim"]) for row in rows])
    base = _chart(rows).encode(y=y.axis(grid=True, labelLimit=MAX_LABEL))
    x = alt.X("low:Q", title="exponent of T").scale(domain=exponent_range(rows))
    interval = base.mark_rule(strokeWidth=5, opacity=0.35, color=ACCENT).encode(
        x=x, x2="high:Q"
    )
    kinds = ["fitted, with 95 % interval", "theory", "the bound's own slope"]
    colour = alt.Color("kind:N", title=None).scale(
        domain=kinds, range=[ACCENT, WARM, MUTED]
    )
    shape = alt.Shape("kind:N", title=None).scale(
        domain=kinds, range=["circle", "diamond", "square"]
    )
    points = [
        base.transform_calculate(kind=dumps(kind))
        .mark_point(size=size, filled=True, opacity=1)
        .encode(x=alt.X(f"{field}:Q"), color=colour.legend(orient="top"), shape=shape)
        for field, kind, size in zip(
            ("fitted", "theory", "bound"), kinds, (60, 70, 35), strict=True
        )
    ]
    chart = alt.layer(interval, points[2], points[1], points[0])
    chart = chart.properties(width=460, height=alt.Step(17))
    title = "How regret grows with T: measured, and by the theory"
    first = max(result.fit_from for result in reproduction.results)
    return _with_title(chart, title, f"Fitted to T ≥ {first:,}.")


def exponent_range(rows: list[dict[str, Any]]) -> list[float]:
    """From the least to the largest exponent or end of an interval, in whole tenths."""
    ends = [row[name] for row in rows for name in EXPONENTS]
    return [math.floor(10 * min(ends)) / 10, math.ceil(10 * max(ends)) / 10]


def rates_chart(reproduction: Reproduction) -> Any:
    """Regret, its bound and its leading term against T, one panel a claim."""
    rows, panels = [], list[str]()
    for result in reproduction.results:
        if result.tradeoff is not None and not result.claim.startswith("Thm. 1"):
            panel = f"{result.claim}, {result.learner}, {_against(result)}"
            panels.append(panel)
            series = {
                "measured": result.means("regret"),
                "bound": result.means("bound"),
                "leading term": _leading_terms(result),
            }
            rows += [
                {
                    "T": T, "regret": value, "what": what, "panel": panel,
                    "β": f"{result.tradeoff:g}",
                }
                for what, values in series.items()
                for T, value in zip(result.unique_horizons, values, strict=True)
            ]  # fmt: skip
    base = _chart(rows).encode(
        x=_rounds_axis(sorted({int(row["T"]) for row in rows})),  # type: ignore[call-overload]
        y=alt.Y("regret:Q", title="regret").scale(type="log").axis(values=DECADES),
        color=alt.Color("β:N", title="β").scale(range=[ACCENT, WARM, INK]),
    )
    lines = _lines_and_points(base, list(SERIES))
    facet = alt.Facet("panel:N", title=None, sort=list(dict.fromkeys(panels)))
    chart = lines.properties(width=210, height=170).facet(
        facet=facet, columns=4, spacing=PANEL_SPACING
    )
    title = "Regret with γ = 1 - T^-β, its bound and its leading term"
    return _with_title(chart, title)


def tight_chart(reproduction: Reproduction) -> Any:
    """Regret over √(TV) on the stream that makes √(TV) tight."""
    rows, limits = [], []
    for result in reproduction.results:
        if result.stream == MANY_JUMPS:
            name = f"{result.claim}: {result.learner}"
            ratios = result.ratios_to_rate()
            rows += [
                {"T": T, "ratio": ratio, "learner": name}
                for T, ratio in zip(result.unique_horizons, ratios, strict=True)
            ]
            if result.constant is not None:
                limits.append({"limit": result.constant, "learner": name})
    names = list(dict.fromkeys(str(row["learner"]) for row in rows))
    colour = alt.Color("learner:N", title=None, sort=names).scale(
        range=list(LIGHT.series)
    )
    x = _rounds_axis(sorted({int(row["T"]) for row in rows}))  # type: ignore[call-overload]
    y = alt.Y("ratio:Q", title="regret / √(TV)").scale(domainMin=0)
    base = _chart(rows).encode(x=x, y=y, color=colour.legend(labelLimit=MAX_LABEL))
    lines = base.mark_line(strokeWidth=2.5) + base.mark_circle(size=60, opacity=1)
    rules = (
        _chart(limits)
        .mark_rule(strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="limit:Q", color=colour)
    )
    chart = (rules + lines).properties(width=480, height=320)
    return _with_title(
        chart,
        "√(TV) is the true rate of discounted learners",
        "Coins around a mean that jumps √T/4 times. Dashed: the constants, computed to "
        "leading order.",
    )


def tradeoff_chart(reproduction: Reproduction) -> Any:
    """Static and dynamic regret of the same runs, and their bounds, against β."""
    rows = []
    for curve in reproduction.tradeoff:
        for name in ("static", "dynamic"):
            for what, values in (
                ("measured", getattr(curve, name)),
                ("bound", getattr(curve, f"{name}_bound")),
            ):
                rows += [
                    {"β": b, "regret": v, "what": what, "kind": name, "n": curve.stream}
                    for b, v in zip(curve.beta, values, strict=True)
                ]
    curves = reproduction.tradeoff
    ticks = [-10_000, -1000, -100, 0, 100, 1000, 10_000, 100_000, 1_000_000]
    base = _chart(rows).encode(
        x=alt.X("β:Q", title="β: the memory is T^β rounds")
        .scale(zero=False)
        .axis(values=[0.1, 0.3, 0.5, 0.7, 0.9], labelFlush=False),
        y=alt.Y("regret:Q", title="regret")
        .scale(type="symlog", constant=10)
        .axis(values=ticks, format=",d"),
        color=alt.Color("kind:N", title=None, sort=["static", "dynamic"]).scale(
            range=[ACCENT, WARM]
        ),
    )
    series = ["measured", "bound"]
    panel = _lines_and_points(base, series, size=30).properties(width=250, height=300)
    facet = alt.Facet("n:N", title=None, sort=[curve.stream for curve in curves])
    return _with_title(
        panel.facet(facet=facet, columns=3, spacing=PANEL_SPACING),
        f"What a longer memory costs and saves, T = {curves[0].horizon:,}",
        "Static and dynamic regret of the same predictions: they differ by what the "
        "moving comparator gains.",
    )


def rivals_chart(reproduction: Reproduction) -> Any:
    """Regret of each learner over that of the paper's mixture."""
    regrets, rows = reproduction.rivals, []
    mixture = regrets.learners.index(MIXTURE)
    for kind, row in zip(regrets.kinds, regrets.regret, strict=True):
        for name, value in zip(regrets.learners, row, strict=True):
            if name != MIXTURE:
                ratio = value / row[mixture]
                rows.append({"stream": kind, "learner": name, "ratio": ratio})
    names = [name for name in regrets.learners if name != MIXTURE]
    cells = _chart(rows).encode(
        x=alt.X("learner:N", title=None, sort=names).axis(
            orient="top", labelAngle=0, domain=False, ticks=False
        ),
        y=alt.Y("stream:N", title=None, sort=regrets.kinds).axis(
            domain=False, ticks=False
        ),
    )
    colour = alt.Color("ratio:Q", legend=None).scale(
        type="log",
        range=[ACCENT, "#f4f5f7", WARM],
        domain=[0.1, 1, 10],
        clamp=True,
        interpolate="rgb",
    )
    text = cells.mark_text(fontSize=16).encode(
        text=alt.Text("ratio:Q", format=".2f"),
        color=alt.condition(
            "datum.ratio > 4 || datum.ratio < 0.25", alt.value("white"), alt.value(INK)
        ),
    )
    heat = cells.mark_rect(stroke="white", strokeWidth=2).encode(color=colour)
    return _with_title(
        (heat + text).properties(width=500, height=270),
        f"Dynamic regret over that of the paper's mixture, T = {regrets.horizon:,}",
        "Blue: less than the mixture. The first column is the best discount in "
        "hindsight.",
    )


def _against(result: ClaimResult) -> str:
    return "static" if result.comparator == "fixed" else "dynamic"


def _row_label(result: ClaimResult) -> str:
    beta = "" if result.tradeoff is None else f", β = {result.tradeoff:g}"
    return f"{result.claim}: {result.learner}{beta}; {result.stream}"


def _leading_terms(result: ClaimResult) -> list[float]:
    constant = result.constant or float("nan")
    return [constant * rate for rate in result.means("rate")]


def _rounds_axis(horizons: list[int]) -> Any:
    return (
        alt.X("T:Q", title="rounds T")
        .scale(type="log", nice=False)
        .axis(values=horizons, format="~s", labelFlush=False)
    )


def _chart(rows: list[dict[str, Any]]) -> Any:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def _lines_and_points(base: Any, series: list[str], size: int = 40) -> Any:
    """Solid with points for what was measured, dashed for what the theory says."""
    dash = alt.StrokeDash("what:N", title=None).scale(
        domain=series, range=[SERIES[name] for name in series]
    )
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=dash.legend(symbolType="stroke", symbolSize=400)
    )
    points = base.mark_circle(size=size, opacity=1).transform_filter(
        "datum.what == 'measured'"
    )
    return lines + points


def _with_title(chart: Any, title: str, subtitle: str = "") -> Any:
    heading = alt.TitleParams(title, subtitle=subtitle or alt.Undefined)
    return (
        chart.properties(title=heading)
        .configure(background="white", font="Helvetica, Arial, sans-serif")
        .configure_title(
            fontSize=18, subtitleFontSize=14, subtitleColor=MUTED, anchor="start",
            color=INK, offset=14,
        )
        .configure_axis(
            gridColor=LIGHT.grid, domainColor="#9aa5b1", labelColor=INK,
            labelFontSize=12, titleFontSize=14, titleColor=INK,
        )
        .configure_header(labelFontSize=14, labelColor=INK)
        .configure_legend(labelFontSize=13, titleFontSize=13, labelColor=INK)
        .configure_view(stroke=None)
    )  # fmt: skip
