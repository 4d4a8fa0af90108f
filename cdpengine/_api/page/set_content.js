// Replaces the document's content by `html`, as if a server had sent it, and waits until it has loaded.
// Runs in an isolated world. document.open() removes the listeners of the document and the window, so the
// listener is added after it.
(html) => {
  document.open();
  const loaded = new Promise((resolve) => {
    window.addEventListener("load", () => resolve(true), { once: true });
  });
  document.write(html);
  document.close();
  return loaded;
}
