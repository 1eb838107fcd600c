"""Colours and styles of pages and charts: light, dark and for print."""

from dataclasses import asdict, dataclass
from typing import Any

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
"""One stack for the page and its figures. Where none of the first is installed, their
metric twin Liberation Sans is used, which the program that draws figures has with it.
"""
LABEL_LIMIT = 230
"""Pixels: a longer name is cut in a legend, and complete in the tooltip."""
DASHES = (
    [1, 0],
    [2, 3],
    [9, 3],
    [6, 2, 2, 2],
    [5, 2],
    [12, 3, 2, 3],
    [3, 2],
    [9, 2, 2, 2, 2, 2],
)
"""A dash pattern for each series colour: lines differ without colours as well."""


@dataclass(frozen=True)
class Colours:
    """The colours of a page or a figure."""

    paper: str
    card: str
    ink: str  # at least 7 : 1 on paper and card
    muted: str  # for captions, at least 4.5 : 1
    grid: str
    accent: str  # the Tracker, and links
    warm: str  # errors and abrupt changes
    series: tuple[str, ...]  # distinct with any kind of colour blindness

    def css_variables(self) -> dict[str, str]:
        """The colours by the names of the style sheet's variables."""
        colours = asdict(self)
        series = colours.pop("series")
        return colours | {f"series-{k}": colour for k, colour in enumerate(series)}


LIGHT = Colours(
    paper="#f7f8fa",
    card="#ffffff",
    ink="#1b2a41",
    muted="#52606d",
    grid="#e4e8ee",
    accent="#0b62a8",
    warm="#c2374b",
    series=(
        "#0b62a8",
        "#6b7280",
        "#d9480f",
        "#3f5b2c",
        "#c964b4",
        "#9a8058",
        "#2b90fd",
        "#5b2a6e",
    ),
)
DARK = Colours(
    paper="#0e1217",
    card="#14181f",
    ink="#e6ebf2",
    muted="#a3afbf",
    grid="#2a313c",
    accent="#5aa9f0",
    warm="#ff7b8a",
    series=(
        "#5aa9f0",
        "#8b93a1",
        "#d6763d",
        "#2fdc9b",
        "#e6b9e7",
        "#e8a807",
        "#c8f3f9",
        "#9d5bc4",
    ),
)
# The charts of a page use the variables of its style sheet, so that they follow it
# from light to dark and to print without being drawn again.
CSS_COLOURS = Colours(
    series=tuple(f"var(--series-{k})" for k in range(len(DASHES))),
    **{name: f"var(--{name})" for name in asdict(LIGHT) if name != "series"},
)


def vega_config(colours: Colours) -> dict[str, Any]:
    """The configuration of Vega-Lite; charts name styles, and never colours."""
    text = {"labelColor": colours.ink, "titleColor": colours.muted}
    axis = {"domainColor": colours.muted, "tickColor": colours.muted}
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "title": {
            "color": colours.ink,
            "anchor": "start",
            "fontSize": 15,
            "offset": 12,
        },
        "axis": {**text, **axis, "gridColor": colours.grid, "titleFontWeight": 400}
        | {"labelFontSize": 11, "titleFontSize": 12, "labelOverlap": True},
        "legend": {**text, "labelFontSize": 12, "symbolStrokeWidth": 2}
        | {"symbolOpacity": 1}
        | {"orient": "top", "unselectedOpacity": 0.3, "labelLimit": LABEL_LIMIT},
        "range": {"category": list(colours.series)},
        "style": _styles(colours),
        "line": {"strokeCap": "round", "strokeJoin": "round"},
    }


def _styles(colours: Colours) -> dict[str, Any]:
    """The styles of marks by what they mean."""
    return {
        "tracker": {"color": colours.accent, "strokeWidth": 2},
        "forecast": {"color": colours.accent, "strokeWidth": 1.3},
        "band": {"color": colours.accent, "opacity": 0.18},
        "bar": {"color": colours.accent, "opacity": 0.85},
        "observed": {"color": colours.muted, "strokeWidth": 1.2},
        "range": {"color": colours.muted, "opacity": 0.25},
        "alarm": {"color": colours.warm, "strokeDash": [4, 3], "strokeWidth": 1.3},
        "flag": {"color": colours.warm, "filled": True, "opacity": 1},
        "hover": {"color": colours.muted, "strokeWidth": 1},
        "reference": {"color": colours.muted, "strokeDash": [4, 3]},
        "frontier": {"color": colours.ink, "strokeWidth": 2},
        "learner": {"filled": True, "opacity": 1, "stroke": colours.card},
        "link": {"color": colours.muted, "strokeWidth": 1},
        "measured": {"color": colours.accent, "filled": True, "opacity": 1},
        "bound": {"color": colours.warm, "filled": True, "opacity": 1},
        "separator": {"stroke": colours.card, "strokeWidth": 0.8, "fillOpacity": 0.85},
    }
