// Arms a witness: it sees, as the page's own events tell, who receives the input of one action.
// Called in an isolated world, right before the input is sent, with what to watch:
//   id       the action's own name; arming again under it begins anew
//   turn     which arming this is: receipt.js is asked with the same number
//   watch    the types of the events to look at
//   final    the type of the event that completes the action, `count` times; "" for none
//   guard    a press that goes to something else is held back from it, with all that follows from it
//   inside   the node is a frame around the real one: whatever is seen here went astray
// the points that may be pointed at, in the document's coordinates, and the node's tools. Only trusted events at
// one of those points count. The record lies on the isolated world's own view of the document; receipt.js reads it
// and takes the listeners away.
(function (wanted, points, tools) {
  "use strict";

  const NEAR = 1.5; // CSS pixels: Chrome rounds the coordinates of events
  const PRESSES = ["pointerdown", "mousedown", "touchstart"];
  const MOST = 60; // events on record

  const { element, flatAncestors, describe, rects, roots, elementAt, receives } = tools;
  const witnesses = document.cdpengineWitnesses;
  const before = witnesses?.get(wanted.id);
  if (!before) return; // it was ended before it began
  before.unlisten();

  const record = { complete: false, seen: [], finals: 0, other: "", astray: "", held: false, consumed: false };
  const closed = roots().filter((root) => root instanceof ShadowRoot && root.mode === "closed");
  const listening = [];
  const waiting = before.waiting; // those to be told, once, when the action is complete
  let decided = null; // the event looked at last: where the node is in closed shadow roots it passes here twice
  let press = null; // the one under way: whether all of the page's handlers let it pass, and took the node away

  function near(event) {
    const { clientX, clientY } = event.changedTouches ? event.changedTouches[0] : event;
    return points.some(([x, y]) => Math.abs(x - clientX) <= NEAR && Math.abs(y - clientY) <= NEAR);
  }

  // Chrome scrolls before it tells the page of the wheel: by then something else can be at the point.
  function scrolled() {
    return Array.from(flatAncestors(element), (at) => at.scrollLeft + " " + at.scrollTop).join();
  }
  const scrolledBefore = wanted.watch.includes("wheel") ? scrolled() : "";

  function meant(event) {
    if (wanted.inside) return false;
    if (event.type === "wheel" && scrolled() !== scrolledBefore) return true;
    const path = event.composedPath();
    return path.includes(element) || path.some((at) => at.localName === "label" && at.control === element);
  }

  // In the window nothing is seen of what lies in a closed shadow root; the listener in there decides.
  function hidden(event) {
    const inner = closed.filter((root) => root !== event.currentTarget && !event.composedPath().includes(root));
    return inner.some((root) => event.composedPath().includes(root.host));
  }

  function stop(event) {
    event.stopImmediatePropagation();
    if (event.cancelable) event.preventDefault();
  }

  function handle(event) {
    if (!event.isTrusted || record.complete || event === decided || !near(event)) return;
    if (event.type === "pointerdown") press = null; // a new press, to be judged anew
    if (meant(event)) {
      decided = event;
      received(event);
    } else if (!hidden(event)) {
      decided = event;
      strayed(event);
    }
  }

  function received(event) {
    if (PRESSES.includes(event.type)) press = { reached: false, gone: false };
    if (record.seen.length < MOST) record.seen.push(event.type);
    if (event.type === wanted.final && ++record.finals >= wanted.count) {
      record.complete = true;
      // Told in full to who asked last, it has nothing left to see or to say. That question can come late.
      if (waiting.some(({ turn }) => turn === wanted.turn)) tools.ended(wanted.id);
      waiting.splice(0).forEach(({ tell }) => tell(record));
    }
  }

  function strayed(event) {
    // Another action's, which watches for itself.
    for (const other of witnesses.values()) if (other.meant !== meant && other.meant(event)) return;
    const at = event.composedPath()[0];
    if (!record.other && at instanceof Element) record.other = describe(at);
    record.astray ||= event.type;
    if (press) {
      // Its beginning was received. Where the page's own handlers of that took the node away or hid it, it has
      // done all that it could do.
      record.consumed ||= press.gone || (!press.reached && rects().length === 0);
    } else if (wanted.guard && (record.held || PRESSES.includes(event.type))) {
      record.held = true;
      stop(event);
    }
  }

  function afterPress(event) {
    if (!press || event !== decided) return;
    const hit = element.isConnected ? elementAt(event.clientX, event.clientY) : null;
    press.reached = true;
    press.gone = hit === null || !receives(hit);
  }

  function listen(target, type, listener, capture) {
    const options = { capture, passive: !wanted.guard };
    target.addEventListener(type, listener, options);
    listening.push(() => target.removeEventListener(type, listener, options));
  }

  for (const target of [window, ...closed]) for (const type of wanted.watch) listen(target, type, handle, true);
  for (const type of ["pointerdown", "mousedown"]) {
    if (wanted.watch.includes(type)) listen(window, type, afterPress, false);
  }

  witnesses.set(wanted.id, {
    record,
    waiting,
    meant,
    unlisten: () => listening.forEach((remove) => remove()),
  });
})
