"""A Playwright program that uses many features with generated names.

argv[1] is the browser, argv[2] the page. Features: worlds, bindings, init scripts, routes, downloads, files,
frames and set contents. Run with the peers' interpreter.
"""

# mypy: ignore-errors
import json
import pathlib
import sys
import tempfile

from playwright.sync_api import sync_playwright

CONTENT = """<input type=file id=file><a id=link download=x.txt href='data:text/plain,hi'>file</a>
<iframe srcdoc='<button>In</button>'></iframe><select id=list><option>a<option>b</select><input type=checkbox id=box>"""

with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
    browser = playwright.chromium.connect_over_cdp(sys.argv[1])
    context = browser.new_context(
        accept_downloads=True,
        viewport={"width": 900, "height": 700},
        locale="de-DE",
        extra_http_headers={"x-a": "b"},
    )
    context.add_init_script("window.hello = 1")
    context.expose_function("shout", lambda text: text.upper())
    page = context.new_page()
    page.route("**/routed", lambda route: route.fulfill(body="<p>routed</p>", content_type="text/html"))
    page.goto(sys.argv[2])
    page.fill("#name", "Ada")
    page.locator("#name").press_sequentially(" L")
    page.get_by_role("button", name="Greet").click()
    said = {
        "greeting": page.locator("#greeting").inner_text(),
        "url": page.url == sys.argv[2],
        "shout": page.evaluate("shout('a')"),
        "hello": page.evaluate("hello"),
        "length": page.evaluate("object => object.a.length", {"a": [1, 2, "x"]}),
        "text": page.evaluate_handle("document.body").as_element().inner_text(),
    }
    file = pathlib.Path(folder) / "up.txt"
    file.write_text("data")
    page.set_content(CONTENT)
    page.set_input_files("#file", str(file))
    page.check("#box")
    page.select_option("#list", "b")
    page.frame_locator("iframe").get_by_role("button").click()
    with page.expect_download() as download:
        page.click("#link")
    said["download"] = download.value.suggested_filename
    said["snapshot"] = page.locator("body").aria_snapshot()
    page.goto(sys.argv[2].replace("hall", "routed"))
    said["routed"] = page.inner_text("p")
    with page.expect_popup() as popup:
        page.evaluate("window.open('about:blank')")
    popup.value.close()
    page.wait_for_function("() => 1 + 1 == 2")
    context.add_cookies([{"name": "a", "value": "b", "url": sys.argv[2]}])
    said["cookies"] = len(context.storage_state()["cookies"])
    context.close()
    browser.close()
print(json.dumps(said))
