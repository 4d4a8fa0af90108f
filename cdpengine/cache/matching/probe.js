// Searches this document and its open shadow roots for elements by role and name, and counts roles. It takes a
// fraction of a snapshot's time.
//   queries       { css, roles, name } of each element; `css` matches all elements that can have one of the roles
//   counted       CSS of the counted elements, or null
//   names         the result of dom_names.js: roles and names from the DOM alone, without Chrome's accessibility tree
//   candidates    the result of candidates.js
//   read          messages.js
// Returns an array: JSON, then for each query the only drawn match, or null. The JSON contains for each
// query the number of matches, the named parts around it (with their roles, innermost first; dialogs and items
// also without a name), and the strings right before and after it. It also contains the counts of roles, the messages
// of the document and its HTTP status.
// Runs in an isolated world and changes nothing. The code calls prototype methods, because a page can shadow properties
// of forms and the document (<input name=contains>).
(queries, counted, { roleOf: roleFromDom, nameOf }, candidates, read) => {
  const method = (proto, name) => Function.prototype.call.bind(proto[name]);
  const getter = (proto, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(proto, name).get);
  const getAttribute = method(Element.prototype, "getAttribute");
  const hasAttribute = method(Element.prototype, "hasAttribute");
  const checkVisibility = method(Element.prototype, "checkVisibility");
  const contains = method(Node.prototype, "contains");
  const getRootNode = method(Node.prototype, "getRootNode");
  const localName = getter(Element.prototype, "localName");
  const assignedSlot = getter(Element.prototype, "assignedSlot");
  const parentElement = getter(Node.prototype, "parentElement");
  const inert = getter(HTMLElement.prototype, "inert");
  const search = (root, css) =>
    (root instanceof Document ? Document : root instanceof DocumentFragment ? DocumentFragment : Element)
      .prototype.querySelectorAll.call(root, css);

  const HIDDEN_TEXT = new Set(["script", "style", "noscript", "template", "option", "textarea"]);
  const PLACES = new Set(["dialog", "alertdialog", "row", "listitem", "article", "treeitem"]);
  const NAMED = new Set(["input", "select", "textarea", "img", "iframe"]);
  const FARTHEST = 60; // maximum number of nodes between an element and its neighbouring string
  const collapse = (text) => text.replace(/\s+/g, " ").trim();
  const isDrawn = (at) => checkVisibility(at, { visibilityProperty: true });
  // ARIA has no role for <summary>. A snapshot calls it a button.
  const roleOf = (at) => roleFromDom(at) || (localName(at) === "summary" ? "button" : "");
  const nameIn = (at) => collapse(nameOf(at));

  candidates.update();
  const modal = search(document, ":modal")[0] || null;
  const mayHide = modal !== null || candidates.roots.some((root) => search(root, "[aria-hidden], [inert]").length > 0);

  function parentOf(at) {
    if (assignedSlot(at)) return assignedSlot(at);
    const root = getRootNode(at);
    return parentElement(at) || (root instanceof ShadowRoot ? root.host : null);
  }

  // Returns whether an element or one of its ancestors is hidden from assistive technology. Results are cached.
  const hidden = new Map();
  function isHidden(element) {
    if (!mayHide) return false;
    const chain = [];
    let is = modal !== null;
    for (let at = element; at !== null; at = parentOf(at)) {
      if (hidden.has(at)) {
        is = hidden.get(at);
        break;
      }
      chain.push(at);
      const silent = hasAttribute(at, "aria-hidden") && getAttribute(at, "aria-hidden").toLowerCase() === "true";
      if (silent || (at instanceof HTMLElement && inert(at)) || at === modal) {
        is = silent || inert(at);
        break;
      }
    }
    for (const at of chain) hidden.set(at, is);
    return is;
  }

  function around(element) {
    const found = [];
    for (let at = parentOf(element); at !== null && at !== DOM.documentElement(document); at = parentOf(at)) {
      const role = roleOf(at);
      const name = nameIn(at);
      if (name || PLACES.has(role)) found.push([role, name]);
    }
    return found;
  }

  function textOf(node) {
    if (node instanceof Text) {
      const parent = parentElement(node);
      if (parent === null || HIDDEN_TEXT.has(localName(parent)) || !node.data.trim()) return "";
      return isDrawn(parent) && !isHidden(parent) ? collapse(node.data) : "";
    }
    return NAMED.has(localName(node)) && isDrawn(node) && !isHidden(node) ? nameIn(node) : "";
  }

  // A label repeats the element's name, so it is no neighbour.
  function textBeside(element, step, name) {
    const walker = DOM.createTreeWalker(document, getRootNode(element), NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    walker.currentNode = element;
    for (let passed = 0; passed < FARTHEST && walker[step](); ) {
      const node = walker.currentNode;
      if (contains(element, node)) continue;
      passed++;
      const text = contains(node, element) ? "" : textOf(node);
      if (text && text !== name) return text;
    }
    return "";
  }

  const found = [];
  const elements = queries.map(({ css, roles, name }) => {
    const drawn = candidates.named(css, name).filter((at) => isDrawn(at) && nameIn(at) === name && roles.includes(roleOf(at)));
    const only = drawn.length === 1 && !isHidden(drawn[0]) ? drawn[0] : null;
    found.push(only);
    if (only === null) return { count: drawn.length };
    const [before, after] = [textBeside(only, "previousNode", name), textBeside(only, "nextNode", name)];
    return { count: 1, around: around(only), before, after };
  });
  const roles = {};
  if (counted !== null) {
    for (const at of candidates.matching(counted)) {
      if (!isDrawn(at) || isHidden(at)) continue;
      const role = roleOf(at);
      roles[role] = (roles[role] || 0) + 1;
    }
  }
  const signs = read(candidates.roots, (at) => isDrawn(at) && !isHidden(at), nameIn);
  const [entry] = performance.getEntriesByType("navigation");
  const status = entry ? entry.responseStatus : 0;
  return [JSON.stringify({ elements, roles, signs, status }), ...found];
}
