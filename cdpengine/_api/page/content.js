// Returns the document's HTML as it is now, its doctype included. Runs in an isolated world.
() => {
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\n" : "";
  const root = document.documentElement;
  return doctype + (root ? root.outerHTML : "");
}
