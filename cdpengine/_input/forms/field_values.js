// Makes what fill.js and held.js know of the values of fields: what an input makes of a text, and whether a field that
// holds one text has taken another. A part of these, which call it once.
(function () {
  "use strict";

  const SET = ["date", "datetime-local", "month", "week", "time", "color", "range"];

  // Whether inputs of this type take typed text; others are set, or given their value by keys of their own.
  const isTyped = (type) => !SET.includes(type);

  // What an input of this type makes of a text, tried on another one: the page sees nothing of it.
  function sanitized(element, text) {
    const other = DOM.implementation(document).createHTMLDocument("").createElement("input");
    for (const name of ["min", "max", "step"]) {
      if (DOM.hasAttribute(element, name)) DOM.setAttribute(other, name, DOM.getAttribute(element, name));
    }
    other.type = element.type;
    other.value = text;
    return other.value;
  }

  // A time with or without seconds and their zeros, a date and time with a blank between them: all in one form.
  function momentOf(text) {
    return text.replace(" ", "T").replace(/\.(\d*?)0*$/, ".$1").replace(/\.$/, "").replace(/(:\d\d):00$/, "$1");
  }

  // Whether two values of an input that takes no typed text are the same one.
  function isSame(element, wanted, got) {
    if (wanted === got) return true;
    if (got === "") return false;
    if (element.type === "color") return wanted.toLowerCase() === got.toLowerCase();
    if (element.type === "range") return Number(wanted) === Number(got);
    return momentOf(wanted) === momentOf(got);
  }

  const plain = (text) => text.replace(/[\u200b\s]+/g, "").toUpperCase().toLowerCase(); // "ß" as "SS" is, too

  // Whether a field that holds `held` has taken `wanted`, as it is or set apart by the page's script. White space does
  // not count, nor upper and lower case; characters that are neither letters nor digits may have come in between.
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
