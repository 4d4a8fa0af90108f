// Returns [width, height] of the area that the wheel scrolls, at most the viewport's size. It is the nearest element
// around a node, or around a point of the viewport, that can still scroll in this direction; else the viewport.
// Runs in an isolated world, on a node or with a point, with
//   way     "up", "down", "left" or "right"
//   point   [x, y] in CSS pixels of the viewport; null for the node
(function (request) {
  "use strict";

  const SLACK = 1; // rounding error at the end of a scroller, in CSS pixels
  const across = request.way === "left" || request.way === "right";
  const onward = request.way === "right" || request.way === "down";
  const least = [innerWidth, innerHeight];

  const flatParent = (at) => {
    const root = DOM.parentNode(at);
    return DOM.assignedSlot(at) || (root instanceof ShadowRoot ? DOM.host(root) : DOM.parentElement(at));
  };

  // The innermost element at a point, through open shadow roots and readable frames.
  function elementAt(x, y) {
    let hit = DOM.elementFromPoint(document, x, y);
    while (hit) {
      const inner = DOM.shadowRoot(hit) && DOM.elementFromPoint(DOM.shadowRoot(hit), x, y);
      if (inner && inner !== hit && DOM.getRootNode(inner) === DOM.shadowRoot(hit)) {
        hit = inner;
        continue;
      }
      const framed = DOM.localName(hit) === "iframe" ? hit.contentDocument : null;
      if (!framed) break;
      const box = DOM.getBoundingClientRect(hit);
      [x, y] = [x - box.left - DOM.clientLeft(hit), y - box.top - DOM.clientTop(hit)];
      const within = DOM.elementFromPoint(framed, x, y);
      if (!within) break;
      hit = within;
    }
    return hit;
  }

  function scrolls(at) {
    const style = getComputedStyle(at);
    if (!/^(auto|scroll|overlay)$/.test(across ? style.overflowX : style.overflowY)) return false;
    const [whole, shown] = across ? [at.scrollWidth, at.clientWidth] : [at.scrollHeight, at.clientHeight];
    const from = across ? DOM.scrollLeft(at) : at.scrollTop;
    if (whole - shown <= SLACK) return false;
    // In a right-to-left scroller, the offset counts down from the right end.
    const done = across && style.direction === "rtl" ? from + whole - shown : from;
    return onward ? done < whole - shown - SLACK : done > SLACK;
  }

  let at = request.point ? elementAt(...request.point) : DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  while (at) {
    const owner = DOM.ownerDocument(at);
    const isRoot = at === DOM.documentElement(owner) || at === DOM.body(owner);
    if (!isRoot && scrolls(at)) return [Math.min(at.clientWidth, least[0]), Math.min(at.clientHeight, least[1])];
    const next = flatParent(at);
    if (!next && owner !== document) return [owner.defaultView.innerWidth, owner.defaultView.innerHeight];
    at = next;
  }
  return [innerWidth, innerHeight];
})
