// Returns the document's current HTML, including its doctype. Runs in an isolated world.
() => {
  const doctype = DOM.doctype(document) ? new XMLSerializer().serializeToString(DOM.doctype(document)) + "\n" : "";
  const root = DOM.documentElement(document);
  return doctype + (root ? DOM.outerHTML(root) : "");
}
