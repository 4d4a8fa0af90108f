// Returns the element to press instead of a hidden control: a radio, checkbox or file input that users cannot
// see (not displayed, invisible, transparent, clipped, off the page, or without a size). Called on a node in an
// isolated world, with the factory of node tools. Returns null if the control itself is to be pressed, or has no
// substitute. Order of preference: a label around the control, an element that the page draws for it, its other
// labels. Of several labels, the first one with a free place: see places.js.
(function (toolsOf, placesOf) {
  "use strict";

  const HIDEABLE = ["radio", "checkbox", "file"];
  const CONTROLS = "a[href], button, input, select, textarea, label, [tabindex], [contenteditable], [onclick], [role=button i]";
  const MOST_AROUND = 3; // ancestors of the control that are searched for an element drawn for it

  const control = this;
  if (DOM.localName(control) !== "input" || !HIDEABLE.includes(control.type) || !isHidden()) return null;

  function isHidden() {
    if (!DOM.checkVisibility(control, { visibilityProperty: true, opacityProperty: true })) return true;
    const box = DOM.getBoundingClientRect(control);
    if (box.width <= 1 || box.height <= 1) return true;
    if (box.right + scrollX <= 0 || box.bottom + scrollY <= 0) return true; // cannot be scrolled into view
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

  // The element that the page draws for this control alone and marks as clickable by its cursor.
  function drawn() {
    for (let at = DOM.parentElement(control), level = 0; at && level < MOST_AROUND; at = DOM.parentElement(at), level++) {
      if (Array.from(DOM.querySelectorAll(at, CONTROLS)).some((each) => each !== control)) return null;
      const pressed = [at, ...DOM.children(at)].find((each) => each !== control && getComputedStyle(each).cursor === "pointer" && isSeen(each));
      if (pressed) return pressed;
    }
    return null;
  }

  const labels = control.labels.length ? Array.from(control.labels) : DOM.ariaLabelledByElements(control) ?? [];
  const seen = labels.filter(isSeen);
  const place = seen.find(hasPlace);
  if (place && DOM.contains(place, control)) return place;
  return drawn() ?? place ?? seen[0] ?? null;
})
