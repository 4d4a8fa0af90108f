// Makes what focus.js and fill.js know of masks: fields with blanks to be typed over, in which a library of the page's puts
// the caret. A part of these, which call it once.
(function () {
  "use strict";

  const FRAME_LIMIT_MS = 100; // where frames do not come (a throttled page), time takes their place
  const DATE = /^(?=.*[dmyh])[dmyhs\W]+$/i; // dd/mm/yyyy
  const BLANKS = /_[^\p{L}\p{N}]*_/u;
  const BEGUN = /^(?=[\ddmyhs\W]*$)\d.*[/.:-].*[dmyhs]$/i; // 31/1m/yyyy
  const PATTERN = /^(?=(?:.*[09#xX_]){4})[09#xX_\W]*[^\p{L}\p{N}#_\s][09#xX_\W]*$/u; // 99/99/9999, ###-##-####

  // Whether a value has blanks, and nothing else was typed yet.
  const isBlank = (value) => /^_[^\p{L}\p{N}]*_$/u.test(value) || DATE.test(value);

  // Whether a field that got the focus looks like one of a mask; `value` is what it held before.
  function isMasked(field, value) {
    if (DOM.localName(field) !== "input") return false;
    const named = field.getAttributeNames().some((name) => /mask/i.test(name));
    const { placeholder } = field;
    return (
      named ||
      DOM.value(field) !== value ||
      BLANKS.test(value) ||
      DATE.test(value) ||
      BEGUN.test(value) ||
      BLANKS.test(placeholder) ||
      DATE.test(placeholder) ||
      PATTERN.test(placeholder)
    );
  }

  // Resolves when a library had the time to put its blanks and the caret there, which it does a moment after the focus.
  function settle() {
    const nextFrame = () =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, FRAME_LIMIT_MS);
        requestAnimationFrame(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    return nextFrame().then(nextFrame);
  }

  return { isBlank, isMasked, settle };
})
