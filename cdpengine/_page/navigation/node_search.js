// Makes the search functions of the engine's other scripts: the composed tree (open shadow roots and slots
// included) in tree order, CSS selectors in it, and visible text. Runs in an isolated world.
() => {
  const LONGEST = 80;
  const INLINE = /^(?:inline|contents|ruby)/;
  const BUTTONS = new Set(["submit", "button", "reset"]);
  const UNSEEN = new Set(["script", "style", "noscript", "template", "head", "title", "textarea", "select"]);

  const UNSEEN_CSS = Array.from(UNSEEN).join();
  // The content of these elements is a fallback, or never visible.
  const REPLACED = new Set(["audio", "canvas", "iframe", "meter", "object", "progress", "video"]);
  const UNSKIPPED = /^(?:inline|contents|ruby.*|table-(?!cell|caption).*)$/; // content-visibility does not apply
  const SVG = "http://www.w3.org/2000/svg";

  const UNREAD = /[\u00ad\u200b\ufeff]+/g; // line-break opportunities and byte-order marks
  const collapsed = (text) => text.replace(UNREAD, "").replace(/\s+/g, " ").trim();

  function childrenOf(node) {
    if (DOM.shadowRoot(node)) return DOM.childNodes(DOM.shadowRoot(node));
    if (DOM.localName(node) === "slot" && DOM.getRootNode(node) instanceof ShadowRoot) {
      const assigned = node.assignedNodes();
      if (assigned.length) return assigned;
    }
    return DOM.childNodes(node);
  }

  // All roots for selectors, outer ones first. Each element is passed to `visit`.
  function roots(visit = null) {
    const found = [document];
    for (let at = 0; at < found.length; at++) {
      const all = DOM.querySelectorAll(found[at], "*");
      for (let place = 0; place < all.length; place++) {
        if (visit !== null) visit(all[place]);
        if (DOM.shadowRoot(all[place])) found.push(DOM.shadowRoot(all[place]));
      }
    }
    return found;
  }

  function select(css) {
    const all = roots();
    if (all.length === 1) return Array.from(DOM.querySelectorAll(document, css));
    const matched = new Set();
    for (const root of all) for (const element of DOM.querySelectorAll(root, css)) matched.add(element);
    return inOrder(matched);
  }

  // Elements in the order of the composed tree. Elements without a slot have no place in it, and come last.
  function inOrder(elements) {
    const matched = new Set(elements);
    if (matched.size < 2) return Array.from(matched);
    const ordered = [];
    const waiting = [document];
    while (waiting.length && matched.size) {
      const node = waiting.pop();
      if (matched.delete(node)) ordered.push(node);
      const children = childrenOf(node);
      for (let at = children.length - 1; at >= 0; at--) {
        if (DOM.nodeType(children[at]) === Node.ELEMENT_NODE) waiting.push(children[at]);
      }
    }
    return ordered.concat(Array.from(matched));
  }

  function flatParent(element) {
    if (DOM.assignedSlot(element)) return DOM.assignedSlot(element);
    const parent = DOM.parentNode(element);
    return parent instanceof ShadowRoot ? parent.host : parent instanceof Element ? parent : null;
  }

  // Whether the element does not draw its direct contents: a closed details, content-visibility: hidden.
  function isClosed(element, style) {
    if (style.contentVisibility === "hidden") return !UNSKIPPED.test(style.display);
    if (DOM.localName(element) !== "details" || element.open) return false;
    return getComputedStyle(element, "::details-content").contentVisibility === "hidden";
  }

  // Whether the element has a box, or its contents are in a box of an ancestor (display: contents).
  function isLaidOut(element, style) {
    if (style.display !== "contents") return DOM.checkVisibility(element);
    const parent = flatParent(element);
    if (parent === null) return true;
    const around = getComputedStyle(parent);
    return !isClosed(parent, around) && !REPLACED.has(DOM.localName(parent)) && isLaidOut(parent, around);
  }

  const isDrawn = (element, style) => style.visibility === "visible" && isLaidOut(element, style);

  // Whether a direct text node of the element is visible. Its box is measured only if the element may show other
  // content instead.
  function drawsText(element, style, text) {
    if (!isDrawn(element, style) || isClosed(element, style)) return false;
    const always = !REPLACED.has(DOM.localName(element)) && style.content === "normal" && DOM.namespaceURI(element) !== SVG;
    if (always) return true;
    const range = new Range();
    range.selectNode(text);
    return range.getClientRects().length > 0;
  }

  function isVisible(element) {
    if (!DOM.isConnected(element)) return false;
    const style = getComputedStyle(element);
    if (style.display === "contents") {
      return Array.from(childrenOf(element)).some((child) =>
        DOM.nodeType(child) === Node.TEXT_NODE
          ? child.data.trim() !== "" && drawsText(element, style, child)
          : DOM.nodeType(child) === Node.ELEMENT_NODE && isVisible(child),
      );
    }
    if (!DOM.checkVisibility(element, { visibilityProperty: true })) return false;
    for (const box of DOM.getClientRects(element)) if (box.width > 0 && box.height > 0) return true;
    return DOM.localName(element) === "br" || DOM.localName(element) === "option";
  }

  function transformed(text, how) {
    if (how === "uppercase") return text.toUpperCase();
    if (how === "lowercase") return text.toLowerCase();
    if (how === "capitalize") return text.replace(/(^|[^\p{L}\p{N}'])(\p{L})/gu, (_, a, b) => a + b.toUpperCase());
    return text;
  }

  // The visible text of the document, or of a visible element, with white space collapsed. It is in lower case, or
  // with `asShown` as displayed. For each element it has the range of its text, and the index after its last
  // descendant. From `enough` characters on it may stop.
  function visibleText(asShown = false, from = DOM.documentElement(document), enough = Infinity) {
    const pieces = [];
    const places = [];
    let length = 0;
    let spaced = true; // at the beginning, and after a space
    const add = (piece, how) => {
      let next = (asShown ? transformed(piece, how) : piece.toLowerCase()).replace(UNREAD, "").replace(/\s+/g, " ");
      if (next[0] === " " && spaced) next = next.slice(1);
      if (!next) return;
      pieces.push(next);
      length += next.length;
      spaced = next.endsWith(" ");
    };
    const walk = (element) => {
      if (length >= enough || UNSEEN.has(DOM.localName(element))) return;
      const style = getComputedStyle(element);
      if (style.display === "none") return;
      const block = !INLINE.test(style.display);
      if (block) add(" ");
      const place = { element, start: length, end: 0, after: 0 };
      places.push(place);
      let shown = null;
      const isShown = (text) => (shown = shown ?? (drawsText(element, style, text) && style.webkitTextSecurity === "none"));
      if (DOM.localName(element) === "input") {
        if (BUTTONS.has(element.type) && isDrawn(element, style)) add(element.value, style.textTransform);
      } else if (DOM.localName(element) === "br") {
        add(" ");
      }
      for (const child of childrenOf(element)) {
        if (DOM.nodeType(child) === Node.TEXT_NODE) {
          if (child.data && (child.data.trim() ? isShown(child) : true)) add(child.data, style.textTransform);
        } else if (DOM.nodeType(child) === Node.ELEMENT_NODE) {
          walk(child);
        }
      }
      place.end = length;
      place.after = places.length;
      if (block) add(" ");
    };
    if (from) walk(from);
    return { text: pieces.join(""), places };
  }

  const wanted = (text) => collapsed(text).toLowerCase();

  // Whether the visible text contains a string. The whole text is built only if a cheaper check cannot decide.
  function hasText(asked) {
    const needle = wanted(asked);
    const letters = squashed(needle);
    if (letters && isPlain()) {
      const held = holderOf(letters);
      if (held === null) return false;
      if (held !== undefined && visibleText(false, held).text.includes(needle)) return true;
    }
    return visibleText().text.includes(needle);
  }

  const squashed = (text) => text.toLowerCase().replace(UNREAD, "").replace(/\s+/g, "");

  // Whether the visible text consists only of adjacent text nodes.
  function isPlain() {
    for (const input of DOM.querySelectorAll(document, "input")) if (BUTTONS.has(input.type) && squashed(input.value)) return false;
    return roots().length === 1;
  }

  const MOST_ASKED = 2_000; // maximum number of text nodes whose visibility is checked

  // The smallest element whose visible text has these letters, with any white space between them. Returns null if
  // none has, and undefined if the search would take too long. A text node that neither contains the letters nor
  // can begin them is skipped.
  function holderOf(letters) {
    const texts = DOM.createTreeWalker(document, document, NodeFilter.SHOW_TEXT);
    const ahead = DOM.createTreeWalker(document, document, NodeFilter.SHOW_TEXT);
    const beginnings = new Set(letters.slice(0, -1));
    let asked = 0;
    const isShown = (node) => {
      asked += 1;
      const parent = DOM.parentElement(node);
      if (parent === null || Element.prototype.closest.call(parent, UNSEEN_CSS) !== null) return false;
      const style = getComputedStyle(parent);
      return style.webkitTextSecurity === "none" && drawsText(parent, style, node);
    };
    const endOf = (node, rest) => {
      ahead.currentNode = node;
      for (let next = ahead.nextNode(); next !== null && asked < MOST_ASKED; next = ahead.nextNode()) {
        const piece = squashed(next.data);
        if (piece === "" || !isShown(next)) continue;
        if (piece.startsWith(rest)) return next;
        if (!rest.startsWith(piece)) return null;
        rest = rest.slice(piece.length);
      }
      return null;
    };
    const holderOfBoth = (one, other) => {
      const range = new Range();
      range.setStart(one, 0);
      range.setEnd(other, 0);
      const common = range.commonAncestorContainer;
      return DOM.nodeType(common) === Node.TEXT_NODE ? DOM.parentElement(common) : common;
    };
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const piece = squashed(node.data);
      if (piece === "") continue;
      if (piece.includes(letters)) {
        if (isShown(node)) return DOM.parentElement(node);
      } else if (beginnings.has(piece[piece.length - 1])) {
        for (let length = Math.min(piece.length, letters.length - 1); length > 0; length--) {
          if (!letters.startsWith(piece.slice(-length)) || !isShown(node)) continue;
          const end = endOf(node, letters.slice(length));
          if (end !== null) return holderOfBoth(node, end);
        }
      }
      if (asked >= MOST_ASKED) return undefined;
    }
    return null;
  }

  // The smallest elements that contain the string. With `among`, all of these that contain it, of any size. With
  // `exact`, the string is their whole text, in the same case.
  function withText(asked, among, exact) {
    const needle = exact ? collapsed(asked) : wanted(asked);
    const { text, places } = visibleText(exact);
    const held = among ? new Set(among) : null;
    if (exact || held) {
      const says = (place) => {
        const own = text.slice(place.start, place.end);
        return exact ? own.trim() === needle : own.includes(needle);
      };
      const found = [];
      let last = places.length; // the last match, from the end
      for (let at = places.length - 1; at >= 0; at--) {
        const place = places[at];
        if (held ? !held.has(place.element) : last < place.after) continue;
        if (!says(place)) continue;
        found.push(place.element);
        last = at;
      }
      return found.reverse();
    }
    const holders = new Set();
    for (let at = text.indexOf(needle); needle && at >= 0; at = text.indexOf(needle, at + needle.length)) {
      let smallest = null;
      for (const place of places) {
        if (place.start > at) break;
        if (place.end >= at + needle.length) smallest = place; // later ones are deeper, or come after it
      }
      if (smallest) holders.add(smallest.element);
    }
    return Array.from(holders);
  }

  function describe(element) {
    let name = DOM.localName(element);
    const id = DOM.getAttribute(element, "id");
    if (id) name += "#" + id;
    for (const token of Array.from(DOM.classList(element)).slice(0, 2)) name += "." + token;
    // Never the user's input.
    const entered = DOM.matches(element, "input, textarea, select") || getComputedStyle(element).webkitTextSecurity !== "none";
    const own = entered ? "" : (DOM.textContent(element) || "").slice(0, 400);
    const label = collapsed(DOM.getAttribute(element, "aria-label") || own || DOM.getAttribute(element, "title") || "");
    return label ? name + " '" + label.slice(0, LONGEST) + "'" : name.slice(0, LONGEST);
  }

  return { childrenOf, flatParent, collapsed, roots, select, inOrder, isVisible, visibleText, hasText, wanted, withText, describe };
}
