// Evaluates a query by a plain walk over the flat tree, and returns the numbers (data-n) of the matches in page order.
// Independent of the engine's own scripts: no selector pierces shadow roots here, and nothing is cached.
(query) => {
  const childrenOf = (at) => {
    if (at.shadowRoot) return Array.from(at.shadowRoot.children);
    const assigned = at.localName === "slot" ? at.assignedElements() : [];
    return assigned.length ? assigned : Array.from(at.children);
  };
  const parentOf = (at) => at.assignedSlot ?? at.parentElement ?? at.getRootNode().host ?? null;
  const all = [];
  (function walk(at) {
    all.push(at);
    childrenOf(at).forEach(walk);
  })(document.documentElement);

  const squeeze = (text) => text.replace(/\s+/g, " ").trim();
  const has = (text, wanted, exact) =>
    exact ? squeeze(text) === wanted : squeeze(text).toLowerCase().includes(wanted.toLowerCase());
  const isSeen = (at) => at.checkVisibility() && at.getClientRects().length > 0;
  const ownText = (at) => Array.from(at.childNodes, (node) => (node.nodeType === 3 ? node.data : "")).join("");
  const wholeText = (at) => {
    if (!isSeen(at) && at.localName !== "slot") return "";
    const parts = at.shadowRoot ? at.shadowRoot.childNodes : at.localName === "slot" && at.assignedNodes().length ? at.assignedNodes() : at.childNodes;
    return Array.from(parts, (node) => (node.nodeType === 3 ? node.data : node.nodeType === 1 ? wholeText(node) : "")).join(" ");
  };
  const labelsOf = (at) => {
    const ids = (at.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean);
    if (ids.length) return ids.map((id) => at.getRootNode().getElementById(id).textContent);
    if (at.hasAttribute("aria-label")) return [at.getAttribute("aria-label")];
    return Array.from(at.labels ?? [], (label) => ownText(label));
  };
  const ROLES = { button: "button", li: "listitem", img: "img", section: "region" };
  const TESTS = {
    css: (at, leaf) => at.matches(leaf.css),
    role: (at, leaf) => isSeen(at) && (at.getAttribute("role") ?? ROLES[at.localName]) === leaf.role,
    text: (at, leaf) => isSeen(at) && has(leaf.css ? wholeText(at) : ownText(at), leaf.text, leaf.exact),
    label: (at, leaf) => labelsOf(at).some((each) => has(each, leaf.label, leaf.exact)),
    placeholder: (at, leaf) => has(at.getAttribute("placeholder") ?? "", leaf.placeholder, leaf.exact),
    alt_text: (at, leaf) => has(at.getAttribute("alt") ?? "", leaf.alt_text, leaf.exact),
    title: (at, leaf) => has(at.getAttribute("title") ?? "", leaf.title, leaf.exact),
    test_id: (at, leaf) => at.getAttribute("data-testid") === leaf.test_id,
  };
  const isBelow = (at, scopes) => {
    for (let up = parentOf(at); up !== null; up = parentOf(up)) if (scopes.includes(up)) return true;
    return false;
  };
  const LEAF = (at, leaf) => Object.keys(TESTS).every((kind) => leaf[kind] === undefined || TESTS[kind](at, leaf));

  function find(one, scopes) {
    if (one.leaf) return all.filter((at) => LEAF(at, one.leaf) && (scopes === null || isBelow(at, scopes)));
    if (one.inside) return find(one.inside[0], find(one.inside[1], scopes));
    if (one.both) return find(one.both[0], scopes).filter((at) => find(one.both[1], scopes).includes(at));
    if (one.either) return all.filter((at) => one.either.some((part) => find(part, scopes).includes(at)));
    if (one.nth) {
      const found = find(one.nth[0], scopes);
      return found.slice(one.nth[1], one.nth[1] === -1 ? undefined : one.nth[1] + 1);
    }
    const [base, wanted] = one.filter;
    return find(base, scopes).filter(
      (at) =>
        (wanted.has === undefined || find(wanted.has, [at]).length > 0) &&
        (wanted.has_not === undefined || find(wanted.has_not, [at]).length === 0) &&
        (wanted.has_text === undefined || has(wholeText(at), wanted.has_text, false)) &&
        (wanted.has_not_text === undefined || !has(wholeText(at), wanted.has_not_text, false)) &&
        (wanted.visible === undefined || isSeen(at) === wanted.visible),
    );
  }
  return find(query, null).map((at) => at.dataset.n);
}
