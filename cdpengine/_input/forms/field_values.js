// Creates functions about the values of fields for fill.js and read_back.js: how an input sanitizes a string, and
// whether a field accepted a string. They include this part and call it once.
(function () {
  "use strict";

  const SET = ["date", "datetime-local", "month", "week", "time", "color", "range"];

  // Whether inputs of this type accept typed text. Others are set, or get their value by special keys.
  const isTyped = (type) => !SET.includes(type);

  // The value to which an input of this type sanitizes a string. Tried on another input, which the page cannot
  // see.
  function sanitized(element, text) {
    const other = DOM.implementation(document).createHTMLDocument("").createElement("input");
    for (const name of ["min", "max", "step"]) {
      if (DOM.hasAttribute(element, name)) DOM.setAttribute(other, name, DOM.getAttribute(element, name));
    }
    other.type = element.type;
    other.value = text;
    return other.value;
  }

  // Normalizes times with or without seconds and trailing zeros, and dates with a blank before the time.
  function momentOf(text) {
    return text.replace(" ", "T").replace(/\.(\d*?)0*$/, ".$1").replace(/\.$/, "").replace(/(:\d\d):00$/, "$1");
  }

  // Whether two values of an input that accepts no typed text are equal.
  function isSame(element, wanted, got) {
    if (wanted === got) return true;
    if (got === "") return false;
    if (element.type === "color") return wanted.toLowerCase() === got.toLowerCase();
    if (element.type === "range") return Number(wanted) === Number(got);
    return momentOf(wanted) === momentOf(got);
  }

  const plain = (text) => text.replace(/[\u200b\s]+/g, "").toUpperCase().toLowerCase(); // "ß" equals "SS"

  // Whether a field that holds `held` has accepted `wanted`, unchanged or reformatted by the page. Ignores white
  // space and case. The page may have inserted characters that are neither letters nor digits.
  function wasTaken(wanted, held, isNumber) {
    wanted = plain(wanted);
    held = plain(held);
    if (wanted === held) return true;
    if (held === "" || wanted === "") return false;
    if (isNumber) return Number(wanted) === Number(held);
    const rest = Array.from(held);
    for (const character of wanted) {
      while (rest.length && rest[0] !== character) if (/[\p{L}\p{N}]/u.test(rest.shift())) return false;
      if (rest.shift() === undefined) return false;
    }
    return !rest.some((each) => /[\p{L}\p{N}]/u.test(each));
  }

  return { isTyped, sanitized, isSame, wasTaken };
})
