// Detects a node that its page has reused for other content. Created once per world with a factory of the
// engine's own role and name computation (dom_names.js). Called with an element and the expectation of its ref:
//   roles   the roles that it may have, as Chrome names them; "" for roles without an ARIA name
//   name    its name; a trailing "…" marks a truncated name
// Returns null if the element matches or the result is uncertain, else its current [role, name]. Snapshots show
// the names that Chrome computes, so a mismatch is only a reason to check further.
(function (makeNames) {
  "use strict";

  const { checkVisibility } = Element.prototype;
  const files = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "files").get;
  const textContent = Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get;
  const innerText = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "innerText").get;

  // Sources of names differ in white space and in invisible characters: both are ignored.
  const letters = (text) => text.replace(/[\s\u00ad\u200b-\u200f\u2060\ufeff]+/g, "");

  function isCalled(wanted, name) {
    const [expected, found] = [letters(wanted), letters(name)];
    return expected === found || (expected.endsWith("…") && found.startsWith(expected.slice(0, -1)));
  }

  // The snapshot's name of a file input does not include the selected files.
  function withoutChoice(element, name) {
    const chosen = element instanceof HTMLInputElement ? files.call(element) : null;
    if (chosen === null) return name;
    const end = chosen.length === 1 ? name.lastIndexOf(": " + chosen[0].name) : name.lastIndexOf(": ");
    return end < 0 ? name : name.slice(0, end);
  }

  return function (element, expected) {
    const { roleOf, nameOf } = makeNames();
    const role = roleOf(element);
    const name = withoutChoice(element, nameOf(element));
    if (expected.roles.includes(role)) {
      if (isCalled(expected.name, name)) return null;
      // A clickable element without a role is named by its text.
      if (name === "" && isCalled(expected.name, textContent.call(element))) return null;
      const drawn = name === "" && element instanceof HTMLElement ? innerText.call(element) : name;
      if (isCalled(expected.name, drawn)) return null;
    }
    if (name === "" && expected.name !== "" && !checkVisibility.call(element, { visibilityProperty: true })) return null;
    return [role, name];
  };
})
