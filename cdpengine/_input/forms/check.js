// Tells whether something is checked: an input of type checkbox or radio, or an element with such a role. Called on
// a node in an isolated world, with one request:
//   wanted    the state to wait for, up to `wait` milliseconds; attributes that change are looked at
// Answers what it is and its state: true, false, or null for neither (indeterminate, "mixed").
(function (request) {
  "use strict";

  const ROLES = ["checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"];

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (element && DOM.localName(element) === "label" && element.control) element = element.control;
  if (!element) return { kind: "none" };
  const native = DOM.localName(element) === "input" && ["checkbox", "radio"].includes(element.type);
  const role = (DOM.getAttribute(element, "role") || "").trim().split(/\s+/)[0];

  function state() {
    if (native) return element.indeterminate ? null : element.checked;
    const told = DOM.getAttribute(element, "aria-checked");
    return told === "mixed" ? null : told === "true";
  }

  function answer() {
    const kind = native ? element.type : ROLES.includes(role) ? role : "none";
    return { kind, checked: state() };
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
