"""The page in a browser without a network, as a reader sees it."""

import re
import shutil

import pytest

from tests.report import example_studies
from thalweg.report import write_page
from thalweg.report.study_sections import study_section

pytestmark = pytest.mark.nightly

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("there is no chromium: make browser", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="there is no playwright: make env"
)

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
CUMULATIVE = "#stream-1-cumulative-error-chart"
DRAWING_MS = 60_000
"""Charts may take this long on a machine that has other things to do."""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One file for each example study, and one of two studies."""
    folder = tmp_path_factory.mktemp("pages")
    studies = {
        "full": [example_studies.full()],
        "bare": [example_studies.bare()],
        "crowded": [example_studies.crowded()],
        "hostile": [example_studies.hostile()],
        "poor": [
            example_studies.poor(),
            example_studies.full(history=example_studies.tracker_history(alarms=())),
        ],
        "two": [example_studies.full(), example_studies.bare()],
    }
    for name, shown in studies.items():
        write_page([*map(study_section, shown)], folder / f"{name}.html")
    return folder


@pytest.fixture
def visit(browser, pages):
    """Open a page; when the test ends, it must not have complained of anything."""
    contexts, complaints = [], []

    def opened(name, viewport=DESKTOP, scheme="light"):
        context = browser.new_context(
            offline=True, viewport=viewport, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(DRAWING_MS)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(request.url))
        address = (pages / f"{name}.html").as_uri()
        page.on("request", lambda request: _is_own(request.url, address, complaints))
        page.goto(address)
        page.wait_for_selector("html[data-charts-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def open_all(page):
    """Unfold all details, and wait for their charts."""
    for part in page.locator("summary").all():
        part.click()
    parts = "[...document.querySelectorAll('details')]"
    page.wait_for_function(f"{parts}.every(part => part.dataset.chartsReady)")


def _is_own(url, address, complaints):
    if not url.startswith((address, "data:", "blob:")):
        complaints.append(f"asked for {url}")


def settled(page, what):
    """Wait until this JavaScript is true."""
    page.wait_for_function(what)


def shade(page, selector, name):
    return page.evaluate(
        "([selector, name]) => "
        "getComputedStyle(document.querySelector(selector))[name]",
        [selector, name],
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["full", "bare", "crowded", "hostile", "poor", "two"])
def test_every_chart_is_drawn_without_a_network_and_without_complaint(visit, name):
    page = visit(name)
    open_all(page)
    charts = page.locator(".chart")
    assert charts.count() >= 3
    for k in range(charts.count()):
        assert charts.nth(k).locator("svg").count() == 1
        assert charts.nth(k).get_attribute("role") == "graphics-document"
        assert charts.nth(k).get_attribute("aria-label").endswith(".")


def test_a_pointer_shows_the_row_and_the_value_of_every_learner(visit):
    page = visit("full")
    open_all(page)
    chart = page.locator(CUMULATIVE)
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    for part in (0.5, 0.55):
        page.mouse.move(box["x"] + part * box["width"], box["y"] + 0.6 * box["height"])
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    rows = dict(row.split("\t") for row in tooltip.inner_text().splitlines())
    assert 1 <= int(rows.pop("at row").replace(",", "")) <= example_studies.ROUNDS
    assert re.fullmatch(r"\d+ \w{3} 2020, \d\d:00", rows.pop("time"))
    assert set(rows) == {entry.name for entry in example_studies.entries()}
    assert all(float(value.replace(",", "")) > 0 for value in rows.values())


def test_a_click_in_the_legend_hides_a_line_and_another_brings_it_back(visit):
    page = visit("full")
    open_all(page)
    line = f'{CUMULATIVE} path[aria-label*="name: persistence"]'
    label = page.locator(
        f"{CUMULATIVE} .role-legend-label text", has_text="persistence"
    )
    opacity = f"document.querySelector('{line}').getAttribute('opacity')"
    others = f"document.querySelectorAll('{CUMULATIVE} .mark-line path[opacity=\"1\"]')"
    count = len(example_studies.entries())
    settled(page, f"{opacity} === '1' && {others}.length === {count}")
    label.click()
    settled(page, f"{opacity} === '0' && {others}.length === {count - 1}")
    label.click()
    settled(page, f"{opacity} === '1' && {others}.length === {count}")


def test_the_button_turns_page_and_charts_dark_and_back(visit):
    page = visit("full")
    open_all(page)
    places = [("body", "backgroundColor"), ("body", "color")]
    places.append((f"{CUMULATIVE} .role-axis-label text", "fill"))
    light = [shade(page, *place) for place in places]
    page.get_by_role("button", name="Dark").click()
    dark = [shade(page, *place) for place in places]
    assert all(before != after for before, after in zip(light, dark, strict=True))
    page.get_by_role("button", name="Light").click()
    assert [shade(page, *place) for place in places] == light


def test_a_page_follows_the_preference_for_dark_and_is_printed_light(visit):
    light = shade(visit("full"), "body", "color")
    page = visit("full", scheme="dark")
    assert shade(page, "body", "color") != light
    page.emulate_media(media="print")
    assert shade(page, "body", "color") == light
    assert shade(page, "#theme", "display") == "none"
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("name", ["full", "crowded", "hostile", "two"])
def test_nothing_is_wider_than_a_phone(visit, name):
    page = visit(name, PHONE)
    open_all(page)
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == PHONE["width"]
    for box in page.evaluate(
        "[...document.querySelectorAll('.chart svg')].map(svg => {"
        "const {left, right} = svg.getBoundingClientRect(); return [left, right];})"
    ):
        assert 0 <= box[0] < box[1] <= PHONE["width"]


@pytest.mark.parametrize("name", ["full", "crowded"])
def test_a_legend_keeps_to_its_chart_when_a_phone_is_turned(visit, name):
    page = visit(name, {"width": 844, "height": 390})
    open_all(page)
    above = (
        "[...document.querySelectorAll('.chart svg')].filter(svg => "
        "svg.querySelector('.role-legend')).map(svg => "
        "svg.querySelector('.role-legend').getBoundingClientRect().top - "
        "svg.getBoundingClientRect().top)"
    )
    assert min(page.evaluate(above)) >= 0
    page.set_viewport_size(PHONE)
    right = "svg.getBoundingClientRect().right"
    charts = "[...document.querySelectorAll('.chart svg')]"
    settled(page, f"{charts}.every(svg => {right} <= {PHONE['width']})")
    assert min(page.evaluate(above)) >= 0


def test_the_note_on_bars_is_visible_only_with_the_bars(visit):
    shown = []
    for size in (DESKTOP, PHONE):
        page = visit("full", size)
        open_all(page)
        shown.append(page.locator(".bars-note").is_visible())
    assert shown == [True, False]


def test_details_fold_and_unfold_by_keyboard_and_their_charts_are_drawn(visit):
    page = visit("full")
    part = page.locator("#stream-1-learners-details")
    chart = page.locator(CUMULATIVE)
    assert not chart.is_visible() and chart.locator("svg").count() == 0
    part.locator("summary").focus()
    page.keyboard.press("Enter")
    chart.locator("svg").wait_for()
    assert chart.bounding_box()["width"] > 300
    page.keyboard.press("Enter")
    assert not chart.is_visible()


STREAM = "#stream-1-stream-chart"


def tick_labels(page, chart):
    """The texts of the x axis, the first line of each."""
    return (
        page.locator(f"{chart} .role-axis-label")
        .first.locator("text")
        .all_text_contents()
    )


def wait_for_labels(page, chart, is_right):
    """The texts of the x axis once they are right: charts are drawn a moment later."""
    for _ in range(100):
        labels = sorted(tick_labels(page, chart))
        if is_right(labels):
            break
        page.wait_for_timeout(50)
    return labels


def drag(page, chart, start, end):
    """Drag the mouse across these parts of the width of a chart."""
    area = page.locator(f"{chart} path.background").first.bounding_box()
    height = area["y"] + area["height"] / 2
    page.mouse.move(area["x"] + start * area["width"], height)
    page.mouse.down()
    page.mouse.move(area["x"] + end * area["width"], height, steps=4)
    page.mouse.up()


def visible_part(page):
    """The left edge and the width of the window on the strip, in per cent."""
    style = page.locator(".strip .visible").first.evaluate(
        "one => [one.style.left, one.style.width]"
    )
    return [float(text.rstrip("%")) for text in style]


def test_axes_have_dates_where_rows_have_times_and_row_numbers_where_not(visit):
    page = visit("full")
    for name in ("stream", "error", "coverage", "memory"):
        labels = " ".join(tick_labels(page, f"#stream-1-{name}-chart"))
        assert "Feb" in labels and "2020" in labels
    labels = " ".join(tick_labels(visit("bare"), STREAM))
    assert "1,000" in labels and "2020" not in labels


def test_a_drag_zooms_all_charts_of_the_section_and_a_double_click_resets(visit):
    page = visit("full")
    charts = STREAM, "#stream-1-error-chart"
    whole = [sorted(tick_labels(page, chart)) for chart in charts]
    page.locator(STREAM).scroll_into_view_if_needed()
    drag(page, STREAM, 0.25, 0.5)
    left, width = visible_part(page)
    assert left == pytest.approx(25, abs=2) and width == pytest.approx(25, abs=2)
    for chart, before in zip(charts, whole, strict=True):
        assert wait_for_labels(page, chart, before.__ne__) != before
    page.locator(f"{STREAM} path.background").first.dblclick(force=True)
    assert visible_part(page) == [0, 100]
    for chart, before in zip(charts, whole, strict=True):
        assert wait_for_labels(page, chart, before.__eq__) == before


def test_the_strip_and_the_buttons_move_the_window(visit):
    page = visit("full")
    page.locator(".track").first.scroll_into_view_if_needed()
    box = page.locator(".track").first.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 20, steps=4)
    page.mouse.up()
    left, width = visible_part(page)
    assert left == pytest.approx(50, abs=2) and width == pytest.approx(20, abs=2)
    page.get_by_role("button", name="Zoom in").first.press("Enter")
    assert visible_part(page)[1] == pytest.approx(width / 2, rel=0.01)
    page.get_by_role("button", name="Earlier").first.click()
    assert visible_part(page)[0] < left + width / 4
    page.get_by_role("button", name="Show all").first.click()
    assert visible_part(page) == [0, 100]


def test_a_finger_on_the_strip_zooms(browser, pages):
    context = browser.new_context(offline=True, viewport=PHONE, has_touch=True)
    page = context.new_page()
    page.set_default_timeout(DRAWING_MS)
    page.goto((pages / "full.html").as_uri())
    page.wait_for_selector("html[data-charts-ready]")
    page.locator(".track").first.evaluate(
        """track => {
          const {left, width, top} = track.getBoundingClientRect();
          const touch = {pointerType: "touch", pointerId: 7, bubbles: true};
          track.setPointerCapture = () => {};
          for (const [name, part] of
               [["pointerdown", 0.2], ["pointermove", 0.6], ["pointerup", 0.6]])
            track.dispatchEvent(new PointerEvent(name,
              {...touch, clientX: left + part * width, clientY: top + 10}));
        }"""
    )
    left, width = visible_part(page)
    context.close()
    assert left == pytest.approx(20, abs=2) and width == pytest.approx(40, abs=2)


def test_bands_are_drawn_around_forecasts(visit):
    page = visit("full")
    for name in ("stream", "recent"):
        areas = page.locator(f"#stream-1-{name}-chart .mark-area path")
        boxes = [area.bounding_box() for area in areas.all()]
        assert max(box["height"] for box in boxes) > 50
        assert max(box["width"] for box in boxes) > 500


CONTRAST = """selector => {
  const channels = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const bright = rgb => rgb.map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0.05);
  return [...document.querySelectorAll(selector)].map(one => {
    let ground = one;
    while (getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)")
      ground = ground.parentElement;
    const pair = [getComputedStyle(one).color, getComputedStyle(ground).backgroundColor]
      .map(channels).map(bright).sort((a, b) => b - a);
    return pair[0] / pair[1];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_can_be_read_in_light_and_dark(visit, scheme):
    page = visit("full", scheme=scheme)
    words = "h1, h2, h3, p, summary, figcaption, dt, dd, .save button"
    ratios = page.evaluate(CONTRAST, words)
    assert len(ratios) > 30 and min(ratios) >= 4.5


@pytest.mark.parametrize(("kind", "start"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_a_chart_can_be_saved(visit, kind, start):
    page = visit("full")
    open_all(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Save Cumulative error as {kind}").click()
    assert saved.value.suggested_filename == f"stream-1-cumulative-error.{kind.lower()}"
    written = saved.value.path().read_bytes()
    assert written.startswith(start) and b"var(--" not in written


def test_links_lead_to_the_studies(visit):
    page = visit("two")
    page.get_by_role("link", name="Bare").click()
    settled(
        page, "document.querySelector('#stream-2').getBoundingClientRect().top < 99"
    )
