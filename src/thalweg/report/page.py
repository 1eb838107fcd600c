"""The HTML page of a report: one file without network access, light, dark and print."""

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
from thalweg.report.charts.chart_elements import VEGA_LITE, Figure
from thalweg.report.charts.theme import CSS_COLOURS, DARK, FONT, LIGHT, vega_config
from thalweg.report.section import Section

ASSETS = Path(__file__).parent / "assets"
EXPORT_SNIPPET = "window.vegaEmbed = vegaEmbed;"
"""Makes Vega-Embed, which the bundle holds, available to the page's own script."""


def write_page(
    content: Sequence[Section], path: Path, title: str | None = None
) -> None:
    """Write a page of sections.

    ``title`` is the page's; without one it is that of the only section, or their
    number.
    """
    if not content:
        raise InvalidParameterError(
            "A page needs at least one section. Got none instead."
        )
    sections = {f"stream-{k}": part for k, part in enumerate(content, 1)}
    first = next(iter(sections.values()))
    text = render_page(
        "page.html",
        title=title or (f"{len(content)} streams" if content[1:] else first.title),
        sections=sections,
        script=_asset("page.js"),
        zoom=_asset("zoom.js"),
        specs=_specs(sections),
    )
    path.write_text(text, encoding="utf-8")


def render_page(template: str, folder: Path = ASSETS, **content: Any) -> str:
    """A page in the report's style, from a template in ``folder``.

    It holds fonts, colours and the libraries that draw charts, so that it loads nothing
    from a network.
    """
    return _templates(folder).get_template(template).render(
        font=Markup(FONT),
        light=LIGHT.css_variables(),
        dark=DARK.css_variables(),
        style=_asset("page.css"),
        theme_button=_asset("theme.js"),
        libraries=_libraries(),
        version=version("thalweg"),
        **content,
    )  # fmt: skip


def _templates(folder: Path) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, ASSETS]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _specs(sections: dict[str, Section]) -> Markup:
    """The charts of all sections."""
    figures = {
        f"{anchor}-{figure.name}": figure
        for anchor, section in sections.items()
        for figure in section.all_figures()
    }
    return chart_specs(figures)


def chart_specs(figures: dict[str, Figure]) -> Markup:
    """Charts by name, and the configurations for screen and print, for a script."""
    charts = {name: _spec(figure) for name, figure in figures.items()}
    screen, paper = vega_config(CSS_COLOURS), vega_config(LIGHT)
    return json_for_script({"charts": charts, "config": screen, "paper": paper})


def _spec(figure: Figure) -> dict[str, Any]:
    spec: dict[str, Any] = figure.chart.to_dict()
    return {name: part for name, part in spec.items() if name != "config"}


def json_for_script(value: Any) -> Markup:
    """JSON that cannot end the script element that holds it, nor open a comment."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _asset(name: str) -> Markup:
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


@cache
def _libraries() -> Markup:
    """Vega, Vega-Lite and Vega-Embed, once for all charts of the page."""
    return Markup(vl_convert.javascript_bundle(EXPORT_SNIPPET, vl_version=VEGA_LITE))
