// Inspects a <select> and sets its selection. Called on a node in an isolated world, with a request:
//   wanted    [{ text } or { label, value, index }, ...]: the options; each must match all given criteria
//   set       whether to select them now, with input and change events
//   wait      milliseconds to wait for a missing option; a change of the options ends the wait
// and the part secret_field.js. Returns the kind of the control, the indices of the wanted options, their values
// unless the field is secret, and whether exactly these are selected. If not, the selected ones, unless the field is secret. Also a hash of its options,
// and whether it is static: nothing indicates that options are still to come. Returns a promise if it waits.
(function (request, isSecret) {
  "use strict";

  const MOST_LABELS = 20;
  const MOST_STEPS = 300;

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (element && DOM.localName(element) === "label" && element.control) element = element.control;
  if (!element) return { kind: "none" };
  if (DOM.localName(element) === "option") {
    const select = DOM.closest(element, "select");
    return select ? { kind: "option", index: element.index } : { kind: "none" };
  }
  if (DOM.localName(element) !== "select") {
    const role = (DOM.getAttribute(element, "role") || "").trim().split(/\s+/)[0];
    const opens = ["listbox", "tree", "grid"].includes(DOM.getAttribute(element, "aria-haspopup"));
    if (["option", "treeitem"].includes(role)) return { kind: "custom option" };
    const chooses = ["listbox", "tree", "combobox"].includes(role) || opens;
    const looksUp = DOM.getAttribute(element, "aria-autocomplete") === "list" || DOM.closest(element, "[role~=combobox]");
    return { kind: chooses || looksUp ? "listbox" : "none" };
  }

  const plain = (text) => text.replace(/\s+/g, " ").trim();

  function find(wanted) {
    const options = Array.from(element.options);
    if ("text" in wanted) {
      const byValue = options.find((option) => option.value === wanted.text);
      return byValue || options.find((option) => plain(option.label) === plain(wanted.text)) || null;
    }
    const fits = (option) =>
      (!("value" in wanted) || option.value === wanted.value) &&
      (!("label" in wanted) || plain(option.label) === plain(wanted.label)) &&
      (!("index" in wanted) || option.index === wanted.index);
    return options.find(fits) || null;
  }

  const disabled = (option) =>
    option.disabled || (DOM.localName(DOM.parentElement(option)) === "optgroup" && DOM.parentElement(option).disabled);

  // Number of ArrowDown presses from the first option to this one in the open list; -1 if unknown.
  function steps(option) {
    const custom = getComputedStyle(element).appearance === "base-select";
    const displayed = Array.from(element.options).every((each) => getComputedStyle(each).display !== "none");
    if (element.multiple || element.size > 1 || custom || !displayed) return -1;
    const reachable = Array.from(element.options).filter((each) => !disabled(each));
    const found = reachable.indexOf(option);
    return found > MOST_STEPS ? -1 : found;
  }

  // Numbers of options to skip before each option whose state must change, in a multiple selection; null if
  // unknown, or too many.
  function toggles(wanted) {
    const custom = getComputedStyle(element).appearance === "base-select";
    const displayed = Array.from(element.options).every((each) => getComputedStyle(each).display !== "none");
    if (!element.multiple || custom || !displayed) return null;
    const reachable = Array.from(element.options).filter((each) => !disabled(each));
    const changing = Array.from(element.options).filter((each) => each.selected !== wanted.includes(each));
    const places = changing.map((each) => reachable.indexOf(each));
    if (places.includes(-1) || places.at(-1) > MOST_STEPS) return null;
    return places.map((place, number) => place - (number ? places[number - 1] : 0));
  }

  function opened() {
    try {
      return DOM.matches(element, ":open");
    } catch {
      return false; // an older browser without this selector
    }
  }

  // A hash of the options that changes if any of them does (FNV-1a over labels and values).
  function fingerprint() {
    let number = element.options.length;
    for (const option of element.options) {
      const text = `${option.value}\n${option.label}\n${disabled(option)}\n`;
      for (let at = 0; at < text.length; at++) number = Math.imul(number ^ text.charCodeAt(at), 16777619);
    }
    return number;
  }

  // A loading document, a busy region, and a list with only a placeholder may still be filled.
  function isStatic() {
    const options = Array.from(element.options);
    if (DOM.readyState(DOM.ownerDocument(element)) !== "complete" || DOM.closest(element, '[aria-busy="true"]')) return false;
    return options.length > 1 && options.some((option) => option.value !== "");
  }

  function answer() {
    const found = request.wanted.map(find);
    const known = found.filter((option) => option !== null);
    const refused = known.find(disabled);
    if (request.set && known.length === found.length && !refused) {
      for (const option of element.options) {
        const wanted = known.includes(option);
        if (option.selected !== wanted) option.selected = wanted;
      }
      if (known.length === 0 && !element.multiple) element.selectedIndex = -1;
      DOM.dispatchEvent(element, new Event("input", { bubbles: true, composed: true }));
      DOM.dispatchEvent(element, new Event("change", { bubbles: true }));
    }
    const selected = Array.from(element.selectedOptions);
    const taken = selected.length === new Set(known).size && selected.every((option) => known.includes(option));
    return {
      kind: "select",
      connected: DOM.isConnected(element),
      multiple: element.multiple,
      found: found.map((option) => (option === null ? -1 : option.index)),
      values: isSecret(element) ? [] : known.map((option) => option.value),
      disabled: refused ? plain(refused.label) : null,
      taken: taken && known.length === found.length,
      labels: Array.from(element.options).slice(0, MOST_LABELS).map((option) => plain(option.label).slice(0, 60)),
      held: taken || isSecret(element) ? [] : selected.slice(0, MOST_LABELS).map((option) => plain(option.label).slice(0, 60)),
      steps: known.length === 1 ? steps(known[0]) : -1,
      toggles: toggles(known),
      open: opened(),
      options: fingerprint(),
      static: isStatic(),
    };
  }

  const first = answer();
  if (!request.wait || (!first.found.includes(-1) && first.disabled === null)) return first;
  return new Promise((resolve) => {
    const done = () => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(answer());
    };
    const observer = new MutationObserver(() => {
      if (fingerprint() !== first.options) done();
    });
    const timer = setTimeout(done, request.wait);
    observer.observe(element, { subtree: true, childList: true, attributes: true, characterData: true });
  });
})
