// Marks elements so that Chrome says their backend node ids together with who listens to presses: with a listener, of this
// world, of a type that is the element's number behind random letters. Such an event never comes, the page cannot see
// the listener, and Chrome lists it at a fifth of what it takes to serialize an element. What may hide a closed shadow
// root is not marked: only what is serialized says so. A part of walk.js, which calls it once with its ways to read the
// document, `dom`.
(function (dom) {
  "use strict";

  const MOST = 50_000;
  const LETTERS = 12;

  const localName = dom.getter(Element.prototype, "localName");
  const { addEventListener, removeEventListener } = EventTarget.prototype;

  let prefix = "";
  while (prefix.length < LETTERS) prefix += Math.random().toString(36).slice(2, 2 + LETTERS - prefix.length);
  prefix += ":";
  let marked = false; // whether there may be marks
  const never = { handleEvent() {} };

  const mayHost = (element) => element instanceof Element && dom.mayHost(localName.call(element));

  return {
    mayHost,

    // Marks those of number -> element that can be, and returns what their types begin with.
    mark(numbered) {
      marked = true;
      let count = 0;
      for (const [number, element] of numbered) {
        if (!(element instanceof Element) || mayHost(element)) continue;
        if (++count > MOST) break;
        addEventListener.call(element, prefix + number, never);
      }
      return prefix;
    },

    unmark(number, element) {
      if (marked) removeEventListener.call(element, prefix + number, never);
    },
  };
})
