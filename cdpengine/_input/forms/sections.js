// Describes the sections of a page's date or time field: spin buttons in a group, one each for day, month, year,
// hour and so on. Called on a node in an isolated world, with
//   take   the index of a section whose element to return instead, or null
// The node is the group, an element between it and the sections, its label, or the hidden input in it for forms.
// Returns a list of { type, most, least, now, text }, one per section; empty for other nodes.
(function (request) {
  "use strict";

  const MOST = 8;
  const OTHERS = "input:not([aria-hidden=true], [type=hidden], [hidden]), select, textarea";

  function* starts() {
    const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
    if (!element) return;
    const isLabel = DOM.localName(element) === "label";
    const control = isLabel ? element.control : element;
    if (control && DOM.localName(control) === "input") {
      const isUnused = DOM.getAttribute(control, "aria-hidden") === "true" || control.tabIndex < 0;
      yield isUnused ? DOM.closest(control, "[role=group]") : null;
    } else if (DOM.getAttribute(element, "role") !== "spinbutton") yield element;
    if (!element.id) return;
    const named = DOM.querySelectorAll(DOM.getRootNode(element), "[role=group][aria-labelledby]");
    yield* Array.from(named).filter((each) => (DOM.ariaLabelledByElements(each) ?? []).includes(element));
  }

  const number = (element, name) => {
    const value = DOM.getAttribute(element, name);
    return value !== null && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : null;
  };

  function sectionsIn(around) {
    const found = Array.from(DOM.querySelectorAll(around, "[role=spinbutton]"));
    const isSection = (each) => DOM.localName(each) !== "input" && number(each, "aria-valuemax") !== null;
    return found.length > 1 && found.length <= MOST && found.every(isSection) && !DOM.querySelector(around, OTHERS) ? found : [];
  }

  let sections = [];
  for (const around of starts.call(this)) {
    if (around && sections.length === 0) sections = sectionsIn(around);
  }
  if (request.take !== null) return sections[request.take] ?? null;
  return sections.map((each) => ({
    type: DOM.getAttribute(each, "data-type") ?? "",
    most: number(each, "aria-valuemax"),
    least: number(each, "aria-valuemin") ?? 0,
    now: number(each, "aria-valuenow"),
    text: DOM.textContent(each).replace(/[\u200e\u200f\u2066-\u2069]/g, "").trim().slice(0, 20),
  }));
})
