// Replaces the document's content by `html`, as if a server had sent it, and waits until it has loaded. Runs in an
// isolated world. document.open() removes the listeners of the document and the window, so the listener is added
// after it.
(html) => {
  DOM.open(document);
  const loaded = new Promise((resolve) => {
    window.addEventListener("load", () => resolve(true), { once: true });
  });
  DOM.write(document, html);
  DOM.close(document);
  return loaded;
}
