// The site's record of actions on a page, and the server's state of its fields.
//
// Rule: the server has a record before the page reacts, because a synchronous request sends it within the event.
// A record has no values, only the key of the element and its place.

const report = (kind, element) => {
  const keyed = element.closest("[data-key]");
  const key = keyed ? keyed.dataset.key : `(no key: ${element.tagName.toLowerCase()})`;
  const request = new XMLHttpRequest();
  request.open("POST", "/log", false);
  request.send(JSON.stringify({ kind, key, path: location.pathname }));
};

let entering = null;

addEventListener("click", (event) => {
  const label = event.target.closest("label");
  // A click on a label also clicks its control, and that click is recorded.
  if (label && label.control && !label.control.contains(event.target)) return;
  entering = null;
  report("click", event.target);
}, true);

addEventListener("input", (event) => {
  const target = event.target;
  if (target.type === "checkbox" || target.type === "radio" || target === entering) return;
  entering = target;
  report("input", target);
}, true);

addEventListener("submit", (event) => {
  // Enter in a form without a button submits it without a click.
  if (!event.submitter) report("submit", event.target);
}, true);

const state = document.getElementById("state");
for (const [name, value] of Object.entries(state ? JSON.parse(state.textContent) : {})) {
  for (const control of document.querySelectorAll(`main [name="${name}"]`)) {
    if (control.type === "checkbox" || control.type === "radio") control.checked = value.includes(control.value);
    else if (control.multiple) for (const option of control.options) option.selected = value.includes(option.value);
    else control.value = value[0];
  }
}
