// Returns the distinct absolute http and https addresses of a document's links, in order.
() => {
  const found = new Set();
  for (const element of DOM.querySelectorAll(document, "a[href], area[href]")) {
    const address = String(element.href instanceof SVGAnimatedString ? element.href.baseVal : element.href);
    try {
      const { protocol, href } = new URL(address, DOM.baseURI(document));
      if (protocol === "http:" || protocol === "https:") found.add(href);
    } catch {
      continue; // an invalid address
    }
  }
  return [...found];
}
