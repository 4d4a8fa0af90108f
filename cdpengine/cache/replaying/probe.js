// Looks for elements of this document by role and name, and counts its roles, open shadow roots included: what takes a
// fraction of a snapshot's time. `wanted`: of each element { css, roles, name }, where `css` matches all that can have
// one of the roles. `counted`: CSS of what is counted, null for nothing. `names` is what dom_names.js answers: roles and
// names from the DOM alone, so Chrome does not make its accessibility tree for it. `candidates` is what candidates.js
// answers.
// Answers an array: first JSON { elements, roles }, then for each that is wanted the only element that is drawn and
// fits, or null. Of each it tells how many there are, the named parts around it (with their roles, innermost first,
// dialogs and items also without a name), and what is said right before and after it.
// Also tells what the document says (messages.js, which is `read`), and the status that the server answered it with.
// Runs in an isolated world; it changes nothing. What a form or the document has by the page's own names
// (<input name=contains>) is asked of the prototypes.
(wanted, counted, { roleOf: told, nameOf }, candidates, read) => {
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

  const UNSAID = new Set(["script", "style", "noscript", "template", "option", "textarea"]);
  const PLACES = new Set(["dialog", "alertdialog", "row", "listitem", "article", "treeitem"]);
  const SAYING = new Set(["input", "select", "textarea", "img", "iframe"]);
  const FARTHEST = 60; // nodes that are passed on the way to what is said beside an element
  const collapse = (text) => text.replace(/\s+/g, " ").trim();
  const isDrawn = (at) => checkVisibility(at, { visibilityProperty: true });
  // ARIA has no role for what opens details; a snapshot calls it a button.
  const roleOf = (at) => told(at) || (localName(at) === "summary" ? "button" : "");
  const nameIn = (at) => collapse(nameOf(at));

  candidates.update();
  const modal = search(document, ":modal")[0] || null;
  const mayHide = modal !== null || candidates.roots.some((root) => search(root, "[aria-hidden], [inert]").length > 0);

  function parentOf(at) {
    if (assignedSlot(at)) return assignedSlot(at);
    const root = getRootNode(at);
    return parentElement(at) || (root instanceof ShadowRoot ? root.host : null);
  }

  // Whether an element is kept from everybody, by itself or by what it is in. What is known of one is kept for all in it.
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

  function saidBy(node) {
    if (node instanceof Text) {
      const parent = parentElement(node);
      if (parent === null || UNSAID.has(localName(parent)) || !node.data.trim()) return "";
      return isDrawn(parent) && !isHidden(parent) ? collapse(node.data) : "";
    }
    return SAYING.has(localName(node)) && isDrawn(node) && !isHidden(node) ? nameIn(node) : "";
  }

  // A label says the element's own name again: it is no neighbour.
  function saidBeside(element, step, name) {
    const walker = DOM.createTreeWalker(document, getRootNode(element), NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    walker.currentNode = element;
    for (let passed = 0; passed < FARTHEST && walker[step](); ) {
      const node = walker.currentNode;
      if (contains(element, node)) continue;
      passed++;
      const said = contains(node, element) ? "" : saidBy(node);
      if (said && said !== name) return said;
    }
    return "";
  }

  const found = [];
  const elements = wanted.map(({ css, roles, name }) => {
    const drawn = candidates.named(css, name).filter((at) => isDrawn(at) && nameIn(at) === name && roles.includes(roleOf(at)));
    const only = drawn.length === 1 && !isHidden(drawn[0]) ? drawn[0] : null;
    found.push(only);
    if (only === null) return { count: drawn.length };
    const [before, after] = [saidBeside(only, "previousNode", name), saidBeside(only, "nextNode", name)];
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
  const said = read(candidates.roots, (at) => isDrawn(at) && !isHidden(at), nameIn);
  const [entry] = performance.getEntriesByType("navigation");
  const status = entry ? entry.responseStatus : 0;
  return [JSON.stringify({ elements, roles, said, status }), ...found];
}
