// Makes the reader of an assertion: it reads one property of some nodes, and notices when it changes. Runs in an
// isolated world. `states` makes the states of a node (node_states.js) and its tools, `isSecret` is the function of
// secret_field.js. Returns an object:
//   take(request, nodes)  a promise of { readings }, each { attached, value, why, secret }
//   changed()             whether the readings of these nodes differ from the last ones
//   isActive()            whether there are nodes
//   stop()                ends it
// The request is { what, name }: the property, and the name of an attribute or style property.
(states, isSecret) => {
  const STEPS = 100; // thresholds of the part in view
  const VIEW_TIMEOUT_MS = 200; // if the page draws no frames
  const UNREAD = new Set(["script", "style", "noscript", "template"]);
  const BUTTONS = new Set(["submit", "button", "reset"]);

  let what = "";
  let name = "";
  let nodes = [];
  let last = "";
  let observer = null;
  let inView = new Map();

  const lost = { attached: false, value: null, why: "", secret: false };
  const found = (value, why = "", secret = false) => ({ attached: true, value, why, secret });

  function childrenOf(node) {
    if (DOM.shadowRoot(node)) return DOM.childNodes(DOM.shadowRoot(node));
    const assigned = DOM.localName(node) === "slot" ? node.assignedNodes() : [];
    return assigned.length ? assigned : DOM.childNodes(node);
  }

  // The text in the element and its open shadow roots, hidden text included.
  function textOf(node) {
    if (DOM.nodeType(node) === Node.TEXT_NODE) return node.data;
    if (DOM.nodeType(node) !== Node.ELEMENT_NODE || UNREAD.has(DOM.localName(node))) return "";
    if (DOM.localName(node) === "input") return BUTTONS.has(node.type) ? node.value : "";
    return Array.from(childrenOf(node), textOf).join("");
  }

  const controlOf = (element) => (DOM.localName(element) === "label" && element.control) || element;
  const isField = (element) => ["input", "textarea", "select"].includes(DOM.localName(element));

  function chosen(element) {
    const values = DOM.localName(element) === "select" ? Array.from(element.selectedOptions, (option) => option.value) : null;
    return values === null ? found(null, "it is a " + DOM.localName(element) + ", not a select") : found(values);
  }

  function valueOf(element) {
    const control = controlOf(element);
    if (!isField(control)) return found(null, "it is a " + DOM.localName(control) + ", which has no value");
    return found(String(DOM.value(control)), "", isSecret(control));
  }

  function styleOf(element) {
    const style = getComputedStyle(element);
    const value = style.getPropertyValue(name).trim() || style[name];
    return typeof value === "string" ? found(value) : found(null, "it has no style property of this name");
  }

  // The text of the elements that aria-errormessage names. An element that is not invalid has no error message.
  function errorMessageOf(element) {
    const invalid = (DOM.getAttribute(element, "aria-invalid") ?? "").trim().toLowerCase();
    if (invalid === "" || invalid === "false") return found("", "it had none: aria-invalid is not set");
    const messages = DOM.ariaErrorMessageElements(element) ?? [];
    if (!messages.length) return found("", "it had none: aria-errormessage names no element");
    return found(Array.from(messages, (message) => DOM.innerText(message) ?? textOf(message)).join(" "));
  }

  function isEmpty(element) {
    if (["input", "textarea"].includes(DOM.localName(element))) return DOM.value(element) === "";
    return textOf(element).trim() === "";
  }

  const READ = {
    attached: () => found(true),
    visible: (_, state) => found(state.isVisible(), state.invisibleBecause()),
    enabled: (_, state) => found(!state.disabledBecause(), state.disabledBecause()),
    editable: (_, state) => {
      const { never, readonly } = state.editing();
      const why = state.disabledBecause() || never || readonly;
      return found(!why, why);
    },
    checked: (element, state) => {
      const { kind, checked } = state.checkable();
      return kind ? found(checked) : found(null, "it is a " + DOM.localName(controlOf(element)) + ", which cannot be checked");
    },
    focused: (_, state) => found(state.isFocused()),
    empty: (element) => found(isEmpty(element)),
    view: (element) => found(inView.get(element) ?? 0),
    text: (element) => found(textOf(element)),
    inner_text: (element) => found(DOM.innerText(element) ?? textOf(element)),
    value: valueOf,
    values: chosen,
    attribute: (element) => found(DOM.getAttribute(element, name), "", name === "value" && isSecret(element)),
    style: styleOf,
    error_message: errorMessageOf,
  };

  function readOne(node) {
    const { state, element } = states(node);
    return state.isAttached() ? READ[what](element, state) : lost;
  }

  const readAll = () => nodes.map(readOne);

  function unobserve() {
    if (observer !== null) observer.disconnect();
    observer = null;
    inView = new Map();
  }

  // Resolves when the part in view of all nodes is known.
  function observeView() {
    const elements = nodes.map((node) => states(node).element).filter((element) => element !== null);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, VIEW_TIMEOUT_MS);
      const note = (entries) => {
        for (const entry of entries) inView.set(entry.target, entry.intersectionRatio);
        if (inView.size < elements.length) return;
        clearTimeout(timer);
        resolve();
      };
      observer = new IntersectionObserver(note, { threshold: Array.from({ length: STEPS + 1 }, (_, step) => step / STEPS) });
      for (const element of elements) observer.observe(element);
    });
  }

  async function take(request, given) {
    unobserve();
    ({ what, name } = request);
    nodes = given;
    if (what === "view" && nodes.length) await observeView();
    const readings = readAll();
    last = JSON.stringify(readings);
    return { readings };
  }

  function changed() {
    if (!nodes.length) return false;
    const now = JSON.stringify(readAll());
    if (now === last) return false;
    last = now;
    return true;
  }

  return { take, changed, isActive: () => nodes.length > 0, stop: unobserve };
}
