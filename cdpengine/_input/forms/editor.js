// Replaces the selection of a focused code editor by a string, or compares its selection with that string, by
// clipboard events. These cover the whole text, whereas the document contains only the visible part. The
// clipboard itself is not used. Called on the editor's node in an isolated world, with { paste, entered }; then
// with the key guards. Returns { handled, same }: whether the editor handled the event, and whether its
// selection equals the string.
(function (request, keys) {
  "use strict";

  const LIMIT_MS = 1000; // for editors that insert a pasted text later than the event, as Monaco does
  const FRAME_LIMIT_MS = 100; // used instead of frames where the page gets none (a throttled page)

  const element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  const input = element && keys.editorInput(element);
  // If the editor lost the focus, the key guard handles the input.
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
    // CodeMirror 5 puts the copied text into its field. With an empty text, nothing is selected.
    return text || (request.entered !== "" && DOM.localName(input) === "textarea" ? DOM.value(input) : "");
  }

  const plain = (text) => text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  const isSame = (text) => plain(text) === plain(request.entered);

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
  const { handled } = send("paste", request.entered);
  const started = performance.now();
  // After the paste the selection changes. An empty editor has no selection before or after, so it gets one frame.
  function wait() {
    const late = performance.now() - started > LIMIT_MS;
    if (!handled || late || isSame(before) || selected() !== before) return { handled, same: false };
    return nextFrame().then(before === "" ? () => ({ handled, same: false }) : wait);
  }
  return before === "" ? nextFrame().then(wait) : wait();
})
