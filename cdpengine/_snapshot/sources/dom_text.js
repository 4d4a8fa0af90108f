// Text as CSS draws it: content that CSS generates before and after an element, and transformed letters.
// Returns { generated, transformed }. Counters and the quotation marks of other languages cannot be read.
(function () {
  "use strict";

  const QUOTED = /"((?:\\.|[^"\\])*)"|(open-quote|close-quote)|attr\(\s*([\w-]+)\s*\)|(\/)|[\w-]+\([^)]*\)|[\w-]+/g;

  // The text of ::before or ::after, or its alternative text if it has one.
  function generated(element, which, hiddenToo) {
    const style = getComputedStyle(element, which);
    const content = style.content;
    if (content === "none" || content === "normal" || style.display === "none") return "";
    if (!hiddenToo && style.visibility !== "visible") return "";
    let text = "";
    let apart = style.display !== "inline";
    for (const part of content.matchAll(QUOTED)) {
      if (part[4]) {
        text = "";
        apart = true;
      }
      if (part[1] !== undefined) text += part[1].replace(/\\([0-9a-f]{1,6}\s?|.)/gi, unescaped);
      else if (part[2]) text += part[2] === "open-quote" ? "\u201c" : "\u201d";
      else if (part[3]) text += element.getAttribute(part[3]) || "";
    }
    text = transformed(text, style.textTransform);
    return apart && text ? " " + text + " " : text;
  }

  function unescaped(whole, escape) {
    return /^[0-9a-f]/i.test(escape) ? String.fromCodePoint(Math.min(parseInt(escape, 16) || 0xfffd, 0x10ffff)) : escape;
  }

  function transformed(text, how) {
    if (how === "none") return text;
    if (how === "uppercase") return text.toUpperCase();
    if (how === "lowercase") return text.toLowerCase();
    if (how !== "capitalize") return text;
    return text.replace(/(^|[^\p{L}\p{N}'\u2019])(\p{L})/gu, (all, before, letter) => before + letter.toUpperCase());
  }

  return { generated, transformed };
})
