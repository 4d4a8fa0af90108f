// Returns the facts about an element as a field, without its value. See FieldFacts in fields.py.
// Runs on the element in the isolated world. The second argument is isSecret of secret_field.js.
(function (request, isSecret) {
  "use strict";

  const MOST = 200;
  const element = DOM.nodeType(this) === 1 ? this : DOM.parentElement(this);
  if (element === null) return {};
  const tag = DOM.localName(element);
  const attribute = (name) => String(Element.prototype.getAttribute.call(element, name) || "").slice(0, MOST);
  // The string of a label, without the values of fields inside it.
  const words = (node) => {
    let text = "";
    const walker = DOM.createTreeWalker(document, node, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (each) =>
      DOM.nodeType(each) === 1 && (DOM.isContentEditable(each) || ["textarea", "select", "script", "style"].includes(DOM.localName(each)))
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
    );
    while (text.length < MOST && walker.nextNode()) if (DOM.nodeType(walker.currentNode) === 3) text += ` ${walker.currentNode.data}`;
    return text.replace(/\s+/g, " ").trim().slice(0, MOST);
  };
  const labels = [attribute("aria-label")];
  for (const id of attribute("aria-labelledby").split(/\s+/).filter(Boolean).slice(0, 4)) {
    const root = DOM.getRootNode(element);
    const named = "getElementById" in root ? DOM.getElementById(root, id) : null;
    if (named) labels.push(words(named));
  }
  for (const label of Array.from(DOM.labels(element) || []).slice(0, 4)) labels.push(words(label));
  labels.push(attribute("placeholder"), attribute("title"));
  const typed = tag === "input" || tag === "textarea";
  const editable = typed || (DOM.isContentEditable(element) && DOM.designMode(document) !== "on");
  return {
    tag,
    type: tag === "input" ? element.type : "",
    autocomplete: attribute("autocomplete"),
    name: attribute("name"),
    id: attribute("id"),
    label: labels.filter(Boolean).join(" ").slice(0, MOST),
    secret: isSecret(element),
    editable: Boolean(editable),
    multiple: Boolean(DOM.multiple(element)),
  };
})
