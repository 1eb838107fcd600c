"""The charts of a study as files for papers: PNG, SVG and PDF."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import vl_convert

from thalweg.errors import InvalidParameterError
from thalweg.report.charts.chart_elements import VEGA_LITE, Figure
from thalweg.report.charts.theme import LIGHT, vega_config
from thalweg.report.section import Section

KINDS = ("png", "svg", "pdf")
POINTER_STYLES = ("hover", "touch")
"""The styles of marks that only a pointer can show."""
WIDTH = 640
"""The width of a figure in pixels, without its axes."""


def write_figures(
    content: Sequence[Section], folder: Path, kinds: Sequence[str] = KINDS
) -> list[Path]:
    """Write all figures of sections, a file of each kind; their paths."""
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidParameterError(
                f"The 'kinds' parameter of write_figures takes {', '.join(KINDS)}. "
                f"Got {kind!r} instead."
            )
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for part, prefix in zip(content, _prefixes(content), strict=True):
        for figure in part.all_figures():
            for kind in kinds:
                path = folder / f"{prefix}{figure.name}.{kind}"
                path.write_bytes(_render(figure, kind))
                saved.append(path)
    return saved


def _render(figure: Figure, kind: str) -> bytes:
    spec = _without_pointer_marks(figure.chart.to_dict())
    spec |= {"config": vega_config(LIGHT), "width": WIDTH, "background": "white"}
    spec |= {"title": figure.title, "padding": 10}
    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).encode()
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=VEGA_LITE)
    return vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=2)


def _without_pointer_marks(spec: dict[str, Any]) -> dict[str, Any]:
    """The specification without the invisible marks that only a pointer shows."""
    layers = [
        layer
        for layer in spec["layer"]
        if layer["mark"].get("style") not in POINTER_STYLES
    ]
    params = [param for param in spec.get("params", []) if param["name"] != "near"]
    return spec | {"layer": layers, "params": params}


def _prefixes(content: Sequence[Section]) -> list[str]:
    """The prefixes of file names: none for a single one, else number and title."""
    if len(content) == 1:
        return [""]
    return [f"{k}-{_slug(part.title)}-" for k, part in enumerate(content, 1)]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "study"
