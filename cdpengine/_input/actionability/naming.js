// Tells a node that its page uses for something else by now. Made once in each world, with what makes the engine's own
// computation of roles and names (dom_names.js); called with an element and what its ref was given for:
//   roles   Chrome's roles that it may have, "" for those that ARIA has no name for
//   name    its name; one that ends with "…" was cut there
// Answers null where it is still that, or where that cannot be said, and otherwise [role, name] as they are now. The names
// that snapshots show are Chrome's own, so an answer other than null is a reason to look, and no more.
(function (makeNames) {
  "use strict";

  const { checkVisibility } = Element.prototype;
  const files = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "files").get;
  const textContent = Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get;
  const innerText = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "innerText").get;

  // Without what sources of names treat differently: white space, and characters that nobody sees.
  const letters = (text) => text.replace(/[\s\u00ad\u200b-\u200f\u2060\ufeff]+/g, "");

  function isCalled(wanted, name) {
    const [expected, found] = [letters(wanted), letters(name)];
    return expected === found || (expected.endsWith("…") && found.startsWith(expected.slice(0, -1)));
  }

  // What was chosen is no part of the name that a snapshot shows of an input of files.
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
      // What is clickable without a role is named by the text in it.
      if (name === "" && isCalled(expected.name, textContent.call(element))) return null;
      const drawn = name === "" && element instanceof HTMLElement ? innerText.call(element) : name;
      if (isCalled(expected.name, drawn)) return null;
    }
    if (name === "" && expected.name !== "" && !checkVisibility.call(element, { visibilityProperty: true })) return null;
    return [role, name];
  };
})
