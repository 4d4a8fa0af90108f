// Counts the factors in the cost of Chrome's accessibility tree: { elements, links, fragments, computed }.
//
// `fragments` counts links to a fragment of this document that no id matches: Chrome searches the whole
// document for each of them. `computed` is whether elements have Chrome's computedRole. Runs in an isolated
// world.
(function () {
  "use strict";

  const MOST = 100000;
  // Read through the prototype: <img name=links> would shadow the document's `links` in this world too.
  const of = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(document);
  const here = of("URL").split("#", 1)[0];
  const links = of("links");
  const count = links.length;
  let fragments = 0;
  for (let index = 0; index < count && index < MOST; index += 1) {
    const link = links[index];
    const given = DOM.getAttribute(link, "href");
    const hash = given.indexOf("#");
    if (hash < 0 || hash === given.length - 1) continue;
    if (hash > 0 && link.href.split("#", 1)[0] !== here) continue;
    if (Document.prototype.getElementById.call(document, decoded(given.slice(hash + 1))) === null) fragments += 1;
  }

  function decoded(text) {
    if (text.indexOf("%") < 0) return text;
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // like Chrome, keep an invalid escape unchanged
    }
  }

  return {
    elements: Document.prototype.getElementsByTagName.call(document, "*").length,
    links: count,
    fragments,
    computed: "computedRole" in Element.prototype,
  };
})
