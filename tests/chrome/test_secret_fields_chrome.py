"""Secret fields: none of the engine's scripts returns their contents, whatever it reads."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

import cdpengine
from cdpengine._javascript import is_own, script
from cdpengine._protocol.instruments import Traffic

pytestmark = pytest.mark.chrome

MASKED = "style='-webkit-text-security: disc'"

FIELDS = {
    "password": "<input type=password value=c4nary-0>",
    "current-password": "<input autocomplete='section-a Current-Password' value=c4nary-0>",
    "new-password": "<input autocomplete='new-password webauthn' value=c4nary-0>",
    "one-time-code": "<input autocomplete=ONE-TIME-CODE value=c4nary-0>",
    "cc-number": "<input type=tel autocomplete=cc-number value=c4nary-0>",
    "cc-csc": "<input type=text autocomplete='billing cc-csc' value=c4nary-0>",
    "cc-exp": "<input autocomplete=cc-exp value=c4nary-0>",
    "cc-exp-year": "<input autocomplete=cc-exp-year value=c4nary-0>",
    "listed": "<input list=l autocomplete=cc-number value=c4nary-0><datalist id=l><option>x</datalist>",
    "masked": f"<input {MASKED} value=c4nary-0>",
    "masked-search": f"<input type=search {MASKED} value=c4nary-0>",
    "textarea": "<textarea autocomplete=cc-number>c4nary-0</textarea>",
    "masked-textarea": f"<textarea {MASKED}>c4nary-0</textarea>",
    "select": "<select autocomplete=cc-exp-month><option>first<option selected>c4nary-0</select>",
    "editable": f"<div role=textbox contenteditable {MASKED}>c4nary-0</div>",
    "hidden": "<input type=hidden value=c4nary-0>",
    "label": "<input type=checkbox aria-labelledby=words><p id=words>Pay <input autocomplete=cc-number value=c4nary-0>",
}
OPEN = {
    "text": "<input value=c4nary-0>",
    "username": "<input autocomplete='username' value=c4nary-0>",
    "off": "<input autocomplete=off value=c4nary-0>",
    "like": "<input autocomplete=cc-name value=c4nary-0>",
    "button": "<button aria-label=B>c4nary-0</button>",
    "submit": "<input type=submit autocomplete=off value=c4nary-0>",
}


class Ear:
    """Notes the responses to the engine's scripts that contain the secret."""

    def __init__(self) -> None:
        self.received: list[str] = []
        self._own: dict[tuple[str, int], bool] = {}

    def __call__(self, traffic: Traffic) -> None:
        message = json.loads(traffic.message)
        key = (traffic.connection, message.get("id", 0))
        if traffic.direction == "sent":
            source = message["params"].get("expression") or message["params"].get("functionDeclaration")
            self._own[key] = isinstance(source, str) and is_own(source)
        elif self._own.get(key) and "c4nary" in json.dumps(message):
            self.received.append(json.dumps(message)[:400])


@pytest.fixture
async def ear(browser: cdpengine.Browser) -> AsyncIterator[Ear]:
    ear = Ear()
    with browser.instruments.attached(ear):
        yield ear


ENTERED = """() => {
    for (const field of document.querySelectorAll("input:not([type=hidden]), textarea")) {
        const value = field.value;
        field.removeAttribute("value");
        if (field.localName === "textarea") field.textContent = "";
        field.value = value;
    }
}"""


async def show(page: cdpengine.Page, markup: str) -> None:
    """Show fields with entered contents. Contents from the markup are not secret."""
    await page.set_content(f"<!doctype html><main>{markup}</main>")
    await page.evaluate(ENTERED)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", FIELDS)
async def test_no_source_returns_secret_field_contents(page: cdpengine.Page, ear: Ear, kind: str) -> None:
    await show(page, FIELDS[kind])
    for source in ("computed", "dom", "ax"):
        snapshot = await page.snapshot(source=source)
        # An option's name belongs to the page. Its selection is secret.
        options = '- option "c4nary-0"' if kind == "select" else "c4nary"
        assert "c4nary" not in str(snapshot).replace(options, "", 1)
        assert "[selected]" not in str(snapshot)
        assert ("[value=hidden]" in str(snapshot)) is (kind != "hidden")
    if kind != "select":
        for mode in ("aria", "webarena"):
            assert "c4nary" not in str(await page.snapshot(mode=mode))
    assert "c4nary" not in await page.extract_text()
    await page.find_all("input, textarea, select, div")
    if kind != "select":
        assert "c4nary" not in str(await page.snapshot(source="hybrid")), "it is the walk of `computed`"
        assert ear.received == []


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", OPEN)
async def test_other_fields_are_returned(page: cdpengine.Page, kind: str) -> None:
    await show(page, OPEN[kind])
    for source in ("computed", "dom", "ax"):
        assert "c4nary-0" in str(await page.snapshot(source=source))


async def test_revealed_password_stays_secret(page: cdpengine.Page, ear: Ear) -> None:
    """A snapshot, a fill or a type saw it as a password field."""
    acts = {"snapshot": None, "fill": page.fill, "type": page.type}
    for act in acts.values():
        await show(page, f"<input id=p aria-label=P type=password value={'' if act else 'c4nary-0'}>")
        field = await page.find("#p")
        assert field is not None
        if act is None:
            await page.snapshot()
        else:
            await act(field, "c4nary-0")
        await page.evaluate("document.querySelector('#p').type = 'text'")
        for source in ("computed", "dom", "ax"):
            assert str(await page.snapshot(source=source)).count("[value=hidden]") == 1
        assert await page.extract_text() == ""
    assert ear.received == []


