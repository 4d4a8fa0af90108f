"""A find request by text returns the element that contains the text, and a click on it hits nothing else."""

from __future__ import annotations

import pytest

import cdpengine
from cdpengine.act import Actor, dispatch
from cdpengine.shell.printing import print_response

PAGE = """<script>hits = []; addEventListener('click', (event) => hits.push(event.composedPath()[0].id), true)</script>
<main aria-label=Mails style="display: block; width: 400px">
  <div id=ann>Mail from Ann</div><div id=bob>Mail from Bob</div>
  <button id=archive style="display: block; margin: auto">Archive all</button>
  <div id=split>Mail from <b>Cy</b> today</div><ul><li id=item>Mail from Di</ul>
  <table><tr><td id=cell>Mail from Ed<td>x</table>
  <button id=named aria-label="Mail from Flo">F</button>
</main>
<div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<p id=inner>Mail from Gus</p>'</script>"""


@pytest.fixture
async def actor(browser: cdpengine.Browser, page: cdpengine.Page) -> Actor:
    await page.set_content(PAGE)
    actor = Actor(browser)
    actor.focus(page)
    return actor


@pytest.mark.parametrize(("text", "hit"), [
    ("Mail from Bob", "bob"), ("mail from cy today", "split"), ("Mail from Di", "item"), ("Mail from Ed", "cell"),
    ("Mail from Flo", "named"), ("Mail from Gus", "inner"), ("Archive all", "archive"),
])  # fmt: skip
async def test_element_that_contains_the_text_is_hit(
    actor: Actor, page: cdpengine.Page, text: str, hit: str
) -> None:
    found = await dispatch(actor, {"kind": "find", "text": text})
    assert found.ok, found.error
    assert found.result["count"] == 1
    [node] = found.result["nodes"]
    clicked = await dispatch(actor, {"kind": "click", "ref": node["ref"]})
    assert clicked.ok, clicked.error
    assert await page.evaluate("hits") == [hit]
    again = await dispatch(actor, {"kind": "find", "text": text})
    assert [each["ref"] for each in again.result["nodes"]] == [node["ref"]]


async def test_element_without_a_name_has_its_text(actor: Actor, page: cdpengine.Page) -> None:
    await page.set_content(
        "<ul><li>Milk, <b>2</b> litres<li>Eggs <button>Buy</button><li><li aria-label=Tea>T</ul>"
        f"<iframe srcdoc='<li>In a frame <input type=password value=secret>'></iframe><ol><li>{'long ' * 99}</ol>"
    )
    found = await dispatch(actor, {"kind": "find", "role": "listitem"})
    texts = [node.get("text") for node in found.result["nodes"]]
    assert texts[:2] == ["Milk, 2 litres", "Eggs Buy"]
    assert {"In a frame", None} < set(texts)
    assert 250 < len(str(next(text for text in texts if text and text.startswith("long")))) <= 301
    assert "secret" not in str(found.result)
    lines = print_response(found, as_json=False).out.splitlines()
    assert 'listitem "Milk, 2 litres"' in lines[0]
    assert max(map(len, lines)) < 120


async def test_several_elements_are_counted(actor: Actor) -> None:
    found = await dispatch(actor, {"kind": "find", "text": "Mail from", "limit": 2})
    assert found.ok
    assert found.result["count"] == 6
    assert [each["name"] for each in found.result["nodes"]] == ["Mail from Ann", "Mail from Bob"]
