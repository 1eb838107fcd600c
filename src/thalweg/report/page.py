"""One HTML file that holds all it shows: no network, light and dark, for print too."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from thalweg.errors import InvalidParameterError
from thalweg.evaluation.study import Study
from thalweg.evaluation.summary import summary
from thalweg.report.charts import VEGA_LITE, Figure, figures
from thalweg.report.tables import facts, learners, ratio
from thalweg.report.theme import DARK, LIGHT, STYLED, config

ASSETS = Path(__file__).parent / "assets"
TO_GLOBALS = "window.vegaEmbed = vegaEmbed;"


def write_page(studies: Sequence[Study], path: Path) -> None:
    """Write the report on these streams to ``path``, a section a stream."""
    if not studies:
        raise InvalidParameterError(
            "A page needs at least one study. Got none instead."
        )
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    drawn = {f"stream-{k}": figures(study) for k, study in enumerate(studies, 1)}
    text = templates.get_template("page.html").render(
        title=studies[0].title if len(studies) == 1 else f"{len(studies)} streams",
        studies=[
            _section(study, anchor, drawn[anchor], alone=len(studies) == 1)
            for study, anchor in zip(studies, drawn, strict=True)
        ],
        light=LIGHT.variables(),
        dark=DARK.variables(),
        style=_asset("page.css"),
        script=_asset("page.js"),
        libraries=_libraries(),
        specs=_specs(drawn),
        version=version("thalweg"),
    )
    path.write_text(text, encoding="utf-8")


def _section(
    study: Study, anchor: str, drawn: Sequence[Figure], alone: bool
) -> dict[str, Any]:
    """All that the template says of one stream."""
    return {
        "anchor": anchor,
        "title": study.title,
        "heading": "In short" if alone else study.title,
        "rounds": f"{study.rounds:,}",
        "ratio": ratio(study, study.tracker),
        "winner": study.ranked()[0].name,
        "summary": summary(study),
        "facts": facts(study),
        "learners": learners(study),
        "figures": [
            {
                "anchor": f"{anchor}-{figure.name}",
                "title": figure.title,
                "caption": figure.caption,
                "narrow": figure.narrow,
            }
            for figure in drawn
        ],
        "words": study.inside.words if study.inside else "",
        "notes": study.notes,
    }


def _specs(drawn: dict[str, list[Figure]]) -> Markup:
    charts = {
        f"{anchor}-{figure.name}": _spec(figure)
        for anchor, found in drawn.items()
        for figure in found
    }
    specs = {"charts": charts, "config": config(STYLED), "paper": config(LIGHT)}
    return in_script(specs)


def _spec(figure: Figure) -> dict[str, Any]:
    spec: dict[str, Any] = figure.chart.to_dict()
    return {name: part for name, part in spec.items() if name != "config"}


def in_script(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in, nor open a comment."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _asset(name: str) -> Markup:
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


@cache
def _libraries() -> Markup:
    """Vega, Vega-Lite and Vega-Embed, once for all charts of the page."""
    return Markup(vl_convert.javascript_bundle(TO_GLOBALS, vl_version=VEGA_LITE))
