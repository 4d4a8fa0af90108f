// An index of the elements that can have a name, by the letters in them. Each step of a flow searches for another
// name, so the index is built once and then updated. Runs in an isolated world and changes nothing.
//   update()            processes the changes of the document; call it before the other functions
//   roots               the document and its open shadow roots
//   matching(css)       the matching elements, and all custom elements
//   named(css, name)    the matching elements that can have the name
//   drop()              clears the index and stops observing the document
// The code calls prototype methods, because a page can shadow properties of forms and the document
// (<input name=contains>).
() => {
  const method = (proto, name) => Function.prototype.call.bind(proto[name]);
  const getter = (proto, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(proto, name).get);
  const getAttribute = method(Element.prototype, "getAttribute");
  const hasAttribute = method(Element.prototype, "hasAttribute");
  const localName = getter(Element.prototype, "localName");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const firstChild = getter(Element.prototype, "firstElementChild");
  const parentNode = getter(Node.prototype, "parentNode");
  const isConnected = getter(Node.prototype, "isConnected");
  const textContent = getter(Node.prototype, "textContent");
  const controlOf = getter(HTMLLabelElement.prototype, "control");
  const search = (root, css) =>
    (root instanceof Document ? Document : root instanceof DocumentFragment ? DocumentFragment : Element)
      .prototype.querySelectorAll.call(root, css);

  const LABELABLE = new Set(["button", "input", "meter", "output", "progress", "select", "textarea"]);
  const TELLING = ["aria-label", "title", "value", "alt", "placeholder"];
  const LABELLING = "label, [id]"; // elements that connect labels and controls, in addition to attributes
  const MOST_CHANGES = 1_000; // above this number, a new index costs less than an update
  const squash = (text) => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  let roots = [];
  let customs = null; // custom elements: no selector finds their roles
  let lists = new Map(); // the matching elements by selector
  let strings = new WeakMap(); // the letters of the elements that were queried
  let labels = null; // one pass over all labels: a query per control would search the whole document each time
  let changes = [];
  let observer = null;

  function drop() {
    if (observer !== null) observer.disconnect();
    observer = null;
    [roots, customs, labels, changes] = [[], null, null, []];
    lists = new Map();
    strings = new WeakMap();
  }

  function note(records) {
    changes.push(...records);
    if (changes.length > MOST_CHANGES) drop();
  }

  function follow(root) {
    roots.push(root);
    observer.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
  }

  function update() {
    if (observer !== null) note(observer.takeRecords());
    if (observer === null) {
      drop();
      observer = new MutationObserver(note);
      follow(document);
    }
    for (const record of changes) apply(record);
    changes = [];
    for (let at = 0; at < roots.length; at++) {
      const all = search(roots[at], "*"); // no event reports a new shadow root
      for (let place = 0; place < all.length; place++) {
        const root = shadowRoot(all[place]);
        if (root === null || roots.includes(root)) continue;
        follow(root);
        forgetLists();
        forget(all[place]);
      }
    }
  }

  function apply({ type, target, attributeName, addedNodes, removedNodes }) {
    if (type === "childList") {
      const elements = [...addedNodes, ...removedNodes].filter((node) => node instanceof Element);
      if (elements.length) forgetLists();
      if (elements.some((each) => Element.prototype.matches.call(each, LABELLING) || search(each, LABELLING).length)) forgetLabels();
    } else if (type === "attributes") {
      if (attributeName === "role" || attributeName === "contenteditable") forgetLists();
      if (attributeName === "id" || attributeName === "for" || attributeName === "type") forgetLabels();
    }
    forget(target);
  }

  function forgetLists() {
    lists.clear();
    customs = null;
    roots = roots.filter((root) => root === document || isConnected(root));
  }

  function forgetLabels() {
    labels = null;
    strings = new WeakMap();
  }

  // Removes the letters of a node, its ancestors and the controls that they label.
  function forget(node) {
    for (let at = node; at !== null; at = parentNode(at)) {
      strings.delete(at);
      if (at instanceof HTMLLabelElement && controlOf(at)) strings.delete(controlOf(at));
    }
  }

  function matching(css) {
    if (customs === null) {
      customs = [];
      for (const root of roots) for (const element of search(root, "*")) if (localName(element).includes("-")) customs.push(element);
    }
    if (!lists.has(css)) {
      const found = roots.flatMap((root) => [...search(root, css)]);
      lists.set(css, customs.length ? [...new Set([...found, ...customs])] : found);
    }
    return lists.get(css);
  }

  function labelsOf(element) {
    if (!LABELABLE.has(localName(element))) return [];
    if (labels === null) {
      labels = new Map();
      for (const root of roots) {
        for (const label of search(root, "label")) {
          const control = controlOf(label);
          if (control) labels.set(control, [...(labels.get(control) || []), label]);
        }
      }
    }
    return labels.get(element) || [];
  }

  // Returns all strings that can be part of an element's name, without CSS content, or null if any string can.
  function tellingOf(element) {
    if (hasAttribute(element, "aria-labelledby") || hasAttribute(element, "aria-owns") || shadowRoot(element)) return null;
    let text = textContent(element);
    const telling = [element, ...labelsOf(element)];
    for (const at of [...telling]) {
      if (at !== element) text += ` ${textContent(at)}`;
      if (firstChild(at) === null) continue;
      if (search(at, "[aria-labelledby], slot").length) return null;
      telling.push(...search(at, "[aria-label], [title], [alt], input"));
    }
    for (const at of telling) {
      for (const attribute of TELLING) if (hasAttribute(at, attribute)) text += ` ${getAttribute(at, attribute)}`;
    }
    return { text, low: /[a-z0-9]/i.test(text) ? text.toLowerCase() : null, squashed: null };
  }

  // Returns whether an element can have this name: its strings contain the name's letters, or no letters at all.
  function mayBeCalled(element, letters, word) {
    let telling = strings.get(element);
    if (telling === undefined) strings.set(element, (telling = tellingOf(element)));
    if (telling === null) return true;
    if (word !== "" && telling.low !== null && !telling.low.includes(word)) return false;
    if (telling.squashed === null) telling.squashed = squash(telling.text);
    return telling.squashed === "" || telling.squashed.includes(letters);
  }

  return {
    update,
    drop,
    matching,
    get roots() {
      return roots;
    },
    named(css, name) {
      const letters = squash(name);
      // One plain word excludes most elements, and is cheaper to search for than all letters of the name.
      const word = (name.toLowerCase().match(/[a-z0-9]+/g) || [""]).reduce((one, other) => (other.length > one.length ? other : one));
      return matching(css).filter((element) => mayBeCalled(element, letters, word));
    },
  };
}
