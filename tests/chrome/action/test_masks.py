"""Masked fields with blanks to overtype accept typed input. The page positions the caret."""

from __future__ import annotations

import pytest

import cdpengine
from cdpengine.errors import ValueRefusedError

pytestmark = pytest.mark.chrome

OVERWRITING = """<input id=field value='__/__/____'><script>
  field.onfocus = () => { const blank = field.value.indexOf('_'); field.setSelectionRange(blank, blank) };
  field.onbeforeinput = event => {
    event.preventDefault();
    let at = field.selectionStart;
    while (field.value[at] === '/') at++;
    if (at > 9) return;
    field.value = field.value.slice(0, at) + event.data + field.value.slice(at + 1);
    field.setSelectionRange(at + 1, at + 1);
  };
</script>"""

# Like jquery.maskedinput and PrimeFaces: the blanks appear after the focus, and keys are handled one by one.
LATE = """<input id=field placeholder='99/99/9999'><script>{
  const blank = '__/__/____';
  let held = [...blank];
  const write = at => { field.value = held.join(''); while (blank[at] === '/') at++; field.setSelectionRange(at, at) };
  const first = () => held.includes('_') ? held.indexOf('_') : 10;
  function empty() {
    const [from, to] = [field.selectionStart, field.selectionEnd];
    for (let at = from; at < to; at++) held[at] = blank[at];
    return from;
  }
  field.onfocus = () => { const at = first(); setTimeout(() => write(at), 10) };
  field.onkeydown = event => {
    if (event.key === 'Delete') { event.preventDefault(); write(empty()) }
  };
  field.onkeypress = event => {
    event.preventDefault();
    let at = field.selectionEnd > field.selectionStart ? empty() : field.selectionStart;
    while (blank[at] === '/') at++;
    if (/[0-9]/.test(event.key) && at < 10) { held[at] = event.key; write(at + 1) }
  };
}</script>"""

# Like jQuery Mask: each input is reformatted, and the caret follows 10 ms after the key.
CARET_LATER = """<input id=field><script>
  field.onfocus = () => {};
  field.onkeydown = () => {
    const old = field.value;
    setTimeout(() => {
      const at = field.value === old ? field.selectionStart : field.value.length;
      field.setSelectionRange(at, at);
    }, 10);
  };
  field.oninput = () => {
    const at = field.selectionStart;
    const digits = field.value.replace(/[^0-9]/g, '').slice(0, 8);
    field.value = [digits.slice(0, 2), digits.slice(2, 4), digits.slice(4)].filter(Boolean).join('/');
    field.setSelectionRange(at, at);
  };
</script>"""

# Like PrimeVue's number field: keys build the value, and the display follows.
FROM_KEYS = """<input id=field role=spinbutton><script>
  number = null;
  field.onfocus = () => {};
  field.onkeypress = event => {
    event.preventDefault();
    const all = field.selectionEnd - field.selectionStart === field.value.length;
    number = Number((all ? '' : field.value.replaceAll(',', '')) + event.key);
    field.value = number.toLocaleString('en');
  };
</script>"""

# Like Cleave.js: each input is reformatted.
APART = """<input id=field><script>
  field.oninput = () => {
    const digits = field.value.replace(/[^0-9]/g, '').slice(0, 8);
    field.value = [digits.slice(0, 2), digits.slice(2, 4), digits.slice(4)].filter(Boolean).join('/');
  };
</script>"""

# Keys fill the next blank after the caret. Pages show their blanks in many ways.
BY_KEYS = """<input id=field value='SHOWN'><script>
  field.onkeydown = event => {
    if (event.key.length > 1 || event.ctrlKey) return;
    event.preventDefault();
    const at = field.value.indexOf('BLANK', field.selectionStart);
    if (at < 0 || !/[0-9]/.test(event.key)) return;
    field.value = field.value.slice(0, at) + event.key + field.value.slice(at + 1);
    field.setSelectionRange(at + 1, at + 1);
  };
</script>"""
SHOWN = [
    ("__:__", "_", "1230", "12:30"),
    ("(___) ___-____", "_", "9012345678", "(901) 234-5678"),
    ("+7(___)___-__-__", "_", "9012345678", "+7(901)234-56-78"),
    ("____ ____ ____ ____", "_", "4111111111111111", "4111 1111 1111 1111"),
    ("##/##/####", "#", "31122026", "31/12/2026"),
    ("\u2022\u2022/\u2022\u2022", "\u2022", "1226", "12/26"),
]

MASKS = {"overwriting": OVERWRITING, "late": LATE, "apart": APART}


@pytest.mark.parametrize("mask", MASKS)
async def test_a_mask_is_typed_and_filled(page: cdpengine.Page, mask: str) -> None:
    for text in ("31122026", "31/12/2026"):
        await page.set_content(MASKS[mask])
        field = page.locate(css="#field")
        await page.fill(field, text, timeout=5)
        assert await page.evaluate("field.value") == "31/12/2026"
    await page.set_content(MASKS[mask])
    await page.type(field, "31122026", timeout=5)
    assert await page.evaluate("field.value") == "31/12/2026"
    await page.set_content(MASKS[mask])
    await page.type(field, "311", timeout=5)
    await page.type(field, "22026", timeout=5)
    assert await page.evaluate("field.value") == "31/12/2026"


