"""A Playwright program that enters secrets in all its ways.

argv[1] is the browser, argv[2] a JSON file of the values to enter. Run with the peers' interpreter. Prints
its errors as JSON.
"""

# mypy: ignore-errors
import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

given = json.loads(Path(sys.argv[2]).read_text("utf-8"))
url, secret, folder = given["url"], given["secrets"], Path(given["folder"])
problems = []
ASK = "async (path) => { await (await fetch(path)).text() }"


def print_nothing(_text):
    pass


def tried(way):
    try:
        way()
    except Exception as error:  # noqa: BLE001 - printed, and asserted to be none
        problems.append(f"{way.__name__}: {error}"[:500])


with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(sys.argv[1])
    item = {"name": "kept", "value": secret["state_restored_item"]}
    cookie = {"name": "restored", "value": secret["state_restored"], "domain": "127.0.0.1", "path": "/"}
    state = {
        "cookies": [cookie | given["cookie"]],
        "origins": [{"origin": url.rstrip("/"), "localStorage": [item]}],
    }
    credentials = {"username": "ada", "password": secret["http_credentials"]}
    context = browser.new_context(storage_state=state, http_credentials=credentials, bypass_csp=True)
    page = context.new_page()
    page.set_default_timeout(15000)
    page.goto(given["elsewhere"] + "protected")
    page.goto(f"{url}landed?token={given['quoted']['goto_query']}")
    page.goto(f"{url}landed#access_token={given['quoted']['goto_hash']}")
    context.add_cookies([{"name": "set", "value": secret["cookie_api"], "url": url}])
    page.add_init_script(f"window.session_token = {json.dumps(secret['init_script'])}")
    page.expose_function("key", lambda: secret["exposed_result"])
    page.expose_function("vault", print_nothing)
    page.goto(url)
    page.wait_for_function("document.title === 'done'")

    def fill():
        for name in (
            "fill",
            "fill_textarea",
            "fill_password",
            "fill_short",
            "fill_editable",
            "fill_live",
        ):
            page.fill(f"#{name}", secret[name])

    def type_keys():
        page.locator("#type_keys").press_sequentially(secret["type_keys"])
        page.locator("#type_live").press_sequentially(secret["type_live"])

    def keyboard():
        page.focus("#keyboard_insert")
        page.keyboard.insert_text(secret["keyboard_insert"])
        page.focus("#keyboard_type")
        page.keyboard.type(secret["keyboard_type"])

    def upload():
        path = folder / "upload.txt"
        path.write_text(f"{secret['upload_content']} {secret['upload']}", "utf-8")
        with page.expect_response("**/post"):
            page.set_input_files("#upload", path)

    def prompt():
        page.once("dialog", lambda dialog: dialog.accept(secret["prompt"]))
        page.evaluate("() => { document.getElementById('prompt').value = prompt('Password?') }")

    def evaluate():
        page.evaluate("(text) => text.length", secret["evaluate_argument"])
        page.evaluate("(user) => user.keys.length", {"keys": [secret["evaluate_argument_inside"]]})
        assert page.evaluate("() => C('evaluate_returned')") == secret["evaluate_returned"]
        handle = page.evaluate_handle("(text) => ({text})", secret["evaluate_handle"])
        assert handle.json_value() == {"text": secret["evaluate_handle"]}

    def exposed():
        page.evaluate("async () => { await vault(C('exposed_argument')) }")
        page.evaluate("async () => (await key()).length")

    def headers():
        context.set_extra_http_headers({"X-Api-Key": secret["extra_headers"]})
        page.evaluate(ASK, "/asked")
        context.set_extra_http_headers({})

    def route():
        page.route("**/routed", lambda route: route.fulfill(json={"access_token": secret["route_text"]}))
        page.evaluate(ASK, "/routed")
        page.route(
            "**/passed",
            lambda route: route.continue_(post_data=json.dumps({"password": secret["route_posted"]})),
        )
        page.evaluate("async () => { await post('/passed', 'x') }")

    def fill_long():
        page.fill("#fill_long", secret["fill_long"])

    for way in (
        fill,
        type_keys,
        keyboard,
        upload,
        prompt,
        evaluate,
        exposed,
        headers,
        route,
        fill_long,
    ):
        tried(way)
    page.evaluate("() => echo()")
    page.content()
    page.locator("body").aria_snapshot()
    page.screenshot()
    context.storage_state()
    page.set_content(f"<input type=password value='{secret['set_content_password']}'>")
    context.close()
    browser.close()
print(json.dumps(problems))
