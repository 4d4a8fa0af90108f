// Inspects a group of radio buttons, native ones or elements with the role "radio". Called on a node in an
// isolated world, with
//   wanted   { text } or { label, value, index } of a radio button; null for the node itself
//   take     return the element of that radio button, or null, instead of the description
// The node is a radio button, a label of one, an element with the role "radiogroup", or one that contains the
// radio buttons of one group and no other field. Returns { kind, found, labels, own }: "radio", "group" or
// "none"; the index of the wanted radio button or -1; the labels of all; whether the wanted radio button is the
// node itself.
(function (request) {
  "use strict";

  const MOST_LABELS = 20;
  const RADIO = "input[type=radio], [role~=radio]";
  const OTHERS = "input:not([type=radio], [type=hidden]), select, textarea, [role=checkbox], [role=switch], [role=textbox], [role=combobox]";
  const HOLDERS = "fieldset, form, [role=group], [role=radiogroup]";

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (element && DOM.localName(element) === "label" && element.control) element = element.control;
  const none = request.take ? null : { kind: "none" };
  if (!element) return none;

  const isNative = (each) => DOM.localName(each) === "input" && each.type === "radio";
  const isRadio = (each) => isNative(each) || (DOM.getAttribute(each, "role") || "").trim().split(/\s+/)[0] === "radio";
  const plain = (text) => (text ?? "").replace(/\s+/g, " ").trim();

  const inside = (at) => Array.from(DOM.querySelectorAll(at, RADIO)).filter(isRadio);

  // All radio buttons of the group of this one.
  function groupOf(radio) {
    const root = DOM.getRootNode(radio);
    if (isNative(radio)) {
      const same = (each) => isNative(each) && each.name === radio.name && each.form === radio.form;
      return radio.name ? inside(root).filter(same) : [radio];
    }
    const around = DOM.closest(radio, "[role=radiogroup]");
    return around ? inside(around) : [radio];
  }

  function isGroup(at, radios) {
    if (DOM.getAttribute(at, "role") === "radiogroup") return true;
    if (!DOM.matches(at, HOLDERS) || DOM.querySelector(at, OTHERS)) return false;
    const group = groupOf(radios[0]);
    return radios.every((each) => group.includes(each));
  }

  function labelsOf(radio) {
    const named = DOM.ariaLabelledByElements(radio) ?? [];
    const all = [DOM.getAttribute(radio, "aria-label"), Array.from(named, (each) => DOM.textContent(each)).join(" ")];
    if (isNative(radio)) all.push(Array.from(radio.labels, (each) => DOM.textContent(each)).join(" "));
    else all.push(DOM.textContent(radio));
    return all.map(plain).filter(Boolean);
  }

  const valueOf = (radio) => (isNative(radio) ? radio.value : DOM.getAttribute(radio, "data-value") ?? DOM.getAttribute(radio, "value"));

  const kind = isRadio(element) ? "radio" : "group";
  const radios = kind === "radio" ? groupOf(element) : inside(element);
  if (radios.length === 0 || (kind === "group" && !isGroup(element, radios))) return none;

  function fits(radio, number) {
    const { label, value, index } = request.wanted;
    return (
      (label === undefined || labelsOf(radio).includes(plain(label))) &&
      (value === undefined || valueOf(radio) === value) &&
      (index === undefined || number === index)
    );
  }

  function find() {
    const { wanted } = request;
    if (wanted === null) return kind === "radio" ? element : null;
    if (!("text" in wanted)) return radios.find(fits) ?? null;
    const isMeant = (each) => valueOf(each) === wanted.text || labelsOf(each).includes(plain(wanted.text));
    if (kind === "radio" && isMeant(element)) return element;
    const byValue = radios.find((each) => valueOf(each) === wanted.text);
    return byValue ?? radios.find((each) => labelsOf(each).includes(plain(wanted.text))) ?? null;
  }

  const found = find();
  if (request.take) return found;
  const labels = radios.slice(0, MOST_LABELS).map((each) => (labelsOf(each)[0] ?? valueOf(each) ?? "").slice(0, 60));
  return { kind, found: found ? radios.indexOf(found) : -1, labels, own: found === element };
})
