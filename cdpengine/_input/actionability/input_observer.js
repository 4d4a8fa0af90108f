// Arms an observer, which records the page's events to learn which element receives the input of one action.
// Called in an isolated world, right before the input is sent, with the request `wanted`:
//   id       the action's id; arming again with this id restarts the observer
//   turn     the number of this arming, which input_report.js is called with as well
//   watch    the event types to record
//   final    the event type that completes the action after `count` events; "" for none
//   guard    hold back a press that would reach another element, with all events after it
//   inside   the node is a frame around the target: all events seen in this document went astray
//   disabled a disabled node counts as receiving the action
//   markId   the fractions of a pixel, [x, y], at which the action's input is sent; null for none
// and with the possible points of the input in the document's coordinates, the node's tools, and the document's
// state `known`. Only trusted events count, at one of those points and caused by this action's input.
// input_report.js returns the record and removes the listeners.
(function (wanted, points, tools, known) {
  "use strict";

  const NEAR = 1.5; // CSS pixels: Chrome rounds the coordinates of mouse events
  const EXACT = 1 / 600; // CSS pixels: marks are 1/256 apart, and pointer events have the precision of a float
  const PRESSES = ["pointerdown", "mousedown", "touchstart"];
  const POINTERS = ["pointerover", "pointermove", "pointerdown", "pointerup", "pointercancel"];
  const RELEASES = ["mouseup", "click", "contextmenu"];
  const MOST = 60; // maximum number of recorded events
  const FRAMES = "iframe, frame, fencedframe, object, embed";

  const { element, flatAncestors, describe, roots, elementAt, reaches, receives } = tools;
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype; // for the window and nodes
  const { observers } = known;
  const before = observers.get(wanted.id);
  if (!before) return; // it was ended before it was armed
  // A late probe, repeated after a termination: the input has already arrived.
  if (before.turn === wanted.turn && before.record && (before.record.seen.length > 0 || before.record.held)) return;
  before.unlisten();

  const record = {};
  const closed = roots().filter((root) => root instanceof ShadowRoot && root.mode === "closed");
  const listening = [];
  const entry = {
    record,
    turn: wanted.turn,
    waiting: before.waiting, // requests for the report, which is made once
    done: false, // whether it was made
    meant,
    settle,
    unlisten: () => listening.forEach((remove) => remove()),
  };
  let decided = null; // the last handled event; with closed shadow roots an event passes twice
  let last = null; // the last pointer event, and whether it was this action's
  let certain = wanted.markId === null; // whether the recorded events are certainly this action's
  let foreign = false; // whether another client's input was seen
  let pressing = false; // whether the current press was received
  let touched = null; // the target of the last event, in the node
  let spot = null; // its coordinates
  let open = false; // whether the page may still be handling it
  let between = false; // whether the page may still be handling enter or focus events between two input events
  begin();

  function begin() {
    Object.assign(record, { complete: false, seen: [], finals: 0, astray: [], held: "", answered: false });
    record.passes = DOM.matches(element, FRAMES); // to the document inside
    [pressing, touched, open, between] = [false, null, false, false];
  }

  const at = (event) => (event.changedTouches ? event.changedTouches[0] : event);

  function near(event) {
    const { clientX, clientY } = at(event);
    return points.some(([x, y]) => Math.abs(x - clientX) <= NEAR && Math.abs(y - clientY) <= NEAR);
  }

  // Chrome passes the fraction of a pixel on to screenX, in all frames, and to clientX at any zoom.
  function marked(event) {
    const { clientX, clientY, screenX, screenY } = at(event);
    const { offsetLeft, offsetTop } = visualViewport;
    const off = (value, mark) => Math.abs(value - mark - Math.round(value - mark));
    const fits = (x, y) => off(x, wanted.markId[0]) <= EXACT && off(y, wanted.markId[1]) <= EXACT;
    return fits(screenX, screenY) || fits(clientX - offsetLeft, clientY - offsetTop);
  }

  // Whether this action's input caused the event; null if unknown. Mouse events have whole coordinates, and
  // directly follow their pointer event with the same timestamp.
  function isOwn(event) {
    if (wanted.markId === null) return true;
    const pointer = POINTERS.includes(event.type);
    if (pointer || event.changedTouches) {
      const own = marked(event);
      if (own) known.marks = true;
      if (pointer) last = { own, time: event.timeStamp, touch: event.pointerType === "touch" ? event.pointerId : -1 };
      return own;
    }
    const follows = last !== null && (last.time === event.timeStamp || last.touch === event.pointerId);
    return follows ? last.own : null;
  }

  // Chrome scrolls before the page receives the wheel event, so another element may be at the point by then.
  function scrolled() {
    return Array.from(flatAncestors(element), (each) => DOM.scrollLeft(each) + " " + DOM.scrollTop(each)).join();
  }
  const scrolledBefore = wanted.watch.includes("wheel") ? scrolled() : "";

  function meant(event) {
    if (wanted.inside) return false;
    if (event.type === "wheel" && scrolled() !== scrolledBefore) return true;
    return reaches(event.composedPath());
  }

  // At the window, events from a closed shadow root hide their target. The listener inside the root handles them.
  function hidden(event) {
    const inner = closed.filter((root) => root !== event.currentTarget && !event.composedPath().includes(root));
    return inner.some((root) => event.composedPath().includes(root.host));
  }

  function stop(event) {
    event.stopImmediatePropagation();
    if (event.cancelable) event.preventDefault();
  }

  function handle(event) {
    if (!event.isTrusted || (record.complete && certain) || event === decided) return;
    const own = isOwn(event);
    // A drag also causes events on its way. A list may have moved another element to the point before the drag
    // arrives.
    if (!near(event) && !(event.type.startsWith("drag") && meant(event))) return;
    if (own && !certain) {
      begin(); // the events recorded so far were another client's
      certain = true;
    }
    // If marks arrive in this document, unmarked events are another client's. If none ever did, nothing is known.
    if (own === false && known.marks) foreign = true;
    if (!own && foreign) return;
    if (!wanted.watch.includes(event.type)) {
      if (record.held && !pressing && !POINTERS.slice(0, 2).includes(event.type)) stop(event);
      return;
    }
    if (event.type === "pointerdown") pressing = false; // a new press is judged separately
    if (meant(event)) {
      decided = event;
      // Pointer events reach a disabled control, but the mouse events after them do not.
      if (wanted.guard && !pressing && (record.held || (PRESSES.includes(event.type) && disabled()))) {
        strayed(event, describe(element) + " (disabled)");
      } else {
        received(event);
      }
    } else if (!hidden(event)) {
      decided = event;
      const target = event.composedPath()[0];
      strayed(event, target instanceof Element ? describe(target) : "the document");
    }
  }

  const disabled = () => !wanted.disabled && DOM.matches(element, ":disabled");

  function received(event) {
    settle();
    pressing ||= PRESSES.includes(event.type);
    // The state before the page handled the event is not the page's response to it.
    [touched, spot, open] = [event.composedPath()[0], at(event), !disabled()];
    if (record.seen.length < MOST) record.seen.push(event.type);
    if (event.type === wanted.final && ++record.finals >= wanted.count) {
      record.complete = true;
      if (!certain) return;
      // The latest request gets the full report now. If that request is still to come, the observer waits for it.
      if (entry.waiting.some(({ turn }) => turn === wanted.turn)) tools.ended(wanted.id);
      report();
    }
  }

  function strayed(event, who) {
    // The event may be for another action, whose observer handles it.
    for (const other of observers.values()) if (other.meant !== meant && other.meant(event)) return;
    settle();
    if (!pressing && wanted.guard && (record.held || PRESSES.includes(event.type))) {
      const first = !record.held;
      record.held ||= who;
      stop(event);
      if (first && certain) report();
    } else if (record.astray.length < MOST) {
      record.astray.push([event.type, who]);
    }
  }

  function report() {
    entry.done = true;
    entry.waiting.splice(0).forEach(({ resolve }) => resolve(record));
  }

  // Checks, after the page has handled an event of the node, whether the pointer still hits the node. If it does
  // not, the page responded. Called at the end of the event's dispatch, or before the next event.
  function settle() {
    if (record.answered || !(open || between)) return;
    open = between = false;
    const gone = !DOM.isConnected(element) || !DOM.isConnected(touched);
    const hit = gone ? null : elementAt(spot.clientX, spot.clientY);
    record.answered = disabled() || hit === null || !receives(hit);
  }

  // Focus changes happen between two pointer events, or within one if the page moves the focus. A node that is
  // removed while it receives the focus loses it first.
  function focusing(event) {
    between ||= pressing && (event.type === "focus" || !event.composedPath().includes(element));
  }

  function focused(event) {
    if (open) return;
    const removed = between && event.type === "focusout" && event.composedPath().includes(element);
    settle();
    between = removed;
  }

  function entered(event) {
    between ||= event.target === element && record.seen.length > 0;
  }

  function leaving(event) {
    if (!event.isTrusted) return;
    if (record.seen.length > 0) record.answered = true;
    report();
    tools.ended(wanted.id); // the document may be restored later, when nothing else would remove the listeners
  }

  function listen(target, type, listener, capture) {
    const options = { capture, passive: !wanted.guard };
    add.call(target, type, listener, options);
    listening.push(() => remove.call(target, type, listener, options));
  }

  for (const target of [window, ...closed]) {
    for (const type of new Set([...POINTERS, ...RELEASES, ...wanted.watch])) listen(target, type, handle, true);
    for (const type of ["focus", "blur"]) listen(target, type, focusing, true);
    for (const type of ["pointerenter", "mouseenter"]) listen(target, type, entered, true);
  }
  // A node that one event removes still receives the events that Chrome sends with it, by a separate path.
  for (const type of wanted.watch) listen(element, type, handle, true);
  for (const type of wanted.watch) listen(window, type, settle, false);
  for (const type of ["focusin", "focusout"]) listen(window, type, focused, false);
  listen(window, "pagehide", leaving, true);

  observers.set(wanted.id, entry);
})
