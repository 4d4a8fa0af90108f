// The label to press in the place of a control that is hidden behind it: an input of type radio, checkbox or file that
// nobody sees (not displayed, invisible, transparent, clipped, off the page, without a size). Called on a node in an
// isolated world, with what makes the tools of a node; null where the control itself is to be pressed, or has no visible
// label. Where it has several, the first one with a place for it: see places.js.
(function (toolsOf, placesOf) {
  "use strict";

  const HIDEABLE = ["radio", "checkbox", "file"];

  const control = this;
  if (DOM.localName(control) !== "input" || !HIDEABLE.includes(control.type) || !isHidden()) return null;

  function isHidden() {
    if (!DOM.checkVisibility(control, { visibilityProperty: true, opacityProperty: true })) return true;
    const box = DOM.getBoundingClientRect(control);
    if (box.width <= 1 || box.height <= 1) return true;
    if (box.right + scrollX <= 0 || box.bottom + scrollY <= 0) return true; // nothing can be scrolled there
    const style = getComputedStyle(control);
    return style.clip === "rect(0px, 0px, 0px, 0px)" || /^(inset\((50|100)%|circle\(0)/.test(style.clipPath);
  }

  function isSeen(label) {
    const { rects, hasArea } = toolsOf(label);
    return DOM.checkVisibility(label, { visibilityProperty: true, opacityProperty: true }) && rects().some(hasArea);
  }

  function hasPlace(label) {
    const tools = toolsOf(label);
    return tools.takers().length === 0 || placesOf.call(label, null, tools).length > 0;
  }

  const labels = control.labels.length ? Array.from(control.labels) : DOM.ariaLabelledByElements(control) ?? [];
  const seen = labels.filter(isSeen);
  return seen.find(hasPlace) ?? seen[0] ?? null;
})
