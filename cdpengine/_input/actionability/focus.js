// Gives a node the keyboard focus, and answers { focused, holder }: whether it has it now, and who does.
// `removed` says that a handler of the page's took the node away for it. `fresh`: it is an input of text that did not have
// the focus before; `masked`: it looks like the field of a mask; `labelled`: the node is its label.
// Called on a node in an isolated world, with { atEnd, guard, again }: whether the caret goes behind the text that is there;
// what key_guard.js is to guard, or null; whether this was called before, and the page had time to put the caret elsewhere; then that, and the parts secret_field.js and mask.js.
(function (request, keys, isSecret, masks) {
  "use strict";

  // A CSSPseudoElement is no Node.
  let element = !(this instanceof Node) ? this.element : DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { focused: false, holder: "" };
  if (DOM.localName(element) === "label" && element.control) element = element.control;

  const editor = keys?.editorInput(element);
  if (editor) element = editor;

  isSecret(element); // a password that is typed now is known as one when the page shows it later

  // Within an editing host it is the host that takes the focus.
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

  // In the shadow tree of a closed root only the root itself tells who is active.
  function has(holder) {
    if (DOM.activeElement(DOM.getRootNode(host)) === host) return true;
    for (let at = holder; at; at = DOM.parentNode(at) || DOM.host(at)) if (at === host) return true;
    return false;
  }

  // What holds the focus in the node: itself, or what it hands the focus to.
  function innermost(holder) {
    let at = DOM.activeElement(DOM.getRootNode(host)) === host ? host : holder;
    for (let root = DOM.shadowRoot(at); root && DOM.activeElement(root); root = DOM.shadowRoot(at)) at = DOM.activeElement(root);
    return at;
  }

  const caret = () => (isField ? host.selectionStart + " " + host.selectionEnd : "");
  const isWhole = () => host.selectionStart === 0 && host.selectionEnd === host.value.length && host.value !== "";

  const [value, before] = [isField ? host.value : "", caret()];
  const already = has(active());
  // A body that is edited is the active element of its frame, whether that has the focus or not.
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
    if (request.guard) keys.arm(request.guard, host, innermost(holder));
    // Where the page has put the caret at the focus, it has a reason to. All of the text it selects for convenience.
    const begun = masked && (already || (caret() === "0 0" && masks.isBlank(host.value)));
    const placed = request.again || begun || before !== after || after !== caret();
    // The caret of a code editor is its own.
    if (request.atEnd && !editor && (!placed || (isWhole() && !masked))) {
      const selection = getSelection();
      if (element !== host) {
        selection.selectAllChildren(element);
        selection.collapseToEnd();
      } else {
        // Works in every kind of text field, also where selectionStart does not (number, email).
        selection.modify("move", "forward", "documentboundary");
      }
    }
    const typed = DOM.localName(host) === "input" && masks.isTypable(host);
    return { focused: true, holder: "", fresh: typed && !already, masked: Boolean(masked), labelled: this !== element };
  };

  const masked = request.atEnd && masks.isMasked(host, value);
  if (masked && !already) return masks.settle().then(() => finish(true));
  return finish(masked);
})
