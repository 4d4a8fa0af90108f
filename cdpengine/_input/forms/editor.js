// Has a code editor that has the focus take a text in the place of its selection, or says whether its selection is that
// text, by the events of the clipboard: these are for the whole text, where the document holds only what is in view. The
// clipboard itself is not used. Called on its node in an isolated world, with { paste, text }; then key_guard.js.
// Answers { handled, same }: whether the editor took the event, and whether its selection is the text.
(function (request, keys) {
  "use strict";

  const LIMIT_MS = 1000; // for an editor that takes a text a moment after the event, as Monaco does
  const FRAME_LIMIT_MS = 100; // where frames do not come (a throttled page), time takes their place

  const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  const input = element && keys.editorInput(element);
  // A text without the focus is the key guard's to hold back.
  if (!input || DOM.activeElement(DOM.getRootNode(input)) !== input) return { handled: false, same: false };

  function send(kind, text) {
    const data = new DataTransfer();
    if (text !== null) data.setData("text/plain", text);
    const event = new ClipboardEvent(kind, { clipboardData: data, bubbles: true, cancelable: true, composed: true });
    DOM.dispatchEvent(input, event);
    return { data, handled: event.defaultPrevented };
  }

  function selected() {
    const text = send("copy", null).data.getData("text/plain");
    // CodeMirror 5 puts what is to be copied into its field. Without a text there is nothing to be selected.
    return text || (request.text !== "" && DOM.localName(input) === "textarea" ? DOM.value(input) : "");
  }

  const plain = (text) => text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  const isSame = (text) => plain(text) === plain(request.text);

  const nextFrame = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, FRAME_LIMIT_MS);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      });
    });

  if (!request.paste) return { handled: true, same: isSame(selected()) };
  const before = selected();
  const { handled } = send("paste", request.text);
  const started = performance.now();
  // Once it has the text, its selection is another one. An empty editor has none before, either: it gets a moment.
  function wait() {
    const late = performance.now() - started > LIMIT_MS;
    if (!handled || late || isSame(before) || selected() !== before) return { handled, same: false };
    return nextFrame().then(before === "" ? () => ({ handled, same: false }) : wait);
  }
  return before === "" ? nextFrame().then(wait) : wait();
})
