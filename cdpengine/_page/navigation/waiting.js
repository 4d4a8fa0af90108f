// Watches one document for the conditions of a request, and for quiet. Runs in an isolated world, so the page sees
// neither the observers nor the listeners. `search` is the result of node_search.js, `node` the result of
// node_states.js for the node of "node" conditions. Returns an object that lives until its handle is released:
//   next(known)   a promise of the next report whose `key` differs from `known`. With `request.surroundings`, it
//                 has another key only after a change, else also after SLOW_LOOK_MS
//   now()         the current report
//   read(request, nodes)  a promise of the readings of `readings` (readings.js), whose changes cause reports then
//   quiet(ms)     a promise of { still, changes, busy }, resolved when loaded and unchanged for `ms`
//   stillness()   the current values: `still` is the time in ms without changes
//   stop()        ends it all
(request, search, node, readings = null) => {
  const SLOW_LOOK_MS = 250; // for changes without events: a style sheet's rules, a property of an input
  const READING_MS = 50; // the same for the nodes of `readings`, which are few
  const FRAME_MS = 16;
  const COST_SHARE = 4; // looking takes at most a fifth of the time
  const TEXT_SHOWN = 120;
  const STATES_OF_CONTROLS = [":checked", ":indeterminate", ":placeholder-shown", ":invalid", ":hover", ":modal", ":popover-open"];
  const SIGNS = ["input", "change", "toggle", "load", "transitionend", "animationend", "focusin", "focusout", "slotchange"];

  const observed = new Set();
  let changes = 0;
  let changed = performance.now();
  let lastChange = "";
  let stopped = false;
  let due = null;
  let wake = null;
  let earliest = 0;
  let grown = false; // new nodes may have shadow roots
  let observedAt = 0;
  let around = null;
  let surroundedAt = -Infinity;
  let readingCost = 0;

  const STATES = {
    attached: () => node.isAttached(),
    detached: () => !node.isAttached(),
    visible: () => node.isVisible(),
    hidden: () => !node.isVisible(),
    enabled: () => node.isAttached() && !node.disabledBecause(),
    disabled: () => node.isAttached() && node.disabledBecause() !== "",
    checked: () => node.isAttached() && node.checkable().checked === true,
    unchecked: () => node.isAttached() && node.checkable().checked !== true,
  };

  function look(condition) {
    switch (condition.kind) {
      case "pattern": {
        const text = search.visibleText(true).text.trim();
        return { holds: false, observed: text.slice(0, TEXT_SHOWN), text }; // the caller decides whether it holds
      }
      case "text": {
        const { text } = search.visibleText(false, DOM.documentElement(document), 2 * TEXT_SHOWN);
        return { holds: search.hasText(condition.text), observed: text.trim().slice(0, TEXT_SHOWN) };
      }
      case "css": {
        const found = search.select(condition.css);
        const shown = found.filter(search.isVisible).length;
        return { holds: shown > 0, observed: found.length + " in the document, " + shown + " visible" };
      }
      case "node": {
        const holding = Object.keys(STATES).filter((state) => STATES[state]());
        return { holds: holding.includes(condition.state), observed: holding.join(", ") };
      }
      default:
        return { holds: true, observed: String(changes) };
    }
  }

  // State that can change without a mutation and without an event: rules of style sheets, properties of controls,
  // the pointer, and the size of the viewport.
  function surroundings() {
    const parts = [innerWidth, innerHeight, devicePixelRatio];
    for (const root of observed) {
      for (const sheet of Array.from(DOM.styleSheets(root)).concat(DOM.adoptedStyleSheets(root))) {
        parts.push(sheet.disabled ? "-" : rulesOf(sheet));
      }
      for (const state of STATES_OF_CONTROLS) parts.push(DOM.querySelectorAll(root, state).length);
    }
    return parts.join();
  }

  function rulesOf(sheet) {
    try {
      return sheet.cssRules.length;
    } catch {
      return "*"; // of another origin
    }
  }

  // Counts the changes that neither a mutation nor an event reports.
  function noteUnreported() {
    if (performance.now() > surroundedAt + SLOW_LOOK_MS) {
      const now = surroundings();
      if (around !== null && now !== around) changes += 1;
      around = now;
      surroundedAt = performance.now();
    }
    const before = performance.now();
    if (readings !== null && readings.changed()) changes += 1;
    readingCost = performance.now() - before;
  }

  function report() {
    const began = performance.now();
    const looks = [];
    for (const condition of request.conditions) {
      try {
        looks.push(look(condition));
      } catch (error) {
        const selector = condition.css ?? "";
        return { key: "invalid", holds: [], observed: [], texts: [], invalid: String(error.message), selector };
      }
    }
    const ended = performance.now();
    earliest = ended + Math.max(FRAME_MS, COST_SHARE * (ended - began));
    const holds = looks.map((each) => each.holds);
    const texts = looks.map((each) => each.text ?? "");
    const key = holds.join() + (request.changes ? " " + changes : "") + texts.join();
    return { key, holds, observed: looks.map((each) => each.observed), texts, invalid: "", selector: "" };
  }

  function noted(what) {
    changes += 1;
    changed = performance.now();
    lastChange = what;
    if (!request.quiet) stir(Math.max(0, earliest - changed));
  }

  function stir(delay) {
    if (wake === null || stopped) return;
    const at = performance.now() + delay;
    if (due !== null && due.at <= at) return;
    if (due !== null) clearTimeout(due.timer);
    const run = () => {
      due = null;
      if (wake) wake();
    };
    due = { at, timer: setTimeout(run, delay) };
  }

  function observe() {
    grown = false;
    observedAt = performance.now();
    for (const root of search.roots()) {
      if (observed.has(root)) continue;
      observed.add(root);
      observer.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
      for (const sign of SIGNS) DOM.addEventListener(root, sign, signed, { capture: true, passive: true });
    }
  }

  function signed(event) {
    if (!request.quiet) noted(event.type);
  }

  const observer = new MutationObserver((records) => {
    const last = records[records.length - 1];
    const at = DOM.nodeType(last.target) === Node.ELEMENT_NODE ? last.target : DOM.parentElement(last.target);
    const what = last.type === "attributes" ? "attribute " + last.attributeName : last.type === "childList" ? "children" : "text";
    grown = grown || records.some((record) => record.addedNodes.length > 0);
    noted(what + " of " + (at ? search.describe(at).slice(0, TEXT_SHOWN) : "the document"));
  });

  function stillness() {
    const still = performance.now() - changed;
    const loading = DOM.readyState(document) !== "complete";
    const busy = loading ? "the document is still " + (DOM.readyState(document) === "loading" ? "being parsed" : "loading its resources") : lastChange;
    return { still: loading ? 0 : still, changes, busy };
  }

  function waitUntil(settled, slowest) {
    return new Promise((resolve) => {
      wake = () => {
        if (grown || performance.now() > observedAt + SLOW_LOOK_MS) observe();
        const answer = settled();
        if (answer === null && !stopped) return stir(slowest());
        wake = null;
        resolve(stopped ? null : answer);
      };
      wake();
    });
  }

  function stop() {
    stopped = true;
    observer.disconnect();
    if (readings !== null) readings.stop();
    EventTarget.prototype.removeEventListener.call(window, "pagehide", leaving);
    for (const root of observed) for (const sign of SIGNS) DOM.removeEventListener(root, sign, signed, { capture: true });
    if (due !== null) clearTimeout(due.timer);
    if (wake) wake();
  }

  // The document may return, and no caller is left to stop it then. Chrome settles the promise of `next` itself.
  function leaving(event) {
    if (!event.isTrusted) return;
    wake = null;
    stop();
  }

  observe();
  EventTarget.prototype.addEventListener.call(window, "pagehide", leaving);
  return {
    next: (known) => {
      const asked = performance.now();
      return waitUntil(
        () => {
          if (request.surroundings) noteUnreported();
          else if (request.changes && performance.now() > asked + SLOW_LOOK_MS) changes += 1;
          const current = report();
          return current.key === known && !current.invalid ? null : current;
        },
        () => (readings !== null && readings.isActive() ? Math.max(READING_MS, COST_SHARE * readingCost) : SLOW_LOOK_MS),
      );
    },
    now: () => report(),
    read: (wanted, nodes) => readings.take(wanted, nodes),
    quiet: (ms) =>
      waitUntil(
        () => (stillness().still >= ms ? stillness() : null),
        () => Math.max(5, DOM.readyState(document) === "complete" ? ms - (performance.now() - changed) : FRAME_MS),
      ),
    stillness,
    stop,
  };
}
