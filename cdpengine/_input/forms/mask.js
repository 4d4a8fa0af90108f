// Creates functions about masks for focus.js and fill.js: text fields with blanks to type over, in which a
// library of the page places the caret. They include this part and call it once.
(function () {
  "use strict";

  const DATE = /^(?=.*[dmyh])[dmyhs\W]+$/i; // dd/mm/yyyy
  const BEGUN = /^(?=[\ddmyhs\W_]*$)\d.*[/.:-].*[dmyhs_#•·]$/i; // 31/1m/yyyy, 12:3_
  const PATTERN = /^(?=(?:.*[09#xX_]){4})[09#xX_\W]*[^\p{L}\p{N}#_\s][09#xX_\W]*$/u; // 99/99/9999, ###-##-####
  const BLANKS = [/_[^\p{L}\p{N}]*_/u, /[#•·][^\p{L}\p{N}\s#•·]+[#•·]/u]; // __ or #/#
  const hasBlanks = (value) => BLANKS.some((blanks) => blanks.test(value)) || DATE.test(value);

  // Whether a value has blanks and no typed characters yet. A phone number may begin with a country code.
  const isBlank = (value) => DATE.test(value) || (hasBlanks(value) && /^(?:\+\d{1,3})?[^\p{L}\p{N}]*$/u.test(value));

  // Whether a field that got the focus looks masked. `value` is its value before the focus.
  function isMasked(field, value) {
    if (DOM.localName(field) !== "input" || !isTypable(field)) return false;
    const named = field.getAttributeNames().some((name) => /mask/i.test(name));
    const { placeholder } = field;
    const shown = hasBlanks(value) || BEGUN.test(value) || hasBlanks(placeholder) || PATTERN.test(placeholder);
    return named || shown || DOM.value(field) !== value;
  }

  // Whether a mask can be applied: e-mail addresses, numbers and passwords have separate input types.
  const isTypable = (field) => ["text", "tel", "search"].includes(field.type);

  return { isBlank, isMasked, isTypable };
})
