// What a node is like right now, and who would receive an event at some points of its document.
// Called on a node (an element, a text node or a document) in an isolated world, with one request:
//   points     [[x, y], ...] in CSS pixels of this document's viewport; tried by hit test
//   fractions  the points are fractions (0..1) of the viewport's size instead
//   settle     sample the position over two animation frames even when no animation is running
// Answers, at once or as a promise, with plain JSON: see answer().
(function (request) {
  "use strict";

  const FRAME_LIMIT_MS = 100; // where frames do not come (a throttled page), time takes their place
  const TEXT_LIMIT = 40;

  const node = this;
  const element =
    node.nodeType === Node.ELEMENT_NODE
      ? node
      : node.nodeType === Node.DOCUMENT_NODE
        ? node.documentElement
        : flatParent(node);

  function flatParent(child) {
    if (child.assignedSlot) return child.assignedSlot;
    if (child.parentElement) return child.parentElement;
    const root = child.parentNode;
    return root instanceof ShadowRoot ? root.host : null;
  }

  function* flatAncestors(start) {
    for (let at = start; at; at = flatParent(at)) yield at;
  }

  function shortText(of) {
    // Only text that is in the markup: never what somebody entered.
    if (of.matches("input, textarea, select, script, style")) return "";
    const walker = document.createTreeWalker(of, NodeFilter.SHOW_TEXT);
    let text = "";
    for (let steps = 0; steps < 50 && text.length <= TEXT_LIMIT && walker.nextNode(); steps++) {
      const parent = walker.currentNode.parentElement;
      if (parent && parent.matches("script, style, textarea, option")) continue;
      text = (text + " " + walker.currentNode.data.slice(0, 200)).replace(/\s+/g, " ").trim();
    }
    return text.length > TEXT_LIMIT ? text.slice(0, TEXT_LIMIT) + "…" : text;
  }

  function describe(of) {
    let name = of.localName;
    if (of.id) name += "#" + of.id;
    for (const token of Array.from(of.classList).slice(0, 3)) name += "." + token;
    const label = of.getAttribute("aria-label") || shortText(of) || of.getAttribute("title") || "";
    return label ? name + " '" + label.slice(0, TEXT_LIMIT + 1) + "'" : name;
  }

  function rects() {
    if (node.nodeType === Node.ELEMENT_NODE && getComputedStyle(node).display !== "contents") {
      return Array.from(node.getClientRects());
    }
    const range = document.createRange();
    range.selectNodeContents(node.nodeType === Node.DOCUMENT_NODE ? element : node);
    const boxes = Array.from(range.getClientRects());
    // What is slotted is no child of the slot, so the range does not hold it.
    const slotted = node.localName === "slot" ? node.assignedElements({ flatten: true }) : [];
    return boxes.concat(...slotted.map((each) => Array.from(each.getClientRects())));
  }

  function position() {
    return rects().map((r) => r.x + " " + r.y + " " + r.width + " " + r.height).join();
  }

  function invisibleBecause() {
    if (element.localName === "option" || element.localName === "optgroup") {
      return "an <" + element.localName + "> has no box of its own; choose it with select()";
    }
    if (element.localName === "input" && element.type === "hidden") return "it is an input of type hidden";
    for (const at of flatAncestors(element)) {
      const style = getComputedStyle(at);
      const where = at === element ? "it" : "its ancestor " + describe(at);
      if (style.display === "none") return where + " has display: none";
      if (at !== element && style.contentVisibility === "hidden") return where + " has content-visibility: hidden";
    }
    if (getComputedStyle(element).visibility !== "visible") {
      return "it has visibility: " + getComputedStyle(element).visibility;
    }
    const boxes = rects();
    if (boxes.length === 0) return "it has no box";
    if (!boxes.some((box) => box.width > 0 && box.height > 0)) {
      return "its size is " + boxes[0].width + " x " + boxes[0].height;
    }
    return "";
  }

  function disabledBecause() {
    const form = "button, input, select, textarea, option, optgroup, label";
    for (const at of flatAncestors(element)) {
      const where = at === element ? "it" : "its ancestor " + describe(at);
      const control = at.localName === "label" ? at.control : at;
      if (at.matches(form) && control && control.matches(":disabled")) {
        if (control !== at) return "its control " + describe(control) + " is disabled";
        const fieldset = control.hasAttribute("disabled") ? null : control.closest("fieldset[disabled]");
        return where + " is disabled" + (fieldset ? " by " + describe(fieldset) : "");
      }
      // A form-associated custom element: only the element itself is disabled, not what is inside of it.
      if (at === element && at.matches(":disabled")) return "it is disabled";
    }
    for (const at of flatAncestors(element)) {
      const where = at === element ? "it" : "its ancestor " + describe(at);
      if (at.hasAttribute("inert")) return where + " is inert";
      if (at.getAttribute("aria-disabled") === "true") return where + " has aria-disabled";
    }
    return "";
  }

  // "" when text can be typed here; a reason when it never can be; read-only is said apart, for it may pass.
  function editing() {
    const control = (element.localName === "label" && element.control) || element;
    const textual = ["text", "search", "url", "tel", "email", "password", "number",
      "date", "datetime-local", "month", "time", "week"];
    const field = control.localName === "textarea" || control.localName === "input";
    if (control.localName === "input" && !textual.includes(control.type)) {
      return { never: "an input of type " + control.type + " takes no typed text", readonly: "" };
    }
    if (!field && !control.isContentEditable) {
      return { never: "it is a " + describe(control) + ", which takes no typed text", readonly: "" };
    }
    const readonly = (field && control.readOnly) || control.getAttribute("aria-readonly") === "true";
    return { never: "", readonly: readonly ? "it is read-only" : "" };
  }

  function roots() {
    const chain = [];
    for (let root = element.getRootNode(); ; root = root.host.getRootNode()) {
      chain.unshift(root);
      if (!(root instanceof ShadowRoot)) return chain;
    }
  }

  // The innermost element at a point, through shadow roots: the open ones, and every one that the node is in.
  function elementAt(x, y, chain) {
    let hit = document.elementFromPoint(x, y);
    while (hit) {
      const at = hit;
      const root = chain.find((known) => known.host === at) || at.shadowRoot;
      const inner = root && root.elementFromPoint(x, y);
      if (!inner || inner === at || inner.getRootNode() !== root) break;
      hit = inner;
    }
    return hit;
  }

  function receives(hit) {
    for (const at of flatAncestors(hit)) {
      if (at === element) return true;
      // A click on a label is a click on its control.
      if (at.localName === "label" && at.control === element) return true;
    }
    return false;
  }

  function hitTest() {
    const chain = roots();
    let covered = "";
    const [width, height] = request.fractions ? [innerWidth, innerHeight] : [1, 1];
    const hits = request.points.map(([x, y]) => {
      const hit = elementAt(x * width, y * height, chain);
      const good = hit !== null && receives(hit);
      if (!good && !covered) covered = hit ? describe(hit) : "the edge of the frame or the page";
      return good;
    });
    const untouchable = covered !== "" && getComputedStyle(element).pointerEvents === "none";
    return { hits, covered, untouchable };
  }

  function animating() {
    return roots().some((root) => root.getAnimations().some((animation) => animation.playState === "running"));
  }

  // Resolves to whether a frame came: without one, what is animated stands still only in appearance.
  function nextFrame() {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), FRAME_LIMIT_MS);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  function answer(moved) {
    const { never, readonly } = editing();
    const { hits, covered, untouchable } = hitTest();
    return {
      connected: true,
      element: describe(element),
      invisible: invisibleBecause(),
      disabled: disabledBecause(),
      uneditable: never,
      readonly,
      moved,
      hits,
      covered,
      untouchable,
    };
  }

  if (!element || !node.isConnected) {
    return { connected: false, element: element ? describe(element) : "#" + node.nodeName };
  }
  // Nothing can be moving unless an animation runs or the caller has a reason to ask (it has just scrolled, or
  // the last look failed). Movement by script alone is not waited for: the hit test comes after it anyway.
  if (!request.settle && !animating()) return answer(false);
  const before = position();
  return nextFrame().then((first) => {
    const between = position();
    return nextFrame().then((second) => {
      if (!node.isConnected) return { connected: false, element: describe(element) };
      const unseen = !(first && second) && animating();
      return answer(unseen || before !== between || between !== position());
    });
  });
})