async def test_blanks_of_many_kinds(page: cdpengine.Page) -> None:
    field = page.locate(css="#field")
    for shown, blank, text, full in SHOWN:
        markup = BY_KEYS.replace("SHOWN", shown).replace("BLANK", blank)
        for way in (text, full):
            await page.set_content(markup)
            await page.fill(field, way, timeout=5)
            assert await page.evaluate("field.value") == full
        await page.set_content(markup)
        await page.type(field, text[:3], timeout=5)
        await page.type(field, text[3:], timeout=5)
        assert await page.evaluate("field.value") == full


async def test_filled_mask_is_filled_again(page: cdpengine.Page) -> None:
    await page.set_content(LATE)
    field = page.locate(css="#field")
    for text in ("01012020", "31122026"):
        await page.fill(field, text, timeout=5)
    assert await page.evaluate("field.value") == "31/12/2026"


async def test_the_caret_stays_where_the_page_puts_it(page: cdpengine.Page) -> None:
    await page.set_content("""<input id=front value=", please"><input id=whole value="old "><input id=plain value="__init__">
        <script>front.onfocus = () => front.setSelectionRange(0, 0); front.setSelectionRange(3, 3);
        whole.onfocus = () => whole.select();</script>""")
    for name, text in (("front", "yes"), ("whole", "and new"), ("plain", ".py")):
        await page.type(page.locate(css=f"#{name}"), text, timeout=5)
    values = await page.evaluate("[front.value, whole.value, plain.value]")
    assert values == ["yes, please", "old and new", "__init__.py"]


async def test_a_mask_without_a_sign_before_the_focus(page: cdpengine.Page) -> None:
    for markup in (LATE.replace("placeholder='99/99/9999'", ""), CARET_LATER):
        for act, text in ((page.fill, "31122026"), (page.fill, "31/12/2026"), (page.type, "31122026")):
            await page.set_content(f"{markup}<input id=other>")
            await act(page.locate(css="#field"), text, timeout=10)
            await page.focus(page.locate(css="#other"), timeout=5)
            assert await page.evaluate("field.value") == "31/12/2026"
    await page.set_content(f"<label for=field>Date</label>{LATE.replace('99/99/9999', '')}")
    await page.fill(page.locate(css="label"), "31122026", timeout=10)
    assert await page.evaluate("field.value") == "31/12/2026"


async def test_field_that_builds_its_value_from_keys(page: cdpengine.Page) -> None:
    await page.set_content(FROM_KEYS)
    for text, number in (("1234", 1234), ("56", 56)):
        await page.fill(page.locate(css="#field"), text, timeout=10)
        assert await page.evaluate("number") == number


async def test_a_field_that_reads_each_input_gets_the_whole_text(page: cdpengine.Page) -> None:
    # Like date pickers: the first string that is a date is accepted and reformatted.
    await page.set_content("""<input id=field><script>
        var dates = [];
        field.onfocus = field.onkeydown = () => {};
        field.oninput = () => {
          const found = /^(\\d{4})-(\\d\\d?)-(\\d\\d?)$/.exec(field.value);
          if (!found) return;
          dates.push(found[0]);
          setTimeout(() => { field.value = found.slice(1).map(part => part.padStart(2, "0")).join("-") }, 5);
        };
        </script>""")
    await page.fill(page.locate(css="#field"), "2026-03-14", timeout=10)
    assert await page.evaluate("dates") == ["2026-03-14"]


async def test_field_that_accepts_only_keys_gets_keys(page: cdpengine.Page) -> None:
    await page.set_content("""<input id=keys value=x><input id=digits><script>
        keys.onbeforeinput = event => { if (event.data?.length > 1) { event.preventDefault(); keys.value = "?" } };
        var inputs = 0; digits.oninput = () => { inputs++; digits.value = digits.value.replace(/[^0-9]/g, "") };
        </script>""")
    await page.fill(page.locate(css="#keys"), "Ada 1", timeout=5)
    assert await page.evaluate("keys.value") == "Ada 1"
    with pytest.raises(ValueRefusedError) as caught:
        await page.fill(page.locate(css="#digits"), "12ab", timeout=5)
    assert caught.value.took == "12"
    assert await page.evaluate("inputs") > 1


# Groups of four, formatted at each input. The caret follows in the given way, computed when the key arrived.
GROUPS = """<input id=field><script>
  const later = fn => LATER;
  field.onfocus = () => {};
  field.onkeydown = () => {};
  field.oninput = () => {
    const before = field.selectionStart, old = field.value;
    const all = old.replace(/ /g, '');
    field.value = all.replace(/(.{4})(?=.)/g, '$1 ');
    const at = before + (field.value.length - old.length);
    if (field.value !== old) field.setSelectionRange(0, 0);
    later(() => field.setSelectionRange(at, at));
  };
</script>"""


@pytest.mark.parametrize(
    "later",
    [
        "setTimeout(fn, 10)",
        "setTimeout(fn)",
        "requestAnimationFrame(fn)",
        "Promise.resolve().then(() => setTimeout(fn, 5))",
    ],
)
async def test_a_caret_that_follows_each_key_is_waited_for(page: cdpengine.Page, later: str) -> None:
    await page.set_content(GROUPS.replace("LATER", later))
    field = page.locate(css="#field")
    await page.type(field, "DE89370400440532013000", timeout=5)
    assert await page.evaluate("field.value") == "DE89 3704 0044 0532 0130 00"
