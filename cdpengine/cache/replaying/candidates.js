// Which elements of a document may have a name, told by the letters in them: made once, and kept up with the document,
// as each step of a flow asks for another one. Runs in an isolated world; it changes nothing.
//   update()            takes what has changed since; to be called before the others
//   roots               the document and its open shadow roots
//   matching(css)       the elements that match, and all of the page's own kinds of elements
//   named(css, name)    those of them that may have a name
//   drop()              forgets everything, and follows the document no longer
// What a form or the document has by the page's own names (<input name=contains>) is asked of the prototypes.
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
  const LABELLING = "label, [id]"; // what says which label is whose, beside attributes
  const MOST_CHANGES = 1_000; // beyond that, all is looked through again: that costs less than to keep up
  const squash = (text) => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

  let roots = [];
  let customs = null; // an element of the page's own kind has its role where no selector sees it
  let lists = new Map(); // what matches a selector
  let said = new WeakMap(); // what the letters of an element are, of those that were asked for
  let labels = null; // asked of all labels once: each control would go through the document for its own
  let changes = [];
  let observer = null;

  function drop() {
    if (observer !== null) observer.disconnect();
    observer = null;
    [roots, customs, labels, changes] = [[], null, null, []];
    lists = new Map();
    said = new WeakMap();
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
      const all = search(roots[at], "*"); // nothing tells that an element got a shadow root
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
    said = new WeakMap();
  }

  // Forgets what is known of all that a node is in, and of what these label.
  function forget(node) {
    for (let at = node; at !== null; at = parentNode(at)) {
      said.delete(at);
      if (at instanceof HTMLLabelElement && controlOf(at)) said.delete(controlOf(at));
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

  // All that may give an element its name; null where that may be anything. What a style sheet adds is not seen here.
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

  // Whether an element may have this name: its texts have the letters of it, or nothing at all.
  function mayBeCalled(element, letters, word) {
    let telling = said.get(element);
    if (telling === undefined) said.set(element, (telling = tellingOf(element)));
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
      // Most are told apart by one plain word of the name, which is cheaper to look for than all of its letters.
      const word = (name.toLowerCase().match(/[a-z0-9]+/g) || [""]).reduce((one, other) => (other.length > one.length ? other : one));
      return matching(css).filter((element) => mayBeCalled(element, letters, word));
    },
  };
}
