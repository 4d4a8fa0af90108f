"""The ways in which a secret reaches the engine through the fields of a page: filled, typed, pasted, set by
calls.

Rule: as in canary_stage.py.
"""

from __future__ import annotations

from canary_stage import Stage, way

INPUT = "<input @>"


@way(field=INPUT)
async def fill(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill"), secret)


@way(field="<textarea @></textarea>")
async def fill_textarea(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_textarea"), secret)


@way(field="<div contenteditable @></div>")
async def fill_editable(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_editable"), secret)


@way(field="<input type=password @>")
async def fill_password(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_password"), secret)


@way("short", field=INPUT)
async def fill_short(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_short"), secret)


@way(field="<input maxlength=10 @>")
async def fill_maxlength(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_maxlength"), secret)


@way(field="<input readonly @>", crosses=False)
async def fill_readonly(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_readonly"), secret, timeout=0.5)


@way(field="<input disabled @>", crosses=False)
async def fill_disabled(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_disabled"), secret, timeout=0.5)


@way(field="<input type=number @>")
async def fill_number(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_number"), secret)


@way(field="<input type=date @>", crosses=False)
async def fill_date(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.fill(await stage.field("fill_date"), secret, timeout=0.5)


FORMS = (
    "url", "plus", "lower", "base64", "base64_1", "base64_2", "base64url", "json", "json_twice", "html", "hex",
    "utf16", "utf16_base64",
)  # fmt: skip


@way(field="".join(f"<input id=echo_{form} data-echo={form}>" for form in FORMS))
async def fill_form(stage: Stage, secret: str) -> None:
    """Fill one field for each form in which the page echoes it."""
    fields = [(await stage.field(f"echo_{form}"), stage.secret(f"echo_{form}")) for form in FORMS]
    await stage.page.fill_form([*fields, (await stage.field("fill"), secret)])


@way("typed", field=INPUT)
async def type_keys(stage: Stage, secret: str) -> None:
    await stage.page.type(await stage.field("type_keys"), secret)


@way("short", field=INPUT)
async def type_short(stage: Stage, secret: str) -> None:
    await stage.page.type(await stage.field("type_short"), secret)


@way(field=INPUT)
async def type_all(stage: Stage, secret: str) -> None:
    """Type text that includes characters missing on a keyboard."""
    await stage.page.type(await stage.field("type_all"), secret)


@way(field=INPUT)
async def type_in_two(stage: Stage, secret: str) -> None:
    field = await stage.field("type_in_two")
    middle = len(secret) // 3
    await stage.page.type(field, secret[:middle])
    await stage.page.type(field, secret[middle:])


@way("typed", field="<input data-live @>")
async def type_live(stage: Stage, secret: str) -> None:
    """Type into a field that the page echoes at each key."""
    await stage.page.type(await stage.field("type_live"), secret)


@way(field="<input data-live @>")
async def fill_live(stage: Stage, secret: str) -> None:
    await stage.page.fill(await stage.field("fill_live"), secret)


@way("typed", field=INPUT)
async def keyboard_type(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_type"))
    await stage.page.keyboard.type(secret)


@way("typed", field=INPUT)
async def keyboard_press(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_press"))
    for key in secret:
        await stage.page.keyboard.press(key)


@way("typed", field=INPUT)
async def page_press(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("page_press"))
    for key in secret:
        await stage.page.press(key)


@way(field=INPUT)
async def keyboard_insert(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_insert"))
    await stage.page.keyboard.insert_text(secret)


@way("typed", field=INPUT)
async def keyboard_down_up(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_down_up"))
    for key in secret:
        name = key
        await stage.page.keyboard.down(name)
        await stage.page.keyboard.up(name)


@way(field=INPUT)
async def keyboard_compose(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("keyboard_compose"))
    await stage.page.keyboard.compose(secret, secret[:10])


@way(crosses=False)
async def press_refused(stage: Stage, secret: str) -> None:
    with stage.refused():
        await stage.page.press(secret)


@way(field=INPUT)
async def paste(stage: Stage, secret: str) -> None:
    """Fill a field, cut the text and paste it again."""
    field = await stage.field("paste")
    await stage.page.fill(field, secret)
    for chord in ("Control+A", "Control+X", "Control+V"):
        await stage.page.press(chord, field)


@way(field="<input type=checkbox name=token @>", made_up=True)
async def check(stage: Stage, secret: str) -> None:
    """Check a box whose value is a token, and post its form."""
    await stage.page.evaluate("() => { document.getElementById('check').value = C('check') }")
    await stage.page.check(await stage.field("check"))
    await stage.page.evaluate("async () => { await post('/post', new FormData(fields)) }")


@way(
    "file", field="<input type=file id=upload onchange='this.files[0].text().then((t) => post(`/post`, t))'>"
)
async def upload(stage: Stage, secret: str) -> None:
    """Upload a file with secret content and a public name."""
    path = stage.folder / "upload.txt"
    path.write_text(f"{stage.secret('upload_content')} {secret}")
    async with stage.page.expect_response("*/post"):
        await stage.page.upload(await stage.field("upload"), path)


@way(field=INPUT)
async def prompt(stage: Stage, secret: str) -> None:
    async with stage.page.expect_dialog(text=secret):
        await stage.page.evaluate("() => { document.getElementById('prompt').value = prompt('Password?') }")


@way(field=INPUT)
async def raw_insert(stage: Stage, secret: str) -> None:
    await stage.page.focus(await stage.field("raw_insert"))
    await stage.page.session.call("Input.insertText", text=secret)


@way(field="<input type=password @>")
async def raw_attribute(stage: Stage, secret: str) -> None:
    call = stage.page.session.call
    root = (await call("DOM.getDocument", depth=0))["root"]["nodeId"]
    found = await call("DOM.querySelector", nodeId=root, selector="#raw_attribute")
    await call("DOM.setAttributeValue", nodeId=found["nodeId"], name="value", value=secret)


@way("cookie")
async def raw_cookie(stage: Stage, secret: str) -> None:
    await stage.page.session.call("Network.setCookie", name="raw", value=secret, url=stage.site.url)


@way(made_up=True)
async def raw_evaluate_returned(stage: Stage, secret: str) -> None:
    expression = "C('raw_evaluate_returned')"
    reply = await stage.page.session.call("Runtime.evaluate", expression=expression, returnByValue=True)
    assert reply["result"]["value"] == secret
