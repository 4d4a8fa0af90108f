// Makes what focus.js and fill.js know of masks: fields with blanks to be typed over, in which a library of the page's puts
// the caret. A part of these, which call it once.
(function () {
  "use strict";

  const FRAME_LIMIT_MS = 100; // where frames do not come (a throttled page), time takes their place
  const DATE = /^(?=.*[dmyh])[dmyhs\W]+$/i; // dd/mm/yyyy
  const BEGUN = /^(?=[\ddmyhs\W_]*$)\d.*[/.:-].*[dmyhs_#•·]$/i; // 31/1m/yyyy, 12:3_
  const PATTERN = /^(?=(?:.*[09#xX_]){4})[09#xX_\W]*[^\p{L}\p{N}#_\s][09#xX_\W]*$/u; // 99/99/9999, ###-##-####
  const BLANKS = [/_[^\p{L}\p{N}]*_/u, /[#•·][^\p{L}\p{N}\s#•·]+[#•·]/u]; // __ or #/#
  const hasBlanks = (value) => BLANKS.some((blanks) => blanks.test(value)) || DATE.test(value);

  // Whether a value has blanks, and nothing else was typed yet. A phone number may begin with a country's.
  const isBlank = (value) => DATE.test(value) || (hasBlanks(value) && /^(?:\+\d{1,3})?[^\p{L}\p{N}]*$/u.test(value));

  // Whether a field that got the focus looks like one of a mask; `value` is what it held before.
  function isMasked(field, value) {
    if (DOM.localName(field) !== "input" || !isTypable(field)) return false;
    const named = field.getAttributeNames().some((name) => /mask/i.test(name));
    const { placeholder } = field;
    const shown = hasBlanks(value) || BEGUN.test(value) || hasBlanks(placeholder) || PATTERN.test(placeholder);
    return named || shown || DOM.value(field) !== value;
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
    return nextFrame().then(nextFrame).then(nextFrame);
  }

  // Whether a mask could be on it: those of e-mail addresses, numbers and passwords have types of their own.
  const isTypable = (field) => ["text", "tel", "search"].includes(field.type);

  return { isBlank, isMasked, isTypable, settle };
})
