// Returns a part of the content of a node. Called on a node in an isolated world, with a request:
//   what     "text_content", "inner_text", "inner_html", "attribute", "value" or "style"
//   name     the name of the attribute or property
//   pseudo   the pseudo element of a style, or null
// Returns { connected }, with { value } or with { refused: the reason why the node has no such content }.
(function (request) {
  "use strict";

  const { what, name, pseudo } = request;
  const type = DOM.nodeType(this);
  const element = type === Node.ELEMENT_NODE ? this : type === Node.DOCUMENT_NODE ? DOM.documentElement(this) : DOM.parentElement(this);
  if (!element || !DOM.isConnected(this) || (type !== Node.DOCUMENT_NODE && DOM.ownerDocument(this) !== document)) {
    return { connected: false };
  }
  const found = (value) => ({ connected: true, value });
  const refused = (reason) => ({ connected: true, refused: reason });

  function fieldValue() {
    const control = (DOM.localName(element) === "label" && element.control) || element;
    if (!["input", "textarea", "select"].includes(DOM.localName(control))) {
      return refused("it is a " + DOM.localName(control) + ", which has no value. Use text_content() or inner_text()");
    }
    return found(String(DOM.value(control)));
  }

  function styleValue() {
    const style = getComputedStyle(element, pseudo);
    if (name.startsWith("--")) return found(style.getPropertyValue(name).trim());
    const value = name === "cssText" ? undefined : style[name];
    return typeof value === "string" ? found(value) : refused("property");
  }

  switch (what) {
    case "text_content":
      return found(DOM.textContent(type === Node.DOCUMENT_NODE ? element : this) ?? "");
    case "inner_text":
      // Elements without this property, such as those of SVG, have their text only.
      return found(type === Node.TEXT_NODE ? DOM.textContent(this) : DOM.innerText(element) ?? DOM.textContent(element) ?? "");
    case "inner_html":
      return found(DOM.innerHTML(element));
    case "attribute":
      return found(DOM.getAttribute(element, name));
    case "value":
      return fieldValue();
    default:
      return styleValue();
  }
})
