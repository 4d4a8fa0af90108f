// Makes the one test for secret fields, whose value no script of the engine returns. It is a part of scripts that
// read fields (walk.js, readable.js, fill.js, ...). They call it and get isSecret(element). Secret fields are
//   an input of type password, even if the page later shows it as text; and an input of type hidden
//   a field whose autocomplete has a token for a password, a one-time code or a card
//   an input or editable element that -webkit-text-security displays as dots
// Fields seen as passwords are remembered weakly in the isolated world, invisible to the page.
(function () {
  "use strict";

  const TOKENS = new Set("{AUTOCOMPLETE}");
  const FIELDS = new Set(["input", "select", "textarea"]);
  // Inputs without typed text: their value is the page's label or a choice.
  const UNTYPED = new Set("{UNTYPED}");
  const KEPT = "cdpengineSecretFields";

  // An own property, because a page's element of the same name would hide an inherited one.
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
