// Finds the options of a listbox that a page made itself. Called in an isolated world on a listbox, on what opens
// one (a combobox, a button), or on one of its options; with one request:
//   wanted    { text } or { label, value, index }; null: the node is the option itself
//   node      whether to return the option's element (null: none) in place of what is known of it
//   until     "": answer at once; "there": wait until the option is shown; "chosen": until it shows that it is
//   wait      milliseconds to wait at most; any change in the document is looked at
(function (request) {
  "use strict";

  const MOST_LABELS = 20;

  const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  const root = DOM.getRootNode(element);
  const plain = (text) => (text || "").replace(/\s+/g, " ").trim();
  const roleOf = (each) => (DOM.getAttribute(each, "role") || "").trim().split(/\s+/)[0];
  const shown = (each) => DOM.checkVisibility(each, { visibilityProperty: true, contentVisibilityAuto: true });

  function byIds(of, name) {
    const ids = (DOM.getAttribute(of, name) || "").split(/\s+/).filter(Boolean);
    return ids.map((id) => DOM.getElementById(root, id)).filter(Boolean);
  }

  // What the options stand in: the listbox itself, the one that the opener names, or else the one that is shown.
  function list() {
    if (roleOf(element) === "listbox") return element;
    if (roleOf(element) === "option") return DOM.closest(element, "[role~=listbox]");
    for (const name of ["aria-controls", "aria-owns"]) {
      for (const each of byIds(element, name)) {
        const found = roleOf(each) === "listbox" ? each : DOM.querySelector(each, "[role~=listbox]");
        if (found) return found;
      }
    }
    const inside = DOM.querySelector(element, "[role~=listbox]");
    if (inside) return inside;
    const others = Array.from(DOM.querySelectorAll(root, "[role~=listbox]")).filter(shown);
    return others.length === 1 ? others[0] : null;
  }

  function options(of) {
    if (!of) return [];
    const owned = byIds(of, "aria-owns").flatMap((each) => [each, ...DOM.querySelectorAll(each, "[role~=option]")]);
    return [...DOM.querySelectorAll(of, "[role~=option]"), ...owned.filter((each) => roleOf(each) === "option")];
  }

  const label = (option) => plain(DOM.getAttribute(option, "aria-label") || DOM.innerText(option) || DOM.textContent(option));
  const values = (option) => [DOM.getAttribute(option, "data-value"), DOM.getAttribute(option, "value")];

  function find(of) {
    if (!request.wanted) return element;
    const all = options(of);
    const wanted = request.wanted;
    if ("text" in wanted) {
      return all.find((each) => values(each).includes(wanted.text)) || all.find((each) => label(each) === plain(wanted.text)) || null;
    }
    const fits = (each, index) =>
      (!("value" in wanted) || values(each).includes(wanted.value)) &&
      (!("label" in wanted) || label(each) === plain(wanted.label)) &&
      (!("index" in wanted) || index === wanted.index);
    return all.find(fits) || null;
  }

  function chosen(option) {
    for (const name of ["aria-selected", "aria-checked"]) {
      if (DOM.getAttribute(option, name) === "true") return true;
    }
    return false;
  }

  // Remembered by its text: a page may draw the option anew, or take the whole list away, once it is chosen.
  function taken(of, option, text) {
    if (option && DOM.isConnected(option) && shown(option)) return chosen(option);
    const wanted = text.toLowerCase();
    const opener = roleOf(element) === "listbox" || roleOf(element) === "option" ? null : element;
    const held = opener ? plain(DOM.value(opener) || DOM.innerText(opener)).toLowerCase() : "";
    return opener === null || held.includes(wanted) || wanted === "";
  }

  function state(of, option) {
    return {
      open: of !== null && shown(of),
      multiple: of !== null && DOM.getAttribute(of, "aria-multiselectable") === "true",
      found: option !== null,
      shown: option !== null && shown(option),
      label: option ? label(option).slice(0, 60) : "",
      disabled: option !== null && (DOM.getAttribute(option, "aria-disabled") === "true" || DOM.inert(option)),
      chosen: option !== null && chosen(option),
      taken: taken(of, option, request.label || ""),
      labels: options(of).slice(0, MOST_LABELS).map((each) => label(each).slice(0, 60)),
      others: options(of).map((each, index) => (each !== option && chosen(each) ? index : -1)).filter((at) => at >= 0),
      place: option ? options(of).indexOf(option) : -1,
    };
  }

  function look() {
    const of = list();
    return [of, find(of)];
  }

  if (request.node) return look()[1];
  const enough = (now) =>
    !request.until || (request.until === "there" ? now.shown && !now.disabled : now.taken);
  const first = state(...look());
  if (enough(first) || !request.wait) return first;
  return new Promise((resolve) => {
    const finish = (now) => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(now);
    };
    const observer = new MutationObserver(() => {
      const now = state(...look());
      if (enough(now)) finish(now);
    });
    const timer = setTimeout(() => finish(state(...look())), request.wait);
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  });
})
