"""A probe kept across changes of a document answers like a new one after each change.

Rule: the kept probe lives through all changes of a page, in sequence. A new one is made for each question.
"""

from __future__ import annotations

import random

import pytest
from rounds import rounds

import cdpengine
from cdpengine._javascript import script

pytestmark = pytest.mark.chrome

PAGE = """<!doctype html><body><form><label>First <input name=parentNode></label><label for=two>Second</label><input id=two>
<button>Send it</button><button id=icon></button><input type=checkbox aria-label=Boxed></form>
<ul><li><a href="/">One</a> <button><b>Buy</b> 1</button></li><li><a href="/">Two</a> <button>Buy 2</button></li></ul>
<div id=host>light</div><my-element role=button>Own</my-element><details><summary>More</summary>text</details>"""

INSTALL = f"""() => {{
  window.makeCandidates = {script("cache/matching/candidates")};
  window.kept = makeCandidates();
  window.ask = (candidates, asked) => {{
    candidates.update();
    return asked.map(([css, name]) => candidates.named(css, name));
  }};
  window.differs = (asked) => {{
    const fresh = makeCandidates();
    const [one, other] = [ask(kept, asked), ask(fresh, asked)];
    fresh.drop();
    const same = (some, more) => some.length === more.length && some.every((each) => more.includes(each));
    return asked.filter((_, at) => !same(one[at], other[at])).map(String);
  }};
}}"""

ASKED = [
    (css, name)
    for css in (
        "button, summary, input, [role]",
        "input, textarea, [contenteditable], [role]",
        "a, area, [role]",
    )
    for name in (
        "First",
        "Second",
        "Third",
        "Send it",
        "Buy 1",
        "Buy 2",
        "Boxed",
        "Own",
        "More",
        "One",
        "New",
        "Deep",
        "☂",
    )
]

CHANGES = {
    "a text": "first('button').firstChild.data = pick('Send it', 'Third', 'New')",
    "a deep text": "first('li b').textContent = pick('Buy', 'New', '☂')",
    "a label's text": "first('label').firstChild.data = pick('First', 'Third')",
    "what a label is for": "first('label[for]').htmlFor = pick('two', 'icon', 'none')",
    "an id": "first('input[id], input[name=parentNode]').id = pick('two', 'other', 'icon')",
    "a label of its own": "first('[aria-label]').setAttribute('aria-label', pick('Boxed', 'New'))",
    "a label that goes": "first('[aria-label]').toggleAttribute('aria-labelledby')",
    "a role": "first('li').setAttribute('role', pick('button', 'listitem', 'textbox'))",
    "what can be edited": "host.toggleAttribute('contenteditable')",
    "a kind of input": "first('input').type = pick('text', 'hidden', 'button')",
    "a value": "first('input').setAttribute('value', pick('New', 'Third'))",
    "a new row": "list().insertAdjacentHTML('beforeend', '<li><button>' + pick('New', 'Buy 1') + '</button></li>')",
    "a row that goes": "list().lastElementChild?.remove()",
    "a row that moves": "list().prepend(list().lastElementChild ?? '')",
    "a new label": "document.forms[0].insertAdjacentHTML('afterbegin', '<label for=two>Third</label>')",
    "a shadow root": "if (!host.shadowRoot) host.attachShadow({mode: 'open'}).innerHTML = '<button>Deep</button><slot></slot>'",
    "what is in it": "if (host.shadowRoot) host.shadowRoot.firstChild.textContent = pick('Deep', 'New')",
    "a root in it": "if (host.shadowRoot) { const d = document.createElement('div'); host.shadowRoot.append(d);"
    " d.attachShadow({mode: 'open'}).innerHTML = '<input aria-label=Deep>' }",
    "a host that goes and comes": "const at = host.nextSibling; const it = host; it.remove();"
    " if (it.shadowRoot) it.shadowRoot.firstChild.textContent = pick('Deep', 'Third'); document.body.insertBefore(it, at)",
    "an element of its own kind": "document.body.append(Object.assign(document.createElement('x-y'), {textContent: 'New'}))",
    "a great many": "for (let at = 0; at < 1200; at++) document.body.dataset.at = at;"
    " first('summary').textContent = pick('More', 'New')",
    "another document in its place": "const html = document.documentElement.outerHTML; document.open();"
    " document.write(html); document.close()",
    "nothing": "0",
}

CHANGE = """([source, seed]) => {
  const pick = (...all) => all[seed % all.length];
  const host = document.getElementById('host');
  const list = () => document.querySelector('ul');
  // Where an earlier change took it away, another one that is in no document.
  const first = (css) => document.querySelector(css) ?? Object.assign(document.createElement('label'), { textContent: 'x' });
  new Function('pick', 'host', 'list', 'first', source)(pick, host, list, first);
}"""


async def after(page: cdpengine.Page, changes: list[tuple[str, int]]) -> list[str]:
    """Make changes, and return the names for which the kept probe's answer differs from a new one's."""
    for name, number in changes:
        await page.evaluate(CHANGE, [CHANGES[name], number])
    differing: list[str] = await page.evaluate("(asked) => differs(asked)", ASKED)
    return differing


@pytest.fixture
async def followed(page: cdpengine.Page) -> cdpengine.Page:
    await page.set_content(PAGE)
    await page.evaluate(INSTALL)
    assert await after(page, []) == []
    return page


async def test_each_change_is_seen(followed: cdpengine.Page) -> None:
    for name in CHANGES:
        for number in range(3):
            assert await after(followed, [(name, number)]) == [], name


@pytest.mark.parametrize("seed", range(rounds(1, 6)))
async def test_many_changes_are_seen(followed: cdpengine.Page, seed: int) -> None:
    chosen = random.Random(seed)
    for _ in range(60):
        changes = [(chosen.choice(list(CHANGES)), chosen.randrange(12)) for _ in range(chosen.randint(1, 4))]
        assert await after(followed, changes) == [], changes


async def test_removed_names_are_no_longer_found(followed: cdpengine.Page) -> None:
    """The test above would also pass if both always found everything."""
    count = "([css, name]) => { kept.update(); return kept.named(css, name).length }"
    asked = ["button", "Send it"]
    empty = await followed.evaluate(count, ["button", "nowhere"])
    assert await followed.evaluate(count, asked) == empty + 1
    await after(followed, [("a text", 1)])
    assert await followed.evaluate(count, asked) == empty
    await followed.evaluate("kept.drop()")
    assert await followed.evaluate(count, ["button", "Third"]) == empty + 1
