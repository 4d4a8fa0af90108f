// Keeps the keys of an action from all elements except the intended one. Creates, once per world, the library's
// functions for key guards:
//   arm(wanted, element, holder, since)  start to guard keys of the action on `element`. Called directly after
//                                  `holder` got the focus. `wanted.id`: the guard's id; `wanted.single`: one key
//                                  or chord, not a string; `wanted.tabs`: the keys include Tab. `since`: for a
//                                  text field, the mark of pace.js from before the focus; null for others
//   mark(), settle(since)          see pace.js
//   focused(id)                    settles when the page has done what it scheduled at the focus. Returns whether
//                                  it had scheduled something
//   typed(id)                      settles when the page has done what it scheduled at a key
//   lost(id)                       settles when a key was held back, or the focus moved where keys cannot be
//                                  held back
//   report(id)                     returns the result of the guard, see `KeyReport`; ends the guard unless a key
//                                  was lost
//   editorInput(node)              returns the input of a code editor (node_tools.js), for callers that have
//                                  only this object
//   stray(id)                      returns the element that had the focus instead of the holder, and ends the
//                                  guard
// Keys are sent in batches, so the page can move the focus between two keys. The first key that would reach
// another element is held back with all keys after it: their defaults are prevented and their propagation stops.
// Only listeners that the page added to its window earlier still receive them. While the focus stays, the guard
// listens only for blur, so guarded keys cost no more than others.
(function (toolsOf, pace) {
  "use strict";

  const guards = new Map();
  const HELD = ["keydown", "keypress", "keyup", "beforeinput"];
  const BOX = ["text", "tel", "password", "number"]; // types of inputs that hold one character of a code

  const isEditable = (at) => DOM.isContentEditable(at) || ["textarea", "input"].includes(DOM.localName(at));

  // Whether the page moved the focus from one section of a date or time to the next: spin buttons in a group.
  function isNextSection(from, to) {
    const isSection = (at) => DOM.getAttribute(at, "role") === "spinbutton";
    const group = DOM.nodeType(to) === Node.ELEMENT_NODE && isSection(from) && isSection(to) ? DOM.closest(from, "[role=group]") : null;
    const sections = group ? Array.from(DOM.querySelectorAll(group, "[role=spinbutton]")) : [];
    return sections.length > 1 && sections[sections.indexOf(from) + 1] === to;
  }

  // Whether the page moved the focus from one box of a code to the next. Each box holds one character.
  function isNextBox(from, to) {
    if (isNextSection(from, to)) return true;
    const isBox = (at) => DOM.localName(at) === "input" && BOX.includes(at.type);
    if (!isBox(from) || !isBox(to) || from.form !== to.form || from.value.length > 1) return false;
    const boxes = Array.from(DOM.querySelectorAll(DOM.getRootNode(from), "input")).filter(isBox);
    if (boxes[boxes.indexOf(from) + 1] !== to) return false;
    if (from.maxLength === 1 && to.maxLength === 1) return true;
    const square = (at) => at.offsetWidth > 0 && at.offsetWidth <= 1.6 * at.offsetHeight;
    return square(from) && square(to) && from.offsetWidth === to.offsetWidth && from.value.length === 1;
  }

  // The document of a window, or null if it is cross-origin.
  function documentOf(at) {
    try {
      return at.document;
    } catch {
      return null;
    }
  }

  // All windows of the page whose documents are accessible.
  function* windows(at = top) {
    if (documentOf(at)) yield at;
    for (let number = 0; number < at.length; number++) yield* windows(at[number]);
  }

  // Whether the focus, which left this document, may be in an inaccessible one.
  function isOutOfReach() {
    if (!documentOf(top)) return true;
    for (let inner = documentOf(top); ; ) {
      let at = DOM.activeElement(inner);
      while (at && DOM.shadowRoot(at) && DOM.activeElement(DOM.shadowRoot(at))) at = DOM.activeElement(DOM.shadowRoot(at));
      if (!at || !["iframe", "frame", "object", "embed"].includes(DOM.localName(at))) return false;
      inner = at.contentDocument;
      if (!inner) return true;
    }
  }

  function arm(wanted, element, holder, since) {
    guards.get(wanted.id)?.end();
    const listening = [];
    let waiting = [];
    let host = element;
    let tabbing = false; // whether Tab is moving the focus, so that later keys follow to the next field
    let last = null; // the last keydown event that the holder received
    const seen = { taken: 0, keys: 0, held: 0, lost: false, unseen: false, counted: false, tabbed: false, stray: "" };
    const guard = { seen, strayed: null, wait, end, followed: since ? pace.follow(holder, since) : null };

    const closed = [];
    for (let root = DOM.getRootNode(holder); root instanceof ShadowRoot; root = DOM.getRootNode(DOM.host(root))) {
      if (root.mode === "closed") closed.push(root);
    }

    function listen(target, type, listener) {
      target.addEventListener(type, listener, true);
      listening.push(() => target.removeEventListener(type, listener, true));
    }

    function isMeant(at) {
      if (at === holder) return true;
      if (DOM.nodeType(at) !== Node.ELEMENT_NODE) return false;
      const isWithin = DOM.contains(host, at) || DOM.contains(holder, at);
      if (isWithin && DOM.isContentEditable(at) && DOM.isContentEditable(holder)) return true;
      const edited = DOM.ownerDocument(holder);
      return DOM.ownerDocument(at) === edited && DOM.designMode(edited) === "on";
    }

    function hold(event) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }

    function lose(at) {
      seen.lost = true;
      guard.strayed = at;
      const within = DOM.ownerDocument(at) ?? at;
      seen.stray = at === DOM.body(within) || at === DOM.documentElement(within) ? "" : toolsOf(at).describe(at);
      notify();
    }

    function follow(at) {
      [holder, host, tabbing] = [at, at, false];
    }

    // Handles keys pressed on the holder, if the page moved the focus before they typed their text.
    function passedOn(event, at) {
      if (isNextBox(holder, at)) return follow(at);
      const types = event.type === "beforeinput" || event.key.length === 1;
      if (wanted.single) {
        // A field that the page opens for the typed text may have it; a button may not.
        if (!isEditable(at)) hold(event);
        return;
      }
      hold(event);
      if (!types) return;
      if (event.type === "keypress" || isTyped(event)) seen.taken--;
      seen.held++;
      lose(at);
    }

    const isTyped = (event) => event.inputType !== "insertText" || (last && event.data === last.key);

    function handle(event) {
      if (!event.isTrusted) return;
      const path = event.composedPath();
      // At the window, events from a closed shadow root hide their target. The listener inside the root handles
      // them.
      if (closed.some((root) => root !== event.currentTarget && path.includes(DOM.host(root)) && !path.includes(root))) return;
      const [at] = path;
      if (event.type === "keyup") {
        if (tabbing && event.key === "Tab") follow(at);
        else if (seen.lost && !isMeant(at)) hold(event);
        return;
      }
      if (seen.lost) {
        if (event.type === "keydown" || event.type === "beforeinput") seen.held++;
        hold(event);
        return;
      }
      if (!isMeant(at)) {
        if (tabbing) follow(at);
        else if (event.type !== "keydown") return passedOn(event, at);
        else if (!wanted.single && isNextBox(holder, at)) follow(at);
        else {
          seen.held++;
          lose(at);
          return hold(event);
        }
      }
      if (event.type === "beforeinput" && !isTyped(event)) seen.taken++;
      if (event.type !== "keydown") return;
      seen.taken++;
      seen.keys++;
      last = event;
      if (event.key === "Tab" && !event.ctrlKey && !event.altKey && !event.metaKey) {
        tabbing = seen.tabbed = true;
        lock();
      }
    }

    // On blur: check all following keys, whatever their target. Adding a listener twice has no effect.
    function lock(event) {
      for (const at of [...windows(), ...closed]) for (const type of HELD) listen(at, type, handle);
      if (event?.target !== window || tabbing || seen.unseen || !isOutOfReach()) return;
      const at = DOM.activeElement(document);
      seen.unseen = true;
      seen.stray = at && at !== DOM.body(document) ? toolsOf(at).describe(at) : "another document";
      notify();
    }

    function notify() {
      for (const done of waiting.splice(0)) done();
    }

    function wait() {
      return seen.lost || seen.unseen ? undefined : new Promise((done) => waiting.push(done));
    }

    function end() {
      guards.delete(wanted.id);
      listening.forEach((remove) => remove());
      notify();
    }

    listen(holder, "blur", lock);
    listen(window, "blur", lock);
    // Keys that reach a cross-origin document are invisible here, so the keys before them are counted.
    const counted = top.length > 0 || top !== window ? ["keydown", "beforeinput"] : wanted.tabs ? ["keydown"] : [];
    seen.counted = counted.length > 1;
    for (const target of [window, ...closed]) for (const type of counted) listen(target, type, handle);
    guards.set(wanted.id, guard);
  }

  return {
    arm,
    editorInput: (node) => toolsOf(node).editorInput(),
    mark: pace.mark,
    settle: pace.settle,
    focused: (id) => guards.get(id)?.followed?.focused() ?? false,
    typed: (id) => guards.get(id)?.followed?.typed(),
    lost: (id) => guards.get(id)?.wait(),
    report(id) {
      const guard = guards.get(id);
      if (guard && !guard.strayed) guard.end();
      return guard ? guard.seen : null;
    },
    stray(id) {
      const guard = guards.get(id);
      guard?.end();
      return guard?.strayed ?? null;
    },
  };
})
