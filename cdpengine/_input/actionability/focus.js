// Focuses a node and returns { focused, holder }: whether it has the focus now, and a description of the focused
// element if not. `removed`: a handler of the page removed the node. `fresh`: the node is a text field that did
// not have the focus before. `masked`: it looks like a field with a mask. `labelled`: the node is the label of
// the focused element. Called on a node in an isolated world, with { atEnd, guard, again }: whether to move the
// caret behind the existing text; the request of key_guard.js, or null; whether this is a repeated call, after
// the page had time to move the caret. Then with the key guards, and the parts secret_field.js and mask.js.
(function (request, keys, isSecret, masks) {
  "use strict";

  // A CSSPseudoElement is no Node.
  let element = !(this instanceof Node) ? this.element : DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { focused: false, holder: "" };
  if (DOM.localName(element) === "label" && element.control) element = element.control;

  const editor = keys?.editorInput(element);
  if (editor) element = editor;

  isSecret(element); // remembers a password field, in case the page shows its text later

  // Inside an editing host, only the host can be focused.
  let host = element;
  while (DOM.isContentEditable(host) && DOM.parentElement(host) && DOM.isContentEditable(DOM.parentElement(host))) {
    host = DOM.parentElement(host);
  }
  const isField = ["input", "textarea"].includes(DOM.localName(host));

  function active() {
    let at = DOM.activeElement(document);
    while (at && DOM.shadowRoot(at) && DOM.activeElement(DOM.shadowRoot(at))) at = DOM.activeElement(DOM.shadowRoot(at));
    return at;
  }

  // Only a closed shadow root itself knows its active element.
  function has(holder) {
    if (DOM.activeElement(DOM.getRootNode(host)) === host) return true;
    for (let at = holder; at; at = DOM.parentNode(at) || DOM.host(at)) if (at === host) return true;
    return false;
  }

  // The innermost element with the focus: the host itself, or an element that it delegates the focus to.
  function innermost(holder) {
    let at = DOM.activeElement(DOM.getRootNode(host)) === host ? host : holder;
    for (let root = DOM.shadowRoot(at); root && DOM.activeElement(root); root = DOM.shadowRoot(at)) at = DOM.activeElement(root);
    return at;
  }

  const caret = () => (isField ? host.selectionStart + " " + host.selectionEnd : "");
  const isWhole = () => host.selectionStart === 0 && host.selectionEnd === host.value.length && host.value !== "";

  const [value, before] = [isField ? host.value : "", caret()];
  const already = has(active());
  const typed = DOM.localName(host) === "input" && masks.isTypable(host);
  const since = typed && keys ? keys.mark() : null;
  // An editable body is the active element of its frame even if the frame does not have the focus.
  if (!already || !DOM.hasFocus(document)) DOM.focus(host, { preventScroll: false });
  const after = caret();

  const finish = (masked) => {
    const holder = active();
    if (!has(holder) || !DOM.hasFocus(document)) {
      let name = holder ? DOM.localName(holder) : "nothing";
      const id = holder && DOM.getAttribute(holder, "id");
      if (id) name += "#" + id;
      return { focused: false, holder: name, removed: !DOM.isConnected(element) };
    }
    if (request.guard) keys.arm(request.guard, host, innermost(holder), innermost(holder) === host ? since : null);
    // A caret that the page placed on focus stays there. A selection of the whole value is only a convenience
    // for users, and does not.
    const begun = masked && (already || (caret() === "0 0" && masks.isBlank(host.value)));
    const placed = request.again || begun || before !== after || after !== caret();
    // A code editor manages its own caret.
    if (request.atEnd && !editor && (!placed || (isWhole() && !masked))) {
      const selection = getSelection();
      if (element !== host) {
        selection.selectAllChildren(element);
        selection.collapseToEnd();
      } else {
        // Works in all text fields, including those without selectionStart (number, email).
        selection.modify("move", "forward", "documentboundary");
      }
    }
    return { focused: true, holder: "", fresh: typed && !already, masked: Boolean(masked), labelled: this !== element };
  };

  const masked = request.atEnd && masks.isMasked(host, value);
  if (masked && !already) return keys.settle(since).then(() => finish(true));
  return finish(masked);
})
