// Makes the one test for secret fields: those whose value no script of the engine's returns. A part of the scripts that
// read fields: walk.js, readable.js, fill.js and so on, which call it and get isSecret(element). Secret is
//   an input of type password, also once it was seen as one: a page may show it as text; and an input of type hidden
//   a field whose autocomplete has a token for a password, a one-time code or a card
//   what is drawn as dots by -webkit-text-security, be it an input or an element that can be edited
// What was seen as a password is kept in the isolated world, weakly; the page sees nothing of it.
(function () {
  "use strict";

  const TOKENS = new Set([
    "current-password", "new-password", "one-time-code", "cc-number", "cc-csc", "cc-exp", "cc-exp-month", "cc-exp-year",
  ]);
  const FIELDS = new Set(["input", "select", "textarea"]);
  // Inputs that hold no text: what these show is the page's own, or a choice.
  const UNTYPED = new Set(["button", "checkbox", "color", "file", "image", "radio", "range", "reset", "submit"]);
  const KEPT = "cdpengineSecretFields";

  // An own property: as one that is only inherited, a page's element of that name would stand for it.
  if (!Object.hasOwn(globalThis, KEPT)) Object.defineProperty(globalThis, KEPT, { value: new WeakSet() });
  const passwords = globalThis[KEPT];
  const { getAttribute } = Element.prototype;
  const localName = Object.getOwnPropertyDescriptor(Element.prototype, "localName").get;

  return function (element) {
    const tag = localName.call(element);
    if (tag === "input") {
      const type = element.type;
      if (type === "password") passwords.add(element);
      if (type === "hidden" || passwords.has(element)) return true;
      if (UNTYPED.has(type)) return false;
    }
    if (FIELDS.has(tag)) {
      const wanted = getAttribute.call(element, "autocomplete");
      if (wanted !== null && wanted.toLowerCase().split(/\s+/).some((token) => TOKENS.has(token))) return true;
    }
    return getComputedStyle(element).webkitTextSecurity !== "none";
  };
})
