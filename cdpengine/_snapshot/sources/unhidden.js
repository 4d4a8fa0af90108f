// Finds elements by role in visible content under aria-hidden, which a snapshot shows and Chrome's
// accessibility tree lacks. The request is { roles, most, hiding }: Chrome's names of the roles, or null for all,
// the maximum number of elements, and { most, customs }, the positions of custom elements that hide themselves
// among those that hiding.js finds. Returns an array. Its first item is JSON, { descriptions }: for each
// element its role, a line break and its name. The elements follow. Runs in an isolated world. `search` is
// the result of node_search.js, `find` that of hiding.js; the others are the functions of walk_dom.js, walk_elements.js and
// walk_beyond.js, and the function that makes a kit of roles and names.
(request, search, find, makeDom, makeElements, makeBeyond, makeKit) => {
  const dom = makeDom();
  const listens = (at) => DOM.getAttribute(at, "onclick") !== null;
  const { mayCount, isCounted } = makeBeyond(dom, makeElements(dom), listens);
  const customs = find(request.hiding, search).slice(1);
  const hiders = new Set(request.hiding.customs.map((position) => customs[position]));
  const hides = (at) => DOM.getAttribute(at, "aria-hidden") === "true" || hiders.has(at);
  // Chrome's role and name of a custom element, which its internals can set.
  const given = (at) =>
    customs.includes(at) && at.computedRole
      ? { told: null, role: at.computedRole, name: at.computedName, by: "", unsure: at.computedName === "" }
      : undefined;
  const roots = new Set();
  for (const at of search.select("[aria-hidden=true]:not(html, body, svg *)")) {
    if (mayCount(at) && isCounted(at)) roots.add(at);
  }
  for (const at of hiders) if (at && mayCount(at) && isCounted(at)) roots.add(at);
  const found = [];
  if (roots.size) {
    const kit = makeKit(given);
    roots.forEach(kit.unhide);
    for (const at of search.select("*")) {
      if (!DOM.checkVisibility(at, { visibilityProperty: true })) continue;
      let root = at;
      while (root !== null && !hides(root)) root = dom.flatParent(root);
      if (root === null || !roots.has(root)) continue;
      const role = kit.roleOf(at);
      if (request.roles === null ? ["", "none", "generic"].includes(role) : !request.roles.includes(role)) continue;
      found.push([at, `${role}\n${kit.nameOf(at).replace(/\s+/g, " ").trim()}`]);
      if (found.length === request.most) break;
    }
  }
  return [JSON.stringify({ descriptions: found.map(([, text]) => text) }), ...found.map(([at]) => at)];
}
