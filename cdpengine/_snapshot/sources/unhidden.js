// Finds elements by role in visible content under aria-hidden, which a snapshot shows and Chrome's
// accessibility tree lacks. The request is { roles, most }: Chrome's names of the roles, or null for all, and
// the maximum number of elements. Returns an array. Its first item is JSON, { descriptions }: for each
// element its role, a line break and its name. The elements follow. Runs in an isolated world. `search` is
// the result of node_search.js; the others are the functions of walk_dom.js, walk_elements.js and
// walk_beyond.js, and the function that makes a kit of roles and names.
(request, search, makeDom, makeElements, makeBeyond, makeKit) => {
  const dom = makeDom();
  const listens = (at) => DOM.getAttribute(at, "onclick") !== null;
  const { mayCount, isCounted } = makeBeyond(dom, makeElements(dom), listens);
  const roots = new Set();
  for (const at of search.select("[aria-hidden=true]:not(html, body, svg *)")) {
    if (mayCount(at) && isCounted(at)) roots.add(at);
  }
  const found = [];
  if (roots.size) {
    const kit = makeKit();
    roots.forEach(kit.unhide);
    for (const at of search.select("*")) {
      if (!DOM.checkVisibility(at, { visibilityProperty: true })) continue;
      let root = at;
      while (root !== null && DOM.getAttribute(root, "aria-hidden") !== "true") root = dom.flatParent(root);
      if (root === null || !roots.has(root)) continue;
      const role = kit.roleOf(at);
      if (request.roles === null ? ["", "none", "generic"].includes(role) : !request.roles.includes(role)) continue;
      found.push([at, `${role}\n${kit.nameOf(at).replace(/\s+/g, " ").trim()}`]);
      if (found.length === request.most) break;
    }
  }
  return [JSON.stringify({ descriptions: found.map(([, text]) => text) }), ...found.map(([at]) => at)];
}
