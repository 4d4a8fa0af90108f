// Which captions give their text to what as its name, so that the text need not be shown once more. A part of walk.js,
// which calls it once with its ways to read the document, `dom`, and what it knows of `elements`. It returns a function
// that makes what one walk notes; captions keep their numbers from walk to walk.
(function (dom, elements) {
  "use strict";

  const NATIVE = new Set([
    "button", "input", "select", "textarea", "option", "optgroup", "fieldset", "dialog", "summary",
  ]);

  const { byId } = dom;
  const { picksDate } = elements;
  const captions = new WeakMap(); // element -> number
  let last = 0;

  return function () {
    const labels = []; // caption number, name, ...
    const captionOf = []; // label, control, ...: asked of the label, for a control looks through the whole document
    const controls = new Map(); // control -> name

    function captionNumber(element) {
      let number = captions.get(element);
      if (number === undefined) captions.set(element, (number = ++last));
      return number;
    }

    function noteLabels(at, tag, name, attributed) {
      const by = attributed ? at.getAttribute("aria-labelledby") : null;
      if (by !== null) {
        const root = at.getRootNode();
        for (const id of by.split(/\s+/)) {
          const label = byId(root, id);
          if (label) labels.push(captionNumber(label), name);
        }
      } else if (tag === "table") {
        if (at.caption) labels.push(captionNumber(at.caption), name);
      } else if (tag === "fieldset") {
        const legend = at.querySelector(":scope > legend");
        if (legend) labels.push(captionNumber(legend), name);
      } else if (NATIVE.has(tag) && !picksDate(at, tag)) {
        controls.set(at, name);
      }
    }

    // Gives the captions of controls their numbers and names, at the end of the walk.
    function nameCaptions() {
      for (let i = 0; i < captionOf.length; i += 2) {
        const name = controls.get(captionOf[i + 1]);
        if (name !== undefined) labels.push(captionNumber(captionOf[i]), name);
      }
    }

    return { labels, captionOf, controls, captionNumber, noteLabels, nameCaptions };
  };
})
