// Returns whether a control is checked: an input of type checkbox or radio, or an element with such a role.
// Called on a node in an isolated world, with a request:
//   wanted    the state to wait for, up to `wait` milliseconds; checked again when attributes change
//   before    the result of this function before the click, or null
//   behind    return the element that receives the presses on the node, or null if that is the node itself
// and the library's key guards, which keep a set of inputs for the lifetime of the document. Returns the kind of
// the control and its state: true, false, or null for neither (indeterminate, "mixed"). `attribute`: the state in
// its attribute, `custom` whether it is a custom element. `offset`: the position of its middle in the element
// that receives its presses, if the node has pointer-events: none; else null.
// A page may cancel the clicks on an input and keep its state in `aria-checked` only. The function detects this
// when a click changed only the attribute.
(function (request, keys) {
  "use strict";

  const MOST_LEVELS = 8;
  const ROLES = ["checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"];

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (element && DOM.localName(element) === "label" && element.control) element = element.control;
  if (!element) return { kind: "none" };
  const native = DOM.localName(element) === "input" && ["checkbox", "radio"].includes(element.type);
  const role = (DOM.getAttribute(element, "role") || "").trim().split(/\s+/)[0];

  function flatParent(child) {
    const root = DOM.parentNode(child);
    return DOM.assignedSlot(child) || (root instanceof ShadowRoot ? root.host : DOM.parentElement(child));
  }

  function behind() {
    const passes = (each) => getComputedStyle(each).pointerEvents === "none";
    if (!passes(element) || Array.from(element.labels ?? []).some((label) => DOM.contains(label, element) && !passes(label))) return null;
    let at = flatParent(element);
    for (let level = 1; at && passes(at) && level < MOST_LEVELS; level++) at = flatParent(at);
    return at && !passes(at) && at !== DOM.body(document) && at !== DOM.documentElement(document) ? at : null;
  }

  function offset() {
    const around = behind();
    if (!around) return null;
    const [inner, outer] = [DOM.getBoundingClientRect(element), DOM.getBoundingClientRect(around)];
    const [x, y] = [inner.left + inner.width / 2 - outer.left, inner.top + inner.height / 2 - outer.top];
    return x > 0 && y > 0 && x < outer.width && y < outer.height ? [x, y] : null;
  }

  if (request.behind) return behind();
  const drawnByPage = (keys.drawnByPage ??= new WeakSet());

  function attribute() {
    const value = DOM.getAttribute(element, "aria-checked");
    return value === "mixed" ? null : value === "true";
  }

  function state() {
    if (!native) return attribute();
    const own = element.indeterminate ? null : element.checked;
    const { before } = request;
    if (before && own === before.checked && attribute() !== before.attribute) drawnByPage.add(element);
    return drawnByPage.has(element) ? attribute() : own;
  }

  function answer() {
    const kind = native ? element.type : ROLES.includes(role) ? role : "none";
    return { kind, checked: state(), attribute: attribute(), custom: DOM.localName(element).includes("-"), offset: offset() };
  }

  if (!request.wait || state() === request.wanted) return answer();
  return new Promise((resolve) => {
    const finish = () => {
      observer.disconnect();
      clearTimeout(timer);
      resolve(answer());
    };
    const observer = new MutationObserver(() => {
      if (state() === request.wanted) finish();
    });
    const timer = setTimeout(finish, request.wait);
    observer.observe(element, { attributes: true });
  });
})
