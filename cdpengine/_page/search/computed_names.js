// Finds elements by Chrome's computedRole and computedName, which also answer for elements that the accessibility tree
// ignores. The request is { roles, internal, elements, name, most, surely }: roles; a selector of elements whose role
// has no ARIA name, or null; a selector of all elements that can have the roles, or null; the name in lower case; and
// whether to check that the tree has the elements. Returns an array: first a JSON string { complete, surely, named },
// then the elements. `named` has the role, a line break and the name of each. `surely` is whether the tree has all of
// them, without any doubt. `complete` is false, without elements, if there are more than `most`, if Chrome lacks these
// properties, or if the page may have elements that scripts cannot reach: in a closed shadow root of a custom element,
// or in a control of Chrome. Runs in an isolated world: see finder.js.
(request, search) => {
  const PARTS = "video, audio, object, embed, input:is([type=date], [type=time], [type=month], [type=week], [type=datetime-local], [type=file])";
  // Elements that can hide the rest of the document from the tree, or move elements to another place in it.
  const REARRANGING = ":modal, [aria-owns]";
  // Elements and roles whose contents the tree may ignore.
  const CLOSING = new Set("area audio button canvas iframe map meter object option progress select svg template video".split(" "));
  const LEAVES = new Set("button checkbox img image math menuitemcheckbox menuitemradio meter option progressbar radio scrollbar separator slider switch tab textbox searchbox combobox".split(" "));
  // Roles that have the same name in the tree.
  const SAME = new Set("button checkbox combobox heading link menuitem radio searchbox slider spinbutton switch tab textbox".split(" "));
  const VISIBLE = { visibilityProperty: true, contentVisibilityAuto: true };

  const getter = (name) => Object.getOwnPropertyDescriptor(Element.prototype, name)?.get;
  const [role, name] = [getter("computedRole"), getter("computedName")];
  const incomplete = [JSON.stringify({ complete: false })];
  if (role === undefined || name === undefined || search.select(PARTS).length > 0) return incomplete;

  const isCustom = (at) => DOM.localName(at).includes("-") && DOM.matches(at, ":defined");
  const customs = [];
  let closed = false;
  search.roots((at) => {
    if (!isCustom(at)) return;
    if (DOM.shadowRoot(at) === null) closed = true;
    else customs.push(at);
  });
  if (closed) return incomplete;

  // Whether an ancestor does not take its contents out of the tree.
  function showsContents(at) {
    const tag = DOM.localName(at);
    if (CLOSING.has(tag) || DOM.hasAttribute(at, "aria-hidden") || DOM.hasAttribute(at, "inert")) return false;
    if (isCustom(at)) return false; // the ariaHidden of its internals is unreadable
    return !DOM.hasAttribute(at, "role") || !LEAVES.has(role.call(at));
  }
  function isInTree(at) {
    if (!SAME.has(role.call(at)) || DOM.localName(at) === "area" || !DOM.checkVisibility(at, VISIBLE)) return false;
    if (isCustom(at) || DOM.hasAttribute(at, "aria-hidden") || DOM.hasAttribute(at, "inert")) return false;
    if (getComputedStyle(at).interactivity === "inert") return false;
    for (let around = search.flatParent(at); around !== null; around = search.flatParent(around)) {
      if (!showsContents(around)) return false;
    }
    return true;
  }

  const found = [];
  const named = [];
  let asked = search.select(request.elements ?? "*");
  if (request.elements !== null && customs.length > 0) asked = search.inOrder(asked.concat(customs));
  for (const at of asked) {
    const own = role.call(at);
    if (!request.roles.includes(own) && !(own === "" && request.internal !== null && DOM.matches(at, request.internal))) continue;
    const called = name.call(at);
    if (search.wanted(called) !== request.name) continue;
    found.push(at);
    named.push(`${own}\n${called}`);
    if (found.length > request.most) return incomplete;
  }
  const surely = request.surely && search.select(REARRANGING).length === 0 && found.every(isInTree);
  return [JSON.stringify({ complete: true, surely, named }), ...found];
}
