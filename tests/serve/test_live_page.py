"""The live page in a browser, while rows come."""

import shutil

import pytest

from tests.serve.server_process import changing_rows, post_json, serving

pytestmark = pytest.mark.nightly

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("there is no chromium: make browser", allow_module_level=True)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="there is no playwright: make env"
)

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update",
         "--disable-sync")  # fmt: skip
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
WAIT_MS = 60_000
TOKEN = "a-token-of-a-good-length"
ROWS = changing_rows(260, change=200)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    (folder / "token").write_text(TOKEN + "\n")
    path = folder / "models.sqlite"
    with serving(path, "--token-file", str(folder / "token")) as (address, _):
        yield address


def send(server, key, rows):
    address = f"{server}/v1/models/{key}/observe"
    post_json(address, {"rows": rows}, Authorization=f"Bearer {TOKEN}")


@pytest.fixture
def visit(browser, server):
    """Open the page of a key, give it the token; it must not complain of anything."""
    contexts, complaints = [], []

    def opened(key, viewport=DESKTOP, scheme="light"):
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: _is_own(request.url, server, complaints))
        page.goto(f"{server}/?key={key}")
        page.locator("#token").fill(TOKEN)
        page.get_by_role("button", name="Watch").click()
        page.wait_for_function(
            "/^(Rows|Waiting)/.test(document.querySelector('#status').innerText)"
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _is_own(url, server, complaints):
    if not url.startswith((server, "data:", "blob:")):
        complaints.append(f"asked for {url}")


def wait_for_row(page, row):
    page.wait_for_function(f"document.documentElement.dataset.lastRow >= {row}")


@pytest.mark.slow
def test_rows_bands_memory_and_a_change_are_shown_as_they_come(visit, server):
    page = visit("pump")
    assert "Waiting for the first row" in page.locator("#status").inner_text()
    for start in range(0, len(ROWS), 20):
        send(server, "pump", ROWS[start : start + 20])
    wait_for_row(page, len(ROWS))
    assert page.locator("#tile-rows").inner_text() == str(len(ROWS))
    assert "The forecast was" in page.locator("#tile-forecast").inner_text()
    assert "values were in the band" in page.locator("#tile-coverage").inner_text()
    assert float(page.locator("#tile-memory").inner_text()) >= 1
    assert page.locator("#tile-change").inner_text() == "row 201"
    assert "level rose" in page.locator("#tile-change-text").inner_text()
    for name in ("stream", "memory"):
        assert page.locator(f"#{name}-chart svg").is_visible()
        assert page.locator(f"#{name}-chart .mark-rule path, "
                            f"#{name}-chart .mark-rule line").count() >= 1  # fmt: skip
    band = page.locator("#stream-chart .mark-area path").first.bounding_box()
    assert band["width"] > 500 and band["height"] > 20


def test_a_page_that_is_opened_later_shows_the_last_rows(visit, server):
    send(server, "late", ROWS[:50])
    page = visit("late")
    wait_for_row(page, 50)
    assert page.locator("#stream-chart svg").is_visible()
    send(server, "late", ROWS[50:60])
    wait_for_row(page, 60)


def test_a_wrong_token_is_asked_for_again(browser, server):
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{server}/?key=pump")
    page.locator("#token").fill("not the token")
    page.get_by_role("button", name="Watch").click()
    page.wait_for_function(
        "document.querySelector('#status').innerText.includes('asks for its token')"
    )
    assert page.locator("#token").is_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone_in_light_and_dark(visit, server, scheme):
    send(server, f"phone-{scheme}", ROWS[:30])
    page = visit(f"phone-{scheme}", PHONE, scheme)
    wait_for_row(page, 30)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(247, 248, 250)", "dark": "rgb(14, 18, 23)"}[scheme]
    right = page.locator("#stream-chart svg").bounding_box()
    assert right["x"] + right["width"] <= PHONE["width"]
