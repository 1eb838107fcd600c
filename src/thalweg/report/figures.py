"""The charts of a study as files for papers: PNG, SVG and PDF."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import vl_convert

from thalweg.errors import InvalidParameterError
from thalweg.evaluation.study import Study
from thalweg.report.charts import VEGA_LITE, Figure, figures
from thalweg.report.theme import LIGHT, config

KINDS = ("png", "svg", "pdf")
FOR_POINTERS = ("hover", "touch")
WIDTH = 640
"""Of a figure in pixels, its axes not counted."""


def write_figures(
    studies: Sequence[Study], folder: Path, kinds: Sequence[str] = KINDS
) -> list[Path]:
    """Every chart of every study, as one file of each kind; the paths of the files."""
    for kind in kinds:
        if kind not in KINDS:
            raise InvalidParameterError(
                f"The 'kinds' parameter of write_figures knows {', '.join(KINDS)}. "
                f"Got {kind!r} instead."
            )
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for study, prefix in zip(studies, _prefixes(studies), strict=True):
        for figure in figures(study):
            for kind in kinds:
                path = folder / f"{prefix}{figure.name}.{kind}"
                path.write_bytes(_drawn(figure, kind))
                saved.append(path)
    return saved


def _drawn(figure: Figure, kind: str) -> bytes:
    spec = _still(figure.chart.to_dict())
    spec |= {"config": config(LIGHT), "width": WIDTH, "background": "white"}
    spec |= {"title": figure.title, "padding": 10}
    if kind == "svg":
        return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).encode()
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=VEGA_LITE)
    return vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=2)


def _still(spec: dict[str, Any]) -> dict[str, Any]:
    """Without the invisible marks that wait for a pointer."""
    layers = [
        layer
        for layer in spec["layer"]
        if layer["mark"].get("style") not in FOR_POINTERS
    ]
    params = [param for param in spec.get("params", []) if param["name"] != "near"]
    return spec | {"layer": layers, "params": params}


def _prefixes(studies: Sequence[Study]) -> list[str]:
    """Before the file names: nothing for a single study, else number and title."""
    if len(studies) == 1:
        return [""]
    return [f"{k}-{_slug(study.title)}-" for k, study in enumerate(studies, 1)]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "study"
