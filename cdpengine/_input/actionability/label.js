// The element to press in the place of a hidden control: an input of type radio, checkbox or file that nobody sees (not
// displayed, invisible, transparent, clipped, off the page, without a size). Called on a node in an isolated world, with
// what makes the tools of a node; null where the control itself is to be pressed, or nothing takes its place.
// A label around the control comes first, then what the page draws for it, then its other labels. Of several labels, the
// first one with a place for it: see places.js.
(function (toolsOf, placesOf) {
  "use strict";

  const HIDEABLE = ["radio", "checkbox", "file"];
  const CONTROLS = "a[href], button, input, select, textarea, label, [tabindex], [contenteditable], [onclick], [role=button i]";
  const MOST_AROUND = 3; // elements around the control that may be drawn for it

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

  // What the page draws for the control alone, and shows to be pressed by its cursor.
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
