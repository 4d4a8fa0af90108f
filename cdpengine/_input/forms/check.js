// Tells whether something is checked: an input of type checkbox or radio, or an element with such a role. Called on
// a node in an isolated world, with one request:
//   wanted    the state to wait for, up to `wait` milliseconds; attributes that change are looked at
//   before    what this answered before the click, null if there was none
//   behind    give the element that receives the presses on the node, null where that is the node itself
// and the library's key guards, which remember inputs for as long as their document lives.
// Answers what it is and its state: true, false, or null for neither (indeterminate, "mixed"); `said` is what its attribute
// says, `custom` whether it is a custom element. `offset`: where its middle is in the element that receives its presses,
// as the node lets them through (pointer-events: none); null where it receives them itself.
// A page may cancel the clicks on an input, and keep its state in `aria-checked` alone. This is known once a click changed
// the attribute and nothing else.
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

  function said() {
    const told = DOM.getAttribute(element, "aria-checked");
    return told === "mixed" ? null : told === "true";
  }

  function state() {
    if (!native) return said();
    const own = element.indeterminate ? null : element.checked;
    const { before } = request;
    if (before && own === before.checked && said() !== before.said) drawnByPage.add(element);
    return drawnByPage.has(element) ? said() : own;
  }

  function answer() {
    const kind = native ? element.type : ROLES.includes(role) ? role : "none";
    return { kind, checked: state(), said: said(), custom: DOM.localName(element).includes("-"), offset: offset() };
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
