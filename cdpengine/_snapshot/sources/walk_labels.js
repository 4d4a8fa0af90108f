// Finds the captions whose text is the name of another element, so that the text is not shown twice. A part
// of walk.js, which calls it once with `dom`, its document readers, and `elements`. It returns a function
// that makes the notes of one walk. Captions keep their numbers from walk to walk.
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
    const captionOf = []; // label, control, ...; `control.labels` would search the whole document
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

    // Assigns names to the captions of controls, at the end of the walk.
    function nameCaptions() {
      for (let i = 0; i < captionOf.length; i += 2) {
        const name = controls.get(captionOf[i + 1]);
        if (name !== undefined) labels.push(captionNumber(captionOf[i]), name);
      }
    }

    return { labels, captionOf, controls, captionNumber, noteLabels, nameCaptions };
  };
})
