// The effects of style sheets on a document: generated content, changed case, content skipped
// because it is far off the screen. A part of walk.js, which calls it once with `dom`, its document readers.
(function (dom) {
  "use strict";

  const MOST_RULES = 2000;
  const PIECES = /"(?:\\.|[^"\\])*"|[\w-]+(?:\([^)]*\))?/g;

  const { ofRoot, query, styleOf } = dom;

  // Whether the element is so far from the viewport that content-visibility: auto skips its content. Only a
  // guess: no script can read it except through a skipped element.
  function isFarOff(element) {
    const box = element.getBoundingClientRect();
    return box.top > innerHeight * 2.5 || box.bottom < innerHeight * -1.5;
  }

  // Whether a picture replaces an element's content, by content: url() and the like.
  const isReplaced = ({ content }) =>
    content !== "normal" && content[0] !== '"' && /^(?:url|image|-webkit-image-set|[a-z-]*(?:gradient|cross-fade))[a-z-]*\(/.test(content);

  // Whether closed details hide their content. A style sheet can show it anyway.
  const isClosed = (details) => getComputedStyle(details, "::details-content").contentVisibility === "hidden";

  // Whether style sheets may generate content before or after elements; true if unknown.
  function hasDecorations(root) {
    return query(root, "q").length > 0 || sheetsDecorate(root);
  }

  // Whether any rule's selector matches `pattern`; true if unknown.
  function sheetsDecorate(root, pattern = /:(?:before|after)/i) {
    const waiting = [...ofRoot(root, "styleSheets"), ...ofRoot(root, "adoptedStyleSheets")];
    for (let looked = 0; waiting.length; ) {
      const sheet = waiting.pop();
      let rules;
      try {
        rules = sheet.cssRules;
      } catch {
        return true; // of another origin
      }
      looked += rules.length;
      if (looked > MOST_RULES) return true;
      for (const rule of rules) {
        if (rule.styleSheet) waiting.push(rule.styleSheet);
        if (rule.cssRules && rule.cssRules.length) waiting.push(rule);
        if (rule.selectorText && pattern.test(rule.selectorText)) return true;
      }
    }
    return false;
  }

  const carousels = new WeakMap(); // style sheet -> its number of rules, and whether they make buttons or markers
  const DIRECTIONS = ["inline-start", "inline-end", "block-start", "block-end"];

  function makesCarousels(rules, budget) {
    for (const rule of rules) {
      if (--budget.left < 0 || (rule.selectorText && /::scroll-(?:button|marker)/i.test(rule.selectorText))) return true;
      if (rule.cssRules && rule.cssRules.length && makesCarousels(rule.cssRules, budget)) return true;
      if (rule.styleSheet) return true;
    }
    return false;
  }

  // Whether style sheets may give scrollers buttons or markers; true if unknown.
  function hasCarousels(root) {
    for (const sheet of [...ofRoot(root, "styleSheets"), ...ofRoot(root, "adoptedStyleSheets")]) {
      let rules;
      try {
        rules = sheet.cssRules;
      } catch {
        return true; // of another origin
      }
      let known = carousels.get(sheet);
      if (known === undefined || known.length !== rules.length) {
        known = { length: rules.length, found: makesCarousels(rules, { left: MOST_RULES }) };
        carousels.set(sheet, known);
      }
      if (known.found) return true;
    }
    return false;
  }

  // A scroller's carousel: whether it has buttons, and the place of its markers ("before", "after" or "").
  function carouselOf(element) {
    const style = styleOf(element);
    if (style.overflowX === "visible" && style.overflowY === "visible") return null;
    const group = /^(?:before|after)/.exec(style.scrollMarkerGroup ?? "");
    const written = (which) => !/^(?:none|normal|)$/.test(getComputedStyle(element, `::scroll-button(${which})`).content);
    const buttons = DIRECTIONS.some(written);
    return group === null && !buttons ? null : { buttons, markers: group === null ? "" : group[0] };
  }

  // The content that style sheets generate before or after an element's content.
  function decoration(element, which) {
    const content = getComputedStyle(element, which).content;
    if (content === "none" || content === "normal" || content === "") return null;
    const slash = content.lastIndexOf(" / ");
    const parts = (slash < 0 ? content : content.slice(slash + 3)).match(PIECES) || [];
    let text = "";
    for (const part of parts) {
      if (part[0] === '"') text += part.slice(1, -1).replace(/\\(.)/g, "$1");
      else if (part.startsWith("attr(")) text += element.getAttribute(part.slice(5, -1).trim()) || "";
      else if (part === "open-quote" || part === "close-quote") text += quoteMark(element, part);
    }
    if (text === "" || getComputedStyle(element, which).display === "none") return null;
    return { text, apart: slash < 0 }; // alternative text continues the line
  }

  function quoteMark(element, which) {
    const marks = (getComputedStyle(element).quotes.match(PIECES) || []).filter((part) => part[0] === '"');
    const mark = marks[which === "open-quote" ? 0 : 1];
    return mark ? mark.slice(1, -1) : which === "open-quote" ? "\u201c" : "\u201d";
  }

  function transformed(text, how) {
    if (how === "uppercase") return text.toUpperCase();
    if (how === "lowercase") return text.toLowerCase();
    if (how === "capitalize") return text.replace(/(^|[^\p{L}\p{N}'])(\p{L})/gu, (_, a, b) => a + b.toUpperCase());
    return text;
  }

  return { isFarOff, isReplaced, isClosed, hasDecorations, sheetsDecorate, decoration, transformed, hasCarousels, carouselOf };
})
