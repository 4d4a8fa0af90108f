// What name Chrome would give an element, from the DOM alone (accname-1.2). Called with what dom_roles.js and
// dom_text.js answer, and isSecret (see secret_field.js), it answers { roleOf, nameOf }, which stand in for
// `element.computedRole` and `computedName`.
//
// A name has its white space collapsed. What makes one name is a walk of Chrome's own shape: it notes each node that it
// has taken, takes none twice, and takes no more once it has MOST of them (AXNodeObject::TextFromDescendants). So names
// that contain each other cost no more than any others, and say what Chrome has them say.
(function (kit, drawn, isSecret) {
  "use strict";

  const { roleOf, gridOf, isFocusable, given } = kit;
  const { getAttribute, hasAttribute, closest, checkVisibility, getRootNode, contains, childNodes } = kit.own;
  const { generated, transformed } = drawn;
  const MOST = 100; // kMaxDescendantsForTextAlternativeComputation
  const LONGEST = 10000;
  const DEEPEST = 400;
  const STEPS = 2000; // of one name: elements that are owned by each other would lead in circles

  const NAMED_BY_CONTENT = new Set(
    ("button cell checkbox columnheader doc-backlink doc-biblioref doc-glossref doc-noteref doc-subtitle gridcell " +
      "graphics-object heading link menuitem menuitemcheckbox menuitemradio option radio rowheader switch tab term " +
      "tooltip treeitem").split(" "),
  );
  // What is inside of these is not part of the name of what they are in.
  const CLOSED = new Set(
    ("alert alertdialog application article banner blockquote combobox comment complementary contentinfo dialog " +
      "document feed figure form grid group image listbox log main marquee menu menubar navigation note progressbar " +
      "radiogroup region row rowgroup search sectionfooter sectionheader separator status suggestion table tablist " +
      "tabpanel timer toolbar tree treegrid graphics-document graphics-symbol doc-abstract doc-biblioentry doc-cover " +
      "doc-endnote doc-example doc-pagebreak doc-tip").split(" "),
  );
  // Roles that a title does not name.
  const UNTITLED = new Set(
    ("caption code definition deletion emphasis generic insertion mark paragraph strong subscript suggestion " +
      "superscript term time").split(" "),
  );
  // Controls stand apart from the words around them, though they are drawn inline.
  const APART = new Set(
    ("button checkbox menuitem menuitemcheckbox menuitemradio meter progressbar radio scrollbar searchbox slider " +
      "spinbutton switch tab textbox combobox listbox").split(" "),
  );
  const LABELABLE = new Set(["button", "input", "meter", "output", "progress", "select", "textarea"]);
  const REPLACED = new Set(
    ("audio button canvas embed iframe img input meter object progress select svg textarea video").split(" "),
  );
  const SILENT = new Set(["script", "style", "template", "noscript", "datalist", "head", "title", "colgroup", "rp"]);
  // Their content is not text of the page, or stands beside it.
  const FOREIGN = new Set(["audio", "iframe", "math", "object", "rt", "select", "video"]);
  const SVG = "http://www.w3.org/2000/svg";
  const PUSHED = new Set(["submit", "reset", "button"]);
  const TYPED = /^(?:textbox|searchbox)$/;
  const UNPLAYABLE = "Unable to play media.";
  const SPACE = /^[ \t\n\f\r]*$/;
  const SPACES = /[ \t\n\f\r]+/g;

  const ARIA_HIDDEN = "[aria-hidden='true' i]";
  const KEEPABLE = "a,area,button,input,label,summary,th,td,[id],[tabindex],[role],[contenteditable]";

  const names = new WeakMap();
  const ownLabels = new WeakMap(); // of each tree, the controls that have labels, and their labels
  const referred = new WeakMap(); // of each tree, the ids that name or describe something

  function tidy(text) {
    return text.replace(SPACES, " ").replace(/^ | $/g, "");
  }

  const unhidden = new WeakSet(); // elements whose aria-hidden counts for nothing

  function isHidden(element) {
    for (let at = closest(element, ARIA_HIDDEN); at !== null; at = closest(kit.own.parentNode(at), ARIA_HIDDEN)) {
      if (!unhidden.has(at)) return true;
      if (!(kit.own.parentNode(at) instanceof Element)) break;
    }
    return !isDrawn(element);
  }

  function isDrawn(element) {
    const style = getComputedStyle(element);
    if (style.display === "contents") return style.visibility === "visible" && isDrawn(kit.parentOf(element) || element);
    return checkVisibility(element, { visibilityProperty: true });
  }

  // --- the walk of one name -----------------------------------------------------------------------------

  // `root` is the element that aria-labelledby refers to, while the walk is in it; `hidden`, that it is not shown, so
  // that all in it counts. For all parts of one walk: `visited` has the nodes that were taken, `steps.taken` is how many
  // of them Chrome has in its tree, `steps.count` how many elements were come to.
  function beginWalk() {
    return { root: null, hidden: false, visited: new Set(), steps: { count: 0, taken: 0 }, depth: 0 };
  }

  function take(node, trail) {
    if (trail.visited.has(node)) return;
    trail.visited.add(node);
    if (node.nodeType !== Node.ELEMENT_NODE || !isBare(node)) trail.steps.taken += 1;
  }

  // What runs on and says nothing itself: Chrome has what is in it in its place.
  function isBare(element) {
    if (roleOf(element) !== "generic" || getComputedStyle(element).display !== "inline") return false;
    for (const name of element.getAttributeNames()) if (!/^(?:class|style|data-.*)$/.test(name)) return false;
    return true;
  }

  function inner(trail) {
    return { ...trail, depth: trail.depth + 1 };
  }

  function inRoot(root, trail) {
    return { ...trail, root, hidden: isHidden(root), depth: trail.depth + 1 };
  }

  // Through the content of a field that is no input: its value, which takes nothing from the walk that it is part of.
  function ownWalk(trail) {
    return { ...beginWalk(), hidden: trail.hidden, depth: trail.depth + 1 };
  }

  // Into what the language ties to an element: its labels, its caption.
  function outsideRoot(trail) {
    return { ...trail, root: null, hidden: false, depth: trail.depth + 1 };
  }

  // --- from attributes and other elements ---------------------------------------------------------------

  function labelled(element, trail) {
    if (trail.root || !hasAttribute(element, "aria-labelledby")) return "";
    const parts = [];
    let length = 0;
    for (const label of DOM.ariaLabelledByElements(element) || []) {
      const part = isLocked(label) ? "" : textOf(label, inRoot(label, trail));
      take(label, trail);
      parts.push(part);
      length += part.length;
      if (parts.length > 100 || length > LONGEST) break;
    }
    return tidy(parts.join(" "));
  }

  // In a closed `details`, or in what is not laid out: Chrome has no text of that, not even for a label.
  function isLocked(element) {
    for (let at = element, above = kit.parentOf(at); above; at = above, above = kit.parentOf(at)) {
      if (above.localName === "details" && !above.open && at.localName !== "summary") return true;
      if (getComputedStyle(above).contentVisibility === "hidden") return true;
    }
    return false;
  }

  function ariaLabel(element) {
    return tidy(getAttribute(element, "aria-label") || "");
  }

  // What Chrome's tree says that a custom element is labelled, inside of another one's name.
  function ownLabel(element, trail) {
    const known = given(element);
    if (!known || !known.by) return "";
    return trail.root && known.by === "aria-labelledby" ? "" : tidy(known.name);
  }

  // The labels of an element. Its property `labels` is not used: for each control, Chrome goes through the whole tree.
  function labelsOf(element) {
    if (!LABELABLE.has(kit.own.localName(element))) return [];
    const root = getRootNode(element);
    let known = ownLabels.get(root);
    if (known === undefined) {
      ownLabels.set(root, (known = new Map()));
      for (const label of kit.own.search(root, "label")) {
        const control = label instanceof HTMLLabelElement ? kit.own.control(label) : null;
        if (control === null) continue;
        if (known.has(control)) known.get(control).push(label);
        else known.set(control, [label]);
      }
    }
    return known.get(element) || [];
  }

  // What its labels say; null where it has none.
  function fromLabels(element, trail) {
    const labels = labelsOf(element);
    if (labels.length === 0) return null;
    const parts = [];
    for (const label of labels) {
      parts.push(isHidden(label) ? "" : textOf(label, outsideRoot(trail)));
      take(label, trail);
    }
    return tidy(parts.join(" "));
  }

  function fromChild(element, tag, trail) {
    for (let child = element.firstElementChild; child; child = child.nextElementSibling) {
      if (child.localName !== tag) continue;
      if (element.namespaceURI === SVG) return tidy(child.textContent);
      return isHidden(child) ? "" : tidy(textOf(child, outsideRoot(trail)));
    }
    return "";
  }

  function inputName(element, trail) {
    const type = element.type;
    const label = fromLabels(element, trail);
    if (label) return label;
    const silent = label !== null; // its labels say nothing, or were said already
    if (type === "file") return silent ? "" : element.multiple ? "Choose Files" : "Choose File";
    if (silent && PUSHED.has(type) && !isDrawn(element)) return "";
    if (type === "image") {
      return tidy(element.alt) || tidy(getAttribute(element, "value") || "") || tidy(element.title) || "Submit";
    }
    if (type === "submit" || type === "reset" || type === "button") {
      const value = getAttribute(element, "value");
      if (value !== null) return tidy(value);
      return type === "submit" ? "Submit" : type === "reset" ? "Reset" : "";
    }
    return "";
  }

  // The name that the language gives, null where it says that there is none and that is that.
  function nativeName(element, trail) {
    const tag = kit.own.localName(element);
    if (TYPED.test(roleOf(element)) && tag !== "input" && tag !== "textarea") return "";
    if (element.namespaceURI === SVG) return fromChild(element, "title", trail);
    switch (tag) {
      case "input":
        return inputName(element, trail);
      case "select":
      case "textarea":
      case "button":
      case "meter":
      case "output":
      case "progress":
        return fromLabels(element, trail) || "";
      case "img":
      case "area": {
        const alt = getAttribute(element, "alt");
        return alt === "" || (alt && !tidy(alt)) ? null : tidy(alt || "");
      }
      case "fieldset":
        return fromChild(element, "legend", trail);
      case "table":
        return fromChild(element, "caption", trail);
      case "optgroup":
        return tidy(element.label);
      case "option":
        return tidy(element.label || "");
      default:
        return "";
    }
  }

  function fromTitle(element, role, trail) {
    const given = getAttribute(element, "title");
    const title = given ? tidy(given) : "";
    if (!title || given.trim() === drawnText(element).trim()) return ""; // Chrome says it once
    if (trail.root) return title;
    if (role === "generic") return isFocusable(element) && element.localName !== "a" ? title : "";
    return UNTITLED.has(role) && !isFocusable(element) ? "" : title;
  }

  function drawnText(element) {
    return element instanceof HTMLElement ? kit.own.innerText(element) : kit.own.textContent(element);
  }

  // The least of names: what a field says about itself, where it has no label at all.
  function fromHints(element, role) {
    if (role === "table") return tidy(element.summary || "");
    if (labelsOf(element).length) return "";
    if (!/^(?:textbox|searchbox|combobox|spinbutton)$/.test(role)) return "";
    const hint = element.localName === "input" || element.localName === "textarea" ? element.placeholder : "";
    return tidy(hint.replace(/[\r\n]+/g, "")) || tidy(getAttribute(element, "aria-placeholder") || "");
  }

  // --- from content -------------------------------------------------------------------------------------

  function isNamedByContent(element, role) {
    if (NAMED_BY_CONTENT.has(role)) return true;
    const tag = kit.own.localName(element);
    if (role === "row") return /grid$/.test(gridOf(element));
    if (role === "math") return hasAttribute(element, "role");
    if (role === "") return tag === "summary" || tag === "td" || tag === "th" || tag === "rt";
    return false;
  }

  function isEditingHost(element) {
    return hasAttribute(element, "contenteditable") && DOM.isContentEditable(element);
  }

  function isOpenInside(element, role) {
    const tag = kit.own.localName(element);
    if (FOREIGN.has(tag)) return false;
    if (!CLOSED.has(role)) return true;
    if (role === "contentinfo") return tag === "footer" && !hasAttribute(element, "role");
    return role === "group" && (tag === "address" || tag === "details");
  }

  // The value of a control that stands inside of a name; null when the element is no such control, or has none.
  function valueOf(element, role, trail) {
    const tag = kit.own.localName(element);
    switch (role) {
      case "textbox":
      case "searchbox":
        if ((tag === "input" || tag === "textarea") && isSecret(element)) return "\u2022".repeat(element.value.length);
        return tag === "input" || tag === "textarea" ? element.value : contentOf(element, ownWalk(trail));
      case "combobox":
      case "listbox": {
        if ((tag === "input" || tag === "textarea" || tag === "select") && isSecret(element)) return "";
        if (tag === "input" || tag === "textarea") return element.value;
        const chosen = tag === "select" ? Array.from(element.selectedOptions) : element.querySelectorAll("[aria-selected='true']");
        if (tag !== "select" && chosen.length === 0) return null;
        const said = [];
        for (const option of Array.prototype.slice.call(chosen, 0, 100)) {
          if (trail.visited.has(option)) continue;
          take(option, trail);
          said.push(tag === "select" ? option.label : nameOf(option));
        }
        return said.join(" ");
      }
      case "slider":
      case "spinbutton":
      case "scrollbar":
      case "meter":
      case "progressbar": {
        if (tag === "input" && element.type === "number") return element.value;
        const known = given(element)?.told;
        if (known?.includes("value")) return known[known.indexOf("value") + 1];
        const spoken = getAttribute(element, "aria-valuetext") || getAttribute(element, "aria-valuenow");
        if (spoken) return spoken;
        if (tag === "progress") return element.position < 0 ? null : String(element.value);
        if (tag === "input" || tag === "meter") return String(element.value);
        return role === "slider" || role === "scrollbar" ? "50" : role === "progressbar" ? null : "0";
      }
      default:
        return null;
    }
  }

  function childrenOf(element) {
    if (element.localName === "slot") {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned;
    }
    const nodes = childNodes(element.shadowRoot instanceof ShadowRoot ? element.shadowRoot : element);
    if (!hasAttribute(element, "aria-owns")) return nodes;
    const root = getRootNode(element);
    const owned = getAttribute(element, "aria-owns").split(/\s+/).map((id) => id && kit.own.byId(root, id));
    return [...nodes, ...owned.filter((other) => other && !contains(other, element))];
  }

  function contentOf(element, trail) {
    if (trail.depth > DEEPEST) return "";
    const style = getComputedStyle(element);
    if (style.contentVisibility === "hidden" && !trail.hidden) return "";
    const visible = trail.hidden || style.visibility === "visible";
    const details = element.localName === "details" && !element.open && !trail.hidden;
    const veiled = style.webkitTextSecurity !== "none";
    let text = generated(element, "::before", trail.hidden);
    for (const node of childrenOf(element)) {
      if (text.length > LONGEST || trail.steps.taken > MOST) break;
      if (node.nodeType === Node.TEXT_NODE) {
        if (!visible || details) continue;
        if (SPACE.test(node.data)) {
          text += " ";
          if (isInline(node.previousSibling) && isInline(node.nextSibling)) take(node, trail);
          continue;
        }
        if (trail.visited.has(node) && !trail.root) continue;
        take(node, trail);
        text += veiled ? "\u2022".repeat(node.data.length) : transformed(node.data, style.textTransform);
      } else if (node.nodeType === Node.ELEMENT_NODE) {
        if (details && node.localName !== "summary") continue;
        const piece = embedded(node, trail);
        const adopted = hasAttribute(element, "aria-owns") && kit.parentOf(node) !== element;
        text += adopted && piece ? " " + piece : piece;
      }
    }
    return text + generated(element, "::after", trail.hidden);
  }

  function isInline(node) {
    if (node === null) return false;
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeType === Node.TEXT_NODE;
    return /^(?:inline|ruby)/.test(getComputedStyle(node).display) && kit.own.localName(node) !== "br";
  }

  // What is said all the same of an element with aria-hidden: what names something by itself and can take the focus,
  // labels, and what is referred to. Chrome keeps these in its tree, and has them in the place of what they are in.
  function keptInHidden(element, trail) {
    if (trail.root || isKept(element)) return "";
    // Of what is hidden in what is a label, all stays in the tree, and counts as hidden.
    for (let at = kit.parentOf(element); at; at = kit.parentOf(at)) if (at.localName === "label" || isReferredTo(at)) return "";
    let text = "";
    for (const child of kit.own.search(element, KEEPABLE)) {
      if (trail.steps.count > STEPS) break;
      if (getAttribute(child, "aria-hidden") !== "true" && isDrawn(child) && isKept(child)) text += " " + textOf(child, inner(trail)) + " ";
      trail.steps.count += 1;
    }
    return text;
  }

  function isKept(element) {
    if (element.localName === "label" || isReferredTo(element)) return true;
    return isFocusable(element) && isNamedByContent(element, roleOf(element));
  }

  function isReferredTo(element) {
    const own = getAttribute(element, "id");
    if (!own) return false;
    const root = getRootNode(element);
    let ids = referred.get(root);
    if (!ids) {
      ids = new Set();
      for (const each of kit.own.search(root, "[aria-labelledby],[aria-describedby]")) {
        for (const name of ["aria-labelledby", "aria-describedby"]) {
          for (const id of (getAttribute(each, name) || "").split(/\s+/)) ids.add(id);
        }
      }
      referred.set(root, ids);
    }
    return ids.has(own);
  }

  // The text of an element inside of another one's name, with space around it where it does not run on.
  function embedded(element, trail) {
    const tag = kit.own.localName(element);
    if (tag === "br" || tag === "wbr") {
      take(element, trail);
      return " ";
    }
    if (SILENT.has(tag)) return "";
    const style = getComputedStyle(element);
    if (!trail.hidden) {
      if (style.display === "none") return "";
      const hides = getAttribute(element, "aria-hidden") === "true" || given(element)?.hidden;
      if (hides && !unhidden.has(element)) return keptInHidden(element, trail);
      if (style.visibility !== "visible") return ""; // with all that is in it
    }
    trail.steps.count += 1;
    if (trail.steps.count > STEPS) return "";
    const role = roleOf(element);
    const text = role === "none" ? contentOf(element, inner(trail)) : textOf(element, inner(trail));
    const inline = /^(?:inline|ruby|ruby-text)$/.test(style.display) && !REPLACED.has(tag) && !APART.has(role);
    if (inline || (!text && (tag === "img" || element.type === "hidden"))) return text;
    return " " + text + " ";
  }

  // What Chrome adds to the name of an element to tell what was chosen.
  function withChoice(element, name) {
    if (element.localName !== "input" || element.type !== "file") return name;
    const count = element.files.length;
    return tidy(name) + ": " + (count > 1 ? count + " files" : count ? element.files[0].name : "No file chosen");
  }

  // What stands for the name of what cannot be played.
  function isUnplayable(element) {
    if (element.localName !== "video" && element.localName !== "audio") return false;
    return element.networkState === element.NETWORK_EMPTY || element.networkState === element.NETWORK_NO_SOURCE;
  }

  // The text alternative of an element on the way to somebody's name.
  function textOf(element, trail) {
    const { root, visited } = trail;
    const again = visited.has(element);
    if (again && !root) return "";
    if (isUnplayable(element)) return UNPLAYABLE;
    const role = roleOf(element);
    if (!again) {
      const value = valueOf(element, role, trail);
      if (value !== null && (tidy(value) || isSilentValue(element))) return value;
      take(element, trail);
    }
    const said = (again ? "" : labelled(element, trail)) || ariaLabel(element) || (again ? "" : ownLabel(element, trail));
    if (said) return " " + withChoice(element, said) + " ";
    const native = nativeName(element, trail);
    if (native) return withChoice(element, native);
    if (native === null) return "";
    if ((root || isOpenInside(element, role)) && kit.own.localName(element) !== "select") {
      const field = root === element && isTextField(element, role);
      const content = field ? valueOf(element, role, trail) || "" : contentOf(element, trail);
      if (content.trim()) return content;
      const title = fromTitle(element, role, trail) || fromHints(element, role);
      return title ? " " + title + " " : content;
    }
    const title = fromTitle(element, role, trail) || fromHints(element, role);
    return title && " " + title + " ";
  }

  function isTextField(element, role) {
    return TYPED.test(role) || (kit.own.localName(element) === "input" && /^(?:combobox|spinbutton)$/.test(role));
  }

  // Values that count although they say nothing: no other name takes their place.
  function isSilentValue(element) {
    return element.localName === "select" || TYPED.test(getAttribute(element, "role"));
  }

  // --- one element --------------------------------------------------------------------------------------

  function computeName(element) {
    if (isUnplayable(element)) return UNPLAYABLE;
    const known = given(element);
    if (known?.role) return tidy(known.name);
    const role = roleOf(element);
    if (role === "none") return "";
    const trail = beginWalk();
    take(element, trail);
    const said = labelled(element, trail) || ariaLabel(element);
    if (said) return withChoice(element, said);
    const native = nativeName(element, trail);
    if (native) return withChoice(element, native);
    if (native === null) return "";
    if (isNamedByContent(element, role) && !/^(?:input|select)$/.test(element.localName) && !isEditingHost(element)) {
      const content = tidy(contentOf(element, trail));
      if (content) return content;
    }
    return fromTitle(element, role, trail) || fromHints(element, role);
  }

  function nameOf(element) {
    let name = names.get(element);
    if (name === undefined) {
      names.set(element, ""); // who asks for it on the way there
      name = computeName(element);
      names.set(element, name);
    }
    return name;
  }

  // The text in an element, as a name that is made of it has it.
  const textIn = (element) => tidy(contentOf(element, beginWalk()));

  return { roleOf, nameOf, textIn, unhide: (element) => void unhidden.add(element) };
})
