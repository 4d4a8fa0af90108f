// Marks elements so that Chrome reports their backend node ids together with the listeners to presses. A mark
// is a listener in this world; its type is a random prefix followed by the element's number. No such event
// ever occurs, and the page cannot see the listener. Chrome lists it in a fifth of the time that serializing
// the element takes. Elements that may have a closed shadow root are not marked, as only serialization
// reveals the root. A part of walk.js, which calls it once with `dom`, its document readers.
(function (dom) {
  "use strict";

  const MOST = 50_000;
  const LETTERS = 12;

  const localName = dom.getter(Element.prototype, "localName");
  const { addEventListener, removeEventListener } = EventTarget.prototype;

  let prefix = "";
  while (prefix.length < LETTERS) prefix += Math.random().toString(36).slice(2, 2 + LETTERS - prefix.length);
  prefix += ":";
  let marked = false; // whether marks may exist
  const never = { handleEvent() {} };

  const mayHost = (element) => element instanceof Element && dom.mayHost(localName.call(element));

  return {
    mayHost,

    // Marks the elements of number -> element that can be marked. Returns the prefix of their types.
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
