"""Drags in pages that react during the drag: sortable lists, moving previews, gaps that open up."""

from __future__ import annotations

import pytest
import trio
from pointer_page import at, node, record, show

import cdpengine
from cdpengine.errors import DeadlineExceededError, NotDeliveredError

pytestmark = pytest.mark.chrome

LIST = """<style>ul { margin: 0; padding: 0; width: 200px } li { height: 40px; list-style: none; background: #eee }</style>
<ul id=list><li id=a draggable=true>a</li><li id=b draggable=true>b</li><li id=c draggable=true>c</li>
<li id=d draggable=true>d</li></ul><script>
  order = () => Array.from(list.children, (item) => item.id).join("");
  dropped = "";
</script>"""

REORDERS = {
    # Like SortableJS: the dragged item and the item under the pointer change places.
    "at dragover": """<script>
      let dragged = null;
      list.ondragstart = (event) => { dragged = event.target; event.dataTransfer.setData("text/plain", dragged.id); };
      list.ondragover = (event) => {
        event.preventDefault();
        const over = event.target.closest("li");
        if (!over || over === dragged) return;
        const after = dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
        list.insertBefore(dragged, after ? over.nextSibling : over);
      };
      list.ondrop = (event) => { event.preventDefault(); dropped = order(); };
    </script>""",
    # At most every 50 ms, by the pointer's position.
    "throttled": """<script>
      let dragged = null, last = 0;
      list.ondragstart = (event) => { dragged = event.target; };
      list.ondragover = (event) => {
        event.preventDefault();
        if (performance.now() - last < 50) return;
        last = performance.now();
        const over = event.target.closest("li");
        if (!over || over === dragged) return;
        const after = dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
        list.insertBefore(dragged, after ? over.nextSibling : over);
      };
      list.ondrop = (event) => { event.preventDefault(); dropped = order(); };
    </script>""",
    # Like SortableJS with animation: moving items ignore the drag.
    "animated": """<script>
      let dragged = null;
      list.ondragstart = (event) => { dragged = event.target; };
      list.ondragover = (event) => {
        event.preventDefault();
        const over = event.target.closest("li");
        if (!over || over === dragged || over.getAnimations().length) return;
        const after = dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
        list.insertBefore(dragged, after ? over.nextSibling : over);
        for (const item of list.children) if (item !== dragged) {
          item.animate([{ transform: "translateY(20px)" }, { transform: "none" }], 150);
        }
      };
      list.ondrop = (event) => { event.preventDefault(); dropped = order(); };
    </script>""",
    # Like @hello-pangea/dnd: only the dragged item receives pointer events.
    "transparent": """<script>
      let dragged = null, from = 0;
      for (const item of list.children) item.draggable = false;
      list.onpointerdown = (event) => {
        [dragged, from] = [event.target.closest("li"), event.clientY];
        for (const item of list.children) item.style.pointerEvents = "none";
      };
      addEventListener("pointermove", (event) => {
        if (!dragged) return;
        const at = Math.min(3, Math.max(0, Math.floor(event.clientY / 40)));
        const rest = [...list.children].filter((item) => item !== dragged);
        list.insertBefore(dragged, rest[at] ?? null);
      });
      addEventListener("pointerup", () => {
        for (const item of list.children) item.style.pointerEvents = "";
        [dragged, dropped] = [null, order()];
      });
    </script>""",
    # The same, but each item accepts the drop itself, and only after dragenter.
    "at dragenter": """<script>
      let dragged = null;
      for (const item of list.children) {
        item.ondragstart = () => { dragged = item; };
        item.ondragenter = (event) => {
          event.preventDefault();
          if (item === dragged) return;
          const after = dragged.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING;
          list.insertBefore(dragged, after ? item.nextSibling : item);
        };
        item.ondragover = (event) => event.preventDefault();
        item.ondrop = (event) => { event.preventDefault(); dropped = order(); };
      }
    </script>""",
    "by pointer events": """<script>
      let dragged = null;
      list.onpointerdown = (event) => { event.preventDefault(); dragged = event.target.closest("li"); dragged.draggable = false; };
      addEventListener("pointermove", (event) => {
        if (!dragged) return;
        const over = document.elementFromPoint(event.clientX, event.clientY)?.closest("li");
        if (!over || over === dragged) return;
        const after = dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
        list.insertBefore(dragged, after ? over.nextSibling : over);
      });
      addEventListener("pointerup", () => { dragged = null; dropped = order(); });
      for (const item of list.children) item.draggable = false;
    </script>""",
    # The item follows the pointer, in front of all other elements.
    "by transforms": """<script>
      let dragged = null, from = 0;
      for (const item of list.children) item.draggable = false;
      list.onpointerdown = (event) => {
        dragged = event.target.closest("li");
        from = event.clientY;
        dragged.setPointerCapture(event.pointerId);
        dragged.style.position = "relative"; dragged.style.zIndex = 9;
      };
      list.onpointermove = (event) => { if (dragged) dragged.style.transform = `translateY(${event.clientY - from}px)`; };
      list.onpointerup = (event) => {
        const box = dragged.getBoundingClientRect(), middle = box.y + box.height / 2;
        dragged.style.transform = "";
        const rest = Array.from(list.children).filter((item) => item !== dragged);
        const next = rest.find((item) => item.getBoundingClientRect().y + 40 > middle && item.getBoundingClientRect().y < middle);
        const after = dragged.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING;
        list.insertBefore(dragged, after ? next.nextSibling : next);
        dragged = null; dropped = order();
      };
    </script>""",
}