async def test_hostile_name_does_not_change_secrecy(page: cdpengine.Page) -> None:
    await show(
        page,
        "<form><input name=autocomplete><input name=getAttribute><img id=cdpengineSecretFields>"
        "<input type=password value=c4nary-0></form>",
    )
    for source in ("computed", "dom"):
        assert "c4nary" not in str(await page.snapshot(source=source))


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("kind", [kind for kind in FIELDS if kind not in ("select", "hidden", "label")])
async def test_filling_compares_in_the_page(page: cdpengine.Page, ear: Ear, kind: str) -> None:
    await show(page, FIELDS[kind].replace("c4nary-0", "c4nary-old"))
    field = await page.find("main > *")
    assert field is not None
    await page.fill(field, "0123456789")
    await page.evaluate(
        """() => {
            const field = document.querySelector("main > *");
            field.addEventListener("input", () => { field.value = field.textContent = "c4nary-other"; });
        }"""
    )
    with pytest.raises(cdpengine.errors.ValueRefusedError) as caught:
        await page.fill(field, "0123456789")
    assert caught.value.took is None
    assert "c4nary" not in str(caught.value)
    assert ear.received == []


async def test_card_number_may_be_grouped(page: cdpengine.Page) -> None:
    await show(
        page,
        """<input id=n autocomplete=cc-number
            oninput="this.value = this.value.replace(/\\D/g, '').replace(/(....)(?=.)/g, '$1 ')">""",
    )
    field = await page.find("#n")
    assert field is not None
    await page.fill(field, "4111111111111111")
    assert await page.evaluate("document.querySelector('#n').value") == "4111 1111 1111 1111"
    await page.evaluate("document.querySelector('#n').maxLength = 5")
    with pytest.raises(cdpengine.errors.ValueRefusedError) as caught:
        await page.fill(field, "4111111111111111")
    assert caught.value.took is None


async def test_a_date_that_is_secret(page: cdpengine.Page, ear: Ear) -> None:
    await show(page, "<input id=m type=month autocomplete=cc-exp value=2031-07>")
    field = await page.find("#m")
    assert field is not None
    for source in ("computed", "dom"):
        assert "2031" not in str(await page.snapshot(source=source))
    await page.fill(field, "2032-08")
    assert await page.evaluate("document.querySelector('#m').value") == "2032-08"
    with pytest.raises(cdpengine.errors.ValueRefusedError) as caught:
        await page.fill(field, "c4nary-99")
    assert caught.value.took is None
    assert ear.received == []


async def test_chosen_month_is_not_returned(page: cdpengine.Page, ear: Ear) -> None:
    await show(
        page,
        """<select id=s autocomplete=cc-exp-month oninput="this.selectedIndex = 1">
            <option>01<option>c4nary-02<option>03</select>""",
    )
    field = await page.find("#s")
    assert field is not None
    with pytest.raises(cdpengine.errors.ValueRefusedError) as caught:
        await page.select(field, "03")
    assert not caught.value.took


TAKEN = [
    ("ada", "ada", "text", True),
    ("ada", "ADA", "text", True),
    (" ada ", "ada", "text", True),
    ("stra\u00dfe", "STRASSE", "text", True),
    ("a\r\nb", "a\nb", "", True),
    ("0301234567", "(030) 123-4567", "tel", True),
    ("4111111111111111", "4111 1111 1111 1111", "text", True),
    ("12.5", "125", "text", False),
    ("12.5", "12.50", "text", False),
    ("abcd", "abc", "text", False),
    ("abc", "abcd", "text", False),
    ("abc", "acb", "text", False),
    ("abc", "", "text", False),
    ("", "", "text", True),
    ("", "x", "text", False),
    ("", "__.__", "text", False),
    ("1e2", "100", "number", True),
    ("7", "8", "number", False),
    ("x", "y", "number", False),
    ("12:00", "12:00:00.000", "time", True),
    ("2026-02-28T09:05:07.2", "2026-02-28T09:05:07.200", "datetime-local", True),
    ("2026-02-28 09:05", "2026-02-28T09:05", "datetime-local", True),
    ("12:00", "12:00:01", "time", False),
    ("12:00", "12:00:10", "time", False),
    ("", "", "time", True),
    ("", "12:00", "time", False),
    ("12:00", "", "time", False),
    ("33", "33", "range", True),
    ("33.0", "33", "range", True),
    ("33", "34", "range", False),
    ("#ABCDEF", "#abcdef", "color", True),
]


async def test_values_that_count_as_accepted(page: cdpengine.Page) -> None:
    """A reformatted string counts as accepted. One with a lost or changed character does not."""
    rule = f"""(cases) => {{
        const {{ isTyped, isSame, wasTaken }} = ({script("_input/forms/field_values")})();
        return cases.map(([wanted, held, type]) => isTyped(type)
            ? wasTaken(wanted, held, type === "number") : isSame({{ type }}, wanted, held));
    }}"""
    told = await page.evaluate(rule, [case[:3] for case in TAKEN])
    assert [case[:3] for case, taken in zip(TAKEN, told, strict=True) if taken is not case[3]] == []
