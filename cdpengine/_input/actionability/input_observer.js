// Arms an observer: it sees, by the page's own events, what receives the input of one action.
// Called in an isolated world, right before the input is sent, with what to watch:
//   id       the action's own name; arming again under it begins anew
//   turn     which arming this is: input_report.js is asked with the same number
//   watch    the types of the events to look at
//   final    the type of the event that completes the action, `count` times; "" for none
//   guard    a press that goes to something else is held back from it, with all that follows from it
//   inside   the node is a frame around the real one: whatever is seen here went astray
//   disabled a disabled node receives the action too
//   markId   the fractions of a pixel, [x, y], at which the action's input is sent; null where it has none
// the points that may be pointed at, in the document's coordinates, the node's tools, and what is known in this
// document of marks. Only trusted events at one of those points count, and only those that this action's input set
// off. input_report.js reads the record and takes the listeners away.
(function (wanted, points, tools, known) {
  "use strict";

  const NEAR = 1.5; // CSS pixels: Chrome rounds the coordinates of mouse events
  const EXACT = 1 / 600; // CSS pixels: marks are 1/256 apart, and pointer events have the precision of a float
  const PRESSES = ["pointerdown", "mousedown", "touchstart"];
  const POINTERS = ["pointerover", "pointermove", "pointerdown", "pointerup", "pointercancel"];
  const RELEASES = ["mouseup", "click", "contextmenu"];
  const MOST = 60; // events on record
  const FRAMES = "iframe, frame, fencedframe, object, embed";

  const { element, flatAncestors, describe, roots, elementAt, reaches, receives } = tools;
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype; // of the window, and of nodes
  const { observers } = known;
  const before = observers.get(wanted.id);
  if (!before) return; // it was ended before it began
  // A probe that was asked again after a termination, and comes late: the input has arrived by now.
  if (before.turn === wanted.turn && before.record && (before.record.seen.length > 0 || before.record.held)) return;
  before.unlisten();

  const record = {};
  const closed = roots().filter((root) => root instanceof ShadowRoot && root.mode === "closed");
  const listening = [];
  const entry = {
    record,
    turn: wanted.turn,
    waiting: before.waiting, // those that wait for the report, which is made once
    done: false, // whether that was so
    meant,
    settle,
    unlisten: () => listening.forEach((remove) => remove()),
  };
  let decided = null; // the event looked at last: where the node is in closed shadow roots it passes here twice
  let last = null; // the pointer event seen last, and whether it was this action's
  let certain = wanted.markId === null; // whether what is on record is surely this action's
  let foreign = false; // whether another client's input was seen
  let pressing = false; // whether the press under way was received
  let touched = null; // what in the node received the last event
  let spot = null; // where that was
  let open = false; // whether the page may still be handling it
  let between = false; // whether it may still be handling what comes between two events: enter, and the focus
  begin();

  function begin() {
    Object.assign(record, { complete: false, seen: [], finals: 0, astray: [], held: "", answered: false });
    record.passes = DOM.matches(element, FRAMES); // to the document in it
    [pressing, touched, open, between] = [false, null, false, false];
  }

  const at = (event) => (event.changedTouches ? event.changedTouches[0] : event);

  function near(event) {
    const { clientX, clientY } = at(event);
    return points.some(([x, y]) => Math.abs(x - clientX) <= NEAR && Math.abs(y - clientY) <= NEAR);
  }

  // Chrome takes the fraction of a pixel along to screenX, through all frames; and to clientX, whatever the zoom.
  function marked(event) {
    const { clientX, clientY, screenX, screenY } = at(event);
    const { offsetLeft, offsetTop } = visualViewport;
    const off = (value, mark) => Math.abs(value - mark - Math.round(value - mark));
    const fits = (x, y) => off(x, wanted.markId[0]) <= EXACT && off(y, wanted.markId[1]) <= EXACT;
    return fits(screenX, screenY) || fits(clientX - offsetLeft, clientY - offsetTop);
  }

  // Whether this action's input set the event off; null where that is not known. Mouse events have whole coordinates, and
  // follow their pointer event at once, with its time.
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

  // Chrome scrolls before the page gets the wheel event: by then something else can be at the point.
  function scrolled() {
    return Array.from(flatAncestors(element), (each) => DOM.scrollLeft(each) + " " + DOM.scrollTop(each)).join();
  }
  const scrolledBefore = wanted.watch.includes("wheel") ? scrolled() : "";

  function meant(event) {
    if (wanted.inside) return false;
    if (event.type === "wheel" && scrolled() !== scrolledBefore) return true;
    return reaches(event.composedPath());
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
    if (!event.isTrusted || (record.complete && certain) || event === decided) return;
    const own = isOwn(event);
    // A drag has events where it comes by, too: a list can have put something else at the point by the time it is there.
    if (!near(event) && !(event.type.startsWith("drag") && meant(event))) return;
    if (own && !certain) {
      begin(); // what was taken for its own before it came was another client's
      certain = true;
    }
    // Where marks arrive, what bears none is another client's. Where none ever did, there is nothing to go by.
    if (own === false && known.marks) foreign = true;
    if (!own && foreign) return;
    if (!wanted.watch.includes(event.type)) {
      if (record.held && !pressing && !POINTERS.slice(0, 2).includes(event.type)) stop(event);
      return;
    }
    if (event.type === "pointerdown") pressing = false; // a new press, to be judged anew
    if (meant(event)) {
      decided = event;
      // Pointer events reach a disabled control, the mouse events that follow do not.
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
    // What was so before the page heard of the event is not its answer to that.
    [touched, spot, open] = [event.composedPath()[0], at(event), !disabled()];
    if (record.seen.length < MOST) record.seen.push(event.type);
    if (event.type === wanted.final && ++record.finals >= wanted.count) {
      record.complete = true;
      if (!certain) return;
      // Told in full to who asked last, it has nothing left to see or to say. That question can come late.
      if (entry.waiting.some(({ turn }) => turn === wanted.turn)) tools.ended(wanted.id);
      report();
    }
  }

  function strayed(event, who) {
    // Another action's, which watches for itself.
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
    entry.waiting.splice(0).forEach(({ tell }) => tell(record));
  }

  // Looks, once the page has handled what the node received, whether the pointer still has the node: if not, that is
  // the page's own answer. Called at the end of an event's way, or before the next one.
  function settle() {
    if (record.answered || !(open || between)) return;
    open = between = false;
    const gone = !DOM.isConnected(element) || !DOM.isConnected(touched);
    const hit = gone ? null : elementAt(spot.clientX, spot.clientY);
    record.answered = disabled() || hit === null || !receives(hit);
  }

  // What moves the focus comes between two events of the pointer, or within one where the page moves it. A node that
  // is removed as it gets the focus loses it first.
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
    tools.ended(wanted.id); // the document may come back, and no one is left to take the listeners away
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
  // A node that is removed by one event still gets those that Chrome sends along with it, by a way of its own.
  for (const type of wanted.watch) listen(element, type, handle, true);
  for (const type of wanted.watch) listen(window, type, settle, false);
  for (const type of ["focusin", "focusout"]) listen(window, type, focused, false);
  listen(window, "pagehide", leaving, true);

  observers.set(wanted.id, entry);
})