REORDERS["throttled more"] = REORDERS["throttled"].replace("< 50", "< 100")


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", REORDERS)
@pytest.mark.parametrize(
    ("source", "destination", "order"), [("a", "c", "bcad"), ("d", "b", "adbc"), ("b", "c", "acbd")]
)
async def test_lists_that_reorder(
    page: cdpengine.Page, way: str, source: str, destination: str, order: str
) -> None:
    await show(page, LIST + REORDERS[way])
    outcome = await page.drag(await node(page, source), await node(page, destination), timeout=5)
    assert await page.evaluate("dropped") == order
    assert outcome.delivered is True
    released = await record(page, "drop", "pointerup")
    assert outcome.point is not None
    assert [(entry["x"], entry["y"]) for entry in released] == [outcome.point]
    assert page.mouse.buttons == 0


async def test_dragged_element_does_not_cover_its_destination(page: cdpengine.Page) -> None:
    """The destination is a few pixels behind the card, and the card is held at its centre."""
    await show(
        page,
        f"<div id=slot style='{at(20, 20, 60, 60)};background:#88f'></div>"
        f"<div id=card style='{at(22, 22, 70, 70)};background:#f88'></div><script>"
        "let held = false; card.onpointerdown = () => { held = true };"
        "addEventListener('pointermove', (event) => { if (held) { card.style.left = event.clientX - 35 + 'px';"
        " card.style.top = event.clientY - 35 + 'px' } }); addEventListener('pointerup', () => { held = false })</script>",
    )
    outcome = await page.drag(await node(page, "card"), await node(page, "slot"), timeout=5)
    assert outcome.delivered is True
    assert outcome.received_by.startswith("div#card")
    assert await page.evaluate("[card.offsetLeft, card.offsetTop]") == [15, 15]


async def test_drop_into_gap_that_opens_up(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<div id=src draggable=true style='{at(20, 20)}'>S</div><div id=dst style='{at(200, 100, 90, 90)}'>D</div>"
        f"<div id=open hidden style='position:fixed;inset:0'>Drop here</div><script>"
        "dst.ondragover = () => { open.hidden = false }; open = document.getElementById('open');"
        "open.ondragover = (event) => event.preventDefault(); open.ondrop = (event) => event.preventDefault()</script>",
    )
    outcome = await page.drag(await node(page, "src"), await node(page, "dst"), timeout=5)
    assert [entry["target"] for entry in await record(page, "drop")] == ["open"]
    assert outcome.delivered is True
    assert outcome.received_by == "div#open 'Drop here'"
    assert ("drop", "div#open 'Drop here'") in outcome.elsewhere


async def test_replacement_of_destination_is_named(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<div id=src draggable=true style='{at(20, 20)}'>S</div><div id=dst style='{at(200, 100, 90, 90)}'>D</div>"
        "<div id=veil hidden style='position:fixed;inset:0'></div><script>"
        "dst.ondragover = (event) => { event.preventDefault(); veil.hidden = false }</script>",
    )
    with pytest.raises(NotDeliveredError, match="div#veil appeared there and did not accept") as caught:
        await page.drag(await node(page, "src"), await node(page, "dst"), timeout=5)
    assert await record(page, "drop") == []
    assert caught.value.received_by == "div#veil"


async def test_drop_at_point_reports_the_receiving_element(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<div id=src draggable=true style='{at(20, 20)}'>S</div><div id=dst style='{at(200, 100, 90, 90)}'>D</div>"
        "<script>dst.ondragover = (event) => event.preventDefault(); dst.ondrop = (event) => event.preventDefault()</script>",
    )
    source = await node(page, "src")
    accepted = await page.drag(source, (230, 130), timeout=5)
    assert (accepted.delivered, accepted.received_by) == (True, "div#dst 'D'")
    refused = await page.drag(source, (400, 300), timeout=5)
    assert refused.delivered is False
    assert [entry["target"] for entry in await record(page, "drop")] == ["dst"]


