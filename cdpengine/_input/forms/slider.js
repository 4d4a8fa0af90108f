// Returns the values of an element with the role slider, and focuses it. Called on a node in an isolated world,
// with { focus, unlike, wait }: whether to focus it; the value that should change within `wait` milliseconds, or
// null. Returns { value, least, most, focused }. Missing numbers are null.
(function (request) {
  "use strict";

  const PAUSE = 10; // milliseconds
  const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  const number = (name) => {
    const value = parseFloat(DOM.getAttribute(element, name) ?? "");
    return Number.isFinite(value) ? value : null;
  };

  function state() {
    const root = DOM.getRootNode(element);
    if (request.focus && DOM.activeElement(root) !== element) DOM.focus(element);
    const [value, least, most] = ["aria-valuenow", "aria-valuemin", "aria-valuemax"].map(number);
    return { value, least, most, focused: DOM.activeElement(root) === element };
  }

  const first = state();
  if (request.unlike === null || first.value !== request.unlike) return first;
  return new Promise((resolve) => {
    const until = performance.now() + request.wait;
    const looking = setInterval(() => {
      const now = state();
      if (now.value === request.unlike && performance.now() < until) return;
      clearInterval(looking);
      resolve(now);
    }, PAUSE);
  });
})
