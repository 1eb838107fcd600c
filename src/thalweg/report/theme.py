"""Colours and the look of charts, for paper and for screens, light and dark."""

from dataclasses import asdict, dataclass
from typing import Any

FONT = "Helvetica, Arial, sans-serif"
LABEL_LIMIT = 230
"""Pixels; a longer name in a legend is cut, and whole in the tooltip."""
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
"""One for each series colour: lines differ for those who see no colours, too."""


@dataclass(frozen=True)
class Colours:
    """What a page or a figure is painted with."""

    paper: str
    card: str
    ink: str  # at least 7 : 1 on paper and card
    muted: str  # for captions, at least 4.5 : 1
    grid: str
    accent: str  # what belongs to the Tracker, and links
    warm: str  # what went wrong, or changed
    series: tuple[str, ...]  # told apart with any kind of colour blindness

    def variables(self) -> dict[str, str]:
        """By the names that the page's style sheet gives them."""
        named = asdict(self)
        shades = named.pop("series")
        return named | {f"series-{k}": shade for k, shade in enumerate(shades)}


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
# A page's charts are painted with its style sheet's variables, so that they follow
# it from light to dark and onto paper without being drawn again.
STYLED = Colours(
    series=tuple(f"var(--series-{k})" for k in range(len(DASHES))),
    **{name: f"var(--{name})" for name in asdict(LIGHT) if name != "series"},
)


def config(colours: Colours) -> dict[str, Any]:
    """Vega-Lite's configuration; charts themselves name styles, never colours."""
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
    """The marks that have a meaning of their own."""
    return {
        "tracker": {"color": colours.accent, "strokeWidth": 2},
        "forecast": {"color": colours.accent, "strokeWidth": 1.3},
        "band": {"color": colours.accent, "opacity": 0.18},
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