async def test_blocked_press_of_drag_clicks_nothing(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<div id=src style='{at(20, 20)}'>S</div><div id=dst style='{at(200, 100, 90, 90)}'>D</div>"
        "<div id=veil hidden style='position:fixed;inset:0'></div><script>let once = true; hits = [];"
        "for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click']) veil.addEventListener(type, () => hits.push(type));"
        "src.onmousemove = () => { if (once) { once = veil.hidden = false; setTimeout(() => { veil.hidden = true }, 60) } }</script>",
    )
    outcome = await page.drag(await node(page, "src"), await node(page, "dst"), timeout=5)
    assert outcome.delivered is True
    assert await page.evaluate("hits") == []
    pressed = await record(page, "pointerdown")  # the window receives it before the engine blocks it
    assert [entry["target"] for entry in pressed] == ["veil", "src"]


LONG_PRESS = f"""<style>div {{ user-select: none }}</style>
<div id=src style='{at(20, 20)}'>S</div><div id=dst style='{at(200, 100, 90, 90)}'>D</div><script>
  var moved = 0, dropped = "", timer = 0, lifted = false;
  src.onpointerdown = () => {{ timer = setTimeout(() => {{ lifted = true }}, 150) }};
  addEventListener("pointermove", () => {{ if (!lifted) clearTimeout(timer); else moved++ }});
  addEventListener("pointerup", (event) => {{
    clearTimeout(timer);
    if (lifted) dropped = document.elementFromPoint(event.clientX, event.clientY).id;
    lifted = false;
  }});
</script>"""


async def test_long_press_lifts_the_dragged_element(page: cdpengine.Page) -> None:
    await show(page, LONG_PRESS)
    source, destination = await node(page, "src"), await node(page, "dst")
    await page.drag(source, destination, timeout=5)
    assert await page.evaluate("[moved, dropped]") == [0, ""]
    await page.drag(source, destination, hold=0.3, timeout=5)
    assert await page.evaluate("moved > 3 && dropped") == "dst"
    await page.drag(source, (230, 130), hold=0.3, timeout=5)
    assert await page.evaluate("dropped") == "dst"
    with trio.move_on_after(0.5) as cancelled:
        await page.drag(source, destination, hold=60)
    assert cancelled.cancelled_caught
    assert page.mouse.buttons == 0
    assert [entry["buttons"] for entry in await record(page, "pointerup")] == [0, 0, 0, 0]


async def test_hold_ends_at_the_deadline(page: cdpengine.Page) -> None:
    await show(page, LONG_PRESS)
    with pytest.raises(DeadlineExceededError):
        await page.drag(await node(page, "src"), await node(page, "dst"), hold=60, timeout=0.6)
    assert page.mouse.buttons == 0


async def test_cover_that_appeared_after_the_press_is_ignored(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<div id=src style='{at(20, 20)}'>S</div><div id=dst style='{at(60, 60, 90, 90)}'>D</div><script>"
        "let held = []; var dropped = '';"
        "src.onmousedown = (event) => { event.preventDefault();"
        "  const glass = document.createElement('div'), clone = src.cloneNode(true); held = [glass, clone];"
        "  glass.style = 'position:fixed;inset:0;z-index:9'; clone.style.zIndex = 10; document.body.append(...held) };"
        "addEventListener('mousemove', (event) => { if (!held.length) return;"
        "  held[1].style.left = event.clientX - 40 + 'px'; held[1].style.top = event.clientY - 15 + 'px' });"
        "addEventListener('mouseup', (event) => { for (const each of held.splice(0)) each.remove();"
        "  dropped = document.elementFromPoint(event.clientX, event.clientY).id })</script>",
    )
    outcome = await page.drag(await node(page, "src"), await node(page, "dst"), timeout=5)
    assert outcome.delivered is True
    assert await page.evaluate("dropped") == "dst"


async def test_a_map_is_panned_by_a_drag_within_it(page: cdpengine.Page) -> None:
    await show(
        page,
        f"<div id=map style='{at(20, 20, 400, 300)};overflow:hidden'><div id=tiles style='{at(0, 0, 900, 900)}'></div></div>"
        "<script>var place = [0, 0]; let from = null;"
        "map.onpointerdown = (event) => { from = [event.clientX, event.clientY]; map.setPointerCapture(event.pointerId) };"
        "map.onpointermove = (event) => { if (from) tiles.style.translate ="
        " `${event.clientX - from[0]}px ${event.clientY - from[1]}px` };"
        "map.onpointerup = (event) => { place = [event.clientX - from[0], event.clientY - from[1]].map(Math.round); from = null }</script>",
    )
    world = await node(page, "document.getElementById('map')")
    for source, destination in ((world, world), (await node(page, "tiles"), world)):
        await page.evaluate("tiles.style.translate = 'none'")
        outcome = await page.drag(
            source, destination, source_position=(300, 200), position=(100, 150), timeout=5
        )
        assert outcome.delivered is True
        assert await page.evaluate("place") == [-200, -50]
