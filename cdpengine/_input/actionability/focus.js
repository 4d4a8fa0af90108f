// Gives a node the keyboard focus, and answers { focused, holder }: whether it has it now, and who does.
// `removed` says that a handler of the page's took the node away for it.
// Called on a node in an isolated world, with { atEnd }: whether the caret goes behind the text that is there; and the
// part secret_field.js.
(function (request, isSecret) {
  "use strict";

  let element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  if (!element) return { focused: false, holder: "" };
  if (element.localName === "label" && element.control) element = element.control;

  isSecret(element); // a password that is typed now is known as one when the page shows it later

  // Within an editing host it is the host that takes the focus.
  let host = element;
  while (host.isContentEditable && host.parentElement && host.parentElement.isContentEditable) {
    host = host.parentElement;
  }

  function active() {
    let at = document.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    return at;
  }

  // In the shadow tree of a closed root only the root itself tells who is active.
  function has(holder) {
    if (host.getRootNode().activeElement === host) return true;
    for (let at = holder; at; at = at.parentNode || at.host) if (at === host) return true;
    return false;
  }

  if (!has(active())) host.focus({ preventScroll: false });
  const holder = active();
  if (!has(holder) || !document.hasFocus()) {
    let name = holder ? holder.localName : "nothing";
    if (holder && holder.id) name += "#" + holder.id;
    return { focused: false, holder: name, removed: !element.isConnected };
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
