// Gives a node the keyboard focus, and answers { focused, holder }: whether it has it now, and who does.
// `removed` says that a handler of the page's took the node away for it.
// Called on a node in an isolated world, with { atEnd }: whether the caret goes behind the text that is there; and the
// part secret_field.js.
(function (request, isSecret) {
  "use strict";

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { focused: false, holder: "" };
  if (DOM.localName(element) === "label" && element.control) element = element.control;

  isSecret(element); // a password that is typed now is known as one when the page shows it later

  // Within an editing host it is the host that takes the focus.
  let host = element;
  while (DOM.isContentEditable(host) && DOM.parentElement(host) && DOM.isContentEditable(DOM.parentElement(host))) {
    host = DOM.parentElement(host);
  }

  function active() {
    let at = DOM.activeElement(document);
    while (at && DOM.shadowRoot(at) && DOM.activeElement(DOM.shadowRoot(at))) at = DOM.activeElement(DOM.shadowRoot(at));
    return at;
  }

  // In the shadow tree of a closed root only the root itself tells who is active.
  function has(holder) {
    if (DOM.activeElement(DOM.getRootNode(host)) === host) return true;
    for (let at = holder; at; at = DOM.parentNode(at) || DOM.host(at)) if (at === host) return true;
    return false;
  }

  if (!has(active())) DOM.focus(host, { preventScroll: false });
  const holder = active();
  if (!has(holder) || !DOM.hasFocus(document)) {
    let name = holder ? DOM.localName(holder) : "nothing";
    const id = holder && DOM.getAttribute(holder, "id");
    if (id) name += "#" + id;
    return { focused: false, holder: name, removed: !DOM.isConnected(element) };
  }

  if (request.atEnd) {
    const selection = getSelection();
    if (element !== host) {
      selection.selectAllChildren(element);
      selection.collapseToEnd();
    } else {
      // Works in every kind of text field, also where selectionStart does not (number, email).
      selection.modify("move", "forward", "documentboundary");
    }
  }
  return { focused: true, holder: "" };
})
