// Makes the functions that evaluate queries in one document. `search` is the result of node_search.js. `given` are
// remote arguments: nodes, and results of pattern_strings.js. Returns { evaluate, matchesOf }.
//
// A query is one of
//   { kind: "leaf", css, text, label, placeholder, alt_text, title, test_id, exact }   all but `exact` may be missing
//   { kind: "nodes", from, to }           a range of `given`
//   { kind: "chosen", at, places }        indexes of `given[at].elements`
//   { kind: "inside", base, scope }
//   { kind: "filtered", base, has, has_not, has_text, has_not_text, visible }          all but `base` may be null
//   { kind: "both", one, other }, { kind: "either", one, other }, { kind: "picked", base, index }
(search, given) => {
  const ATTRIBUTES = { placeholder: "placeholder", alt_text: "alt", title: "title" };
  const UNREAD = new Set(["script", "style", "template", "textarea", "select", "noscript"]);

  const RELATIVE = /^\s*>|:scope\b/;

  function says(string, wanted, exact) {
    if (string === null) return false;
    return exact ? search.collapsed(string) === search.collapsed(wanted) : search.wanted(string).includes(search.wanted(wanted));
  }

  // The text of an element, visible or not, without the values of fields in it.
  function textOf(element) {
    if (UNREAD.has(DOM.localName(element))) return "";
    let text = "";
    for (const child of search.childrenOf(element)) {
      if (DOM.nodeType(child) === Node.TEXT_NODE) text += child.data;
      else if (DOM.nodeType(child) === Node.ELEMENT_NODE) text += textOf(child);
    }
    return text;
  }

  // The strings that label each element: a Map.
  function labels() {
    const found = new Map();
    const add = (element, string) => {
      if (string.trim() !== "") found.set(element, (found.get(element) ?? []).concat([string]));
    };
    for (const element of search.select("[aria-labelledby], [aria-label]")) {
      const owners = DOM.ariaLabelledByElements(element) ?? [];
      for (const owner of owners) add(element, textOf(owner));
      if (!found.has(element)) add(element, DOM.getAttribute(element, "aria-label") ?? "");
    }
    const named = new Set(found.keys());
    for (const label of search.select("label")) {
      if (label.control !== null && !named.has(label.control)) add(label.control, textOf(label));
    }
    return found;
  }

  // The strings of elements for one criterion, of all elements that have any: a Map.
  function stringsOf(criterion) {
    if (criterion === "label") return labels();
    const attribute = ATTRIBUTES[criterion];
    return new Map(search.select("[" + attribute + "]").map((element) => [element, [DOM.getAttribute(element, attribute)]]));
  }

  // The elements of a selector, or with `scopes` their descendants that match a selector relative to them. A
  // DOMException for an invalid selector has the selector as `selector`.
  function select(css, scopes) {
    try {
      if (scopes === null) return search.select(css);
      const relative = css.replace(/^\s*>/, ":scope >");
      return inPageOrder(new Set(scopes.flatMap((scope) => Array.from(DOM.querySelectorAll(scope, relative)))));
    } catch (error) {
      throw Object.assign(error, { selector: css });
    }
  }

  // The elements that match a leaf, in page order, or null if it has no criteria. With `scopes`, the selector is
  // relative to them.
  function matchesOf(leaf, scopes = null) {
    let found = leaf.css === undefined ? null : select(leaf.css, scopes);
    const keep = (test, all) => {
      found = (found ?? all()).filter(test);
    };
    for (const criterion of ["label", ...Object.keys(ATTRIBUTES)]) {
      if (leaf[criterion] === undefined) continue;
      const strings = stringsOf(criterion);
      keep((element) => (strings.get(element) ?? []).some((each) => says(each, leaf[criterion], leaf.exact)), () => search.inOrder(strings.keys()));
    }
    if (leaf.test_id !== undefined) {
      keep((element) => DOM.getAttribute(element, "data-testid") === leaf.test_id, () => search.select("[data-testid]"));
    }
    return leaf.text === undefined ? found : search.withText(leaf.text, found, leaf.exact);
  }

  // --- combinations ---

  let numbers = null; // of each element: its number in page order, and the number of its last descendant

  function number() {
    if (numbers !== null) return numbers;
    numbers = new Map();
    const walk = [[DOM.documentElement(document), false]];
    const entered = [];
    while (walk.length) {
      const [element, left] = walk.pop();
      if (left) {
        entered.pop().last = numbers.size - 1;
        continue;
      }
      if (numbers.has(element)) continue;
      const range = { first: numbers.size, last: 0 };
      numbers.set(element, range);
      entered.push(range);
      walk.push([element, true]);
      // Children that no slot shows come after the shown ones.
      const children = Array.from(search.childrenOf(element));
      const light = DOM.childNodes(element);
      if (children[0] !== light[0]) children.push(...light);
      for (let at = children.length - 1; at >= 0; at--) {
        if (DOM.nodeType(children[at]) === Node.ELEMENT_NODE) walk.push([children[at], false]);
      }
    }
    return numbers;
  }

  const firstOf = (element) => number().get(element)?.first ?? Number.MAX_SAFE_INTEGER;
  const inPageOrder = (elements) => Array.from(elements).sort((one, other) => firstOf(one) - firstOf(other));

  // The elements, which are in page order, that are descendants of one of the scopes.
  function within(elements, scopes) {
    if (scopes === null || elements.length === 0) return elements;
    const ranges = [];
    for (const scope of inPageOrder(scopes)) {
      const range = number().get(scope);
      if (range !== undefined && (ranges.length === 0 || range.first > ranges[ranges.length - 1].last)) ranges.push(range);
    }
    const found = [];
    for (const { first, last } of ranges) {
      let low = 0;
      let high = elements.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (firstOf(elements[middle]) <= first) low = middle + 1;
        else high = middle;
      }
      for (; low < elements.length && firstOf(elements[low]) <= last; low++) found.push(elements[low]);
    }
    return found;
  }

  const known = new Map(); // the matches of leaves

  function leafMatches(query) {
    if (query.kind === "nodes") return inPageOrder(new Set(given.slice(query.from, query.to)));
    if (query.kind === "chosen") return inPageOrder(query.places.map((place) => given[query.at].elements[place]));
    return inPageOrder(matchesOf(query) ?? search.select("*"));
  }

  // The matches inside of one of `scopes`, in page order; null means the whole document.
  function evaluate(query, scopes) {
    switch (query.kind) {
      case "inside":
        return evaluate(query.base, evaluate(query.scope, scopes));
      case "filtered":
        return filtered(query, evaluate(query.base, scopes));
      case "both": {
        const others = new Set(evaluate(query.other, scopes));
        return evaluate(query.one, scopes).filter((element) => others.has(element));
      }
      case "either":
        return inPageOrder(new Set([...evaluate(query.one, scopes), ...evaluate(query.other, scopes)]));
      case "picked": {
        const found = evaluate(query.base, scopes).at(query.index);
        return found === undefined ? [] : [found];
      }
      default:
        if (scopes !== null && RELATIVE.test(query.css ?? "")) return matchesOf(query, scopes);
        if (!known.has(query)) known.set(query, leafMatches(query));
        return within(known.get(query), scopes);
    }
  }

  function filtered(query, elements) {
    let kept = elements;
    const restrict = (criterion, wanted, matches) => {
      if (query[criterion] !== null) kept = kept.filter((element) => matches(element) === wanted);
    };
    if (query.has_text !== null) kept = textFilter(query.has_text, kept, true);
    if (query.has_not_text !== null) kept = textFilter(query.has_not_text, kept, false);
    restrict("has", true, (element) => evaluate(query.has, [element]).length > 0);
    restrict("has_not", false, (element) => evaluate(query.has_not, [element]).length > 0);
    restrict("visible", query.visible, search.isVisible);
    return kept;
  }

  // `wanted` is a string, or the query of all elements whose text matches a pattern.
  function textFilter(wanted, elements, having) {
    const holders = new Set(typeof wanted === "string" ? search.withText(wanted, elements, false) : evaluate(wanted, null));
    return elements.filter((element) => holders.has(element) === having);
  }

  return {
    stringsOf,
    matchesOf,
    evaluate: (query) => {
      if (query.kind === "leaf") return matchesOf(query) ?? [];
      if (query.kind === "chosen") return query.places.map((place) => given[query.at].elements[place]);
      return evaluate(query, null);
    },
  };
}
