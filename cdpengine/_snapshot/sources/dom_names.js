// Computes from the DOM alone the name that Chrome would give an element (accname-1.2). Takes the results of
// dom_roles.js and dom_text.js, and isSecret (see secret_field.js). Returns { roleOf, nameOf }, which replace
// `element.computedRole` and `computedName`.
//
// White space in a name is collapsed. The walk of one name has the shape of Chrome's: it records each node
// that it takes, takes no node twice, and stops after MOST nodes (AXNodeObject::TextFromDescendants). So
// names that contain each other cost no more than others, and equal Chrome's.
(function (kit, drawn, isSecret) {
  "use strict";

  const { roleOf, gridOf, isFocusable, given } = kit;
  const { getAttribute, hasAttribute, closest, checkVisibility, getRootNode, contains, childNodes } = kit.own;
  const { generated, transformed } = drawn;
  const MOST = 100; // kMaxDescendantsForTextAlternativeComputation
  const LONGEST = 10000;
  const DEEPEST = 400;
  const STEPS = 2000; // elements per name; elements that own each other would lead in circles

  const NAMED_BY_CONTENT = new Set(
    ("button cell checkbox columnheader doc-backlink doc-biblioref doc-glossref doc-noteref doc-subtitle gridcell " +
      "graphics-object heading link menuitem menuitemcheckbox menuitemradio option radio rowheader switch tab term " +
      "tooltip treeitem").split(" "),
  );
  // The content of these roles is not part of an enclosing name. Nor is that of most roles of digital publishing.
  const CLOSED = new Set(
    ("alert alertdialog application article banner blockquote combobox comment complementary contentinfo dialog " +
      "document feed figure form grid group image listbox log main marquee menu menubar navigation note progressbar " +
      "radiogroup row rowgroup search sectionfooter sectionheader separator status suggestion table tablist " +
      "tabpanel timer toolbar tree treegrid graphics-document graphics-symbol").split(" "),
  );
  // Roles that a title does not name.
  const UNTITLED = new Set(
    ("caption code definition deletion emphasis generic insertion mark paragraph strong subscript suggestion " +
      "superscript term time").split(" "),
  );
  // Controls are separated by space from the words around them, although they are drawn inline.
  const APART = new Set(
    ("button checkbox menuitem menuitemcheckbox menuitemradio meter progressbar radio scrollbar searchbox slider " +
      "spinbutton switch tab textbox combobox listbox").split(" "),
  );
  const LABELABLE = new Set(["button", "input", "meter", "output", "progress", "select", "textarea"]);
  const REPLACED = new Set(
    ("audio button canvas embed iframe img input meter object progress select svg textarea video").split(" "),
  );
  const SILENT = new Set(["script", "style", "template", "noscript", "datalist", "head", "title", "colgroup", "rp"]);
  // Elements whose content is not text of the page, or is an annotation of it.
  const FOREIGN = new Set(["audio", "iframe", "math", "object", "rt", "select", "video"]);
  const SVG = "http://www.w3.org/2000/svg";
  const TEXTUAL = new Set(["email", "number", "password", "search", "tel", "text", "url"]);
  const PUSHED = new Set(["submit", "reset", "button"]);
  const TYPED = /^(?:textbox|searchbox)$/;
  const UNPLAYABLE = "Unable to play media.";
  const INLINE = /^(?:inline|ruby|ruby-text)$/;
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

  const unhidden = new WeakSet(); // elements whose aria-hidden is ignored

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

  // `root` is the target of aria-labelledby while the walk is in it. `hidden` is whether that target is
  // hidden, so that all its content counts. All parts of one walk share the rest: `visited` are the nodes
  // that were taken, `steps.taken` counts those with a node in Chrome's tree, `steps.count` counts the
  // elements that were reached. `steps.apart` is whether the last element's text is a label or a value.
  function beginWalk() {
    return { root: null, hidden: false, visited: new Set(), steps: { count: 0, taken: 0, apart: false }, depth: 0 };
  }

  function take(node, trail) {
    if (trail.visited.has(node)) return;
    trail.visited.add(node);
    if (node.nodeType !== Node.ELEMENT_NODE || !isBare(node)) trail.steps.taken += 1;
  }

  // Whether an inline element without role or attributes has no node in Chrome's tree. Its content takes its
  // place.
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

  // A separate walk of the content of a custom field. Its nodes do not count for the walk around it.
  function ownWalk(trail) {
    return { ...beginWalk(), hidden: trail.hidden, depth: trail.depth + 1 };
  }

  // The trail for elements that HTML ties to this one: its labels, its caption.
  function outsideRoot(trail) {
    return { ...trail, root: null, hidden: false, depth: trail.depth + 1 };
  }

  // --- from attributes and other elements ---------------------------------------------------------------

  function labelled(element, trail) {
    if (trail.root || !hasAttribute(element, "aria-labelledby")) return "";
    return fromElements(DOM.ariaLabelledByElements(element) || [], trail);
  }

  function fromElements(labels, trail) {
    const parts = [];
    let length = 0;
    for (const label of labels) {
      const part = isLocked(label) ? "" : textOf(label, inRoot(label, trail));
      take(label, trail);
      parts.push(part);
      length += part.length;
      if (parts.length > 100 || length > LONGEST) break;
    }
    return tidy(parts.join(" "));
  }

  // Whether the element is in a closed `details`, without a slot, or not laid out. Chrome ignores such content,
  // not even for a label.
  function isLocked(element) {
    if (getComputedStyle(element).display === "") return true;
    for (let at = element, above = kit.parentOf(at); above; at = above, above = kit.parentOf(at)) {
      if (above.localName === "details" && !above.open && at.localName !== "summary") return true;
      if (getComputedStyle(above).contentVisibility === "hidden") return true;
    }
    return false;
  }

  function ariaLabel(element) {
    return tidy(getAttribute(element, "aria-label") || "");
  }

  // The label of a custom element in Chrome's tree, for use inside another element's name.
  function ownLabel(element, trail) {
    const known = given(element);
    if (!known || !known.by) return "";
    return trail.root && known.by === "aria-labelledby" ? "" : tidy(known.name);
  }

  // The labels of an element. Avoids the property `labels`, for which Chrome searches the whole tree for each
  // control.
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

  // The name from an element's labels; null if it has no label.
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
    const silent = label !== null; // its labels are empty, or were taken before
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

  // The name by HTML's rules. null: HTML defines that the element has no name.
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
    if (!title || given.trim() === drawnText(element).trim()) return ""; // Chrome does not repeat it
    if (trail.root) return title;
    if (role === "generic") return isFocusable(element) && element.localName !== "a" ? title : "";
    return UNTITLED.has(role) && !isFocusable(element) ? "" : title;
  }

  function drawnText(element) {
    return element instanceof HTMLElement ? kit.own.innerText(element) : kit.own.textContent(element);
  }

  // The fallback name of a field without any label, from its own attributes.
  function fromHints(element, role) {
    if (role === "table") return tidy(element.summary || "");
    if (labelsOf(element).length || !isTextField(element, role)) return "";
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
    if (!CLOSED.has(role)) return !role.startsWith("doc-") || NAMED_BY_CONTENT.has(role);
    if (role === "contentinfo") return tag === "footer" && !hasAttribute(element, "role");
    return role === "group" && (tag === "address" || tag === "details");
  }

  // The value of a control inside a name; null for other elements and for controls without a value.
  function valueOf(element, role, trail) {
    const tag = kit.own.localName(element);
    if (isTyped(element, tag)) return (isSecret(element) ? "\u2022".repeat(element.value.length) : element.value) || null;
    switch (role) {
      case "textbox":
      case "searchbox":
        return drawnText(element);
      case "combobox":
      case "listbox": {
        if ((tag === "input" || tag === "textarea" || tag === "select") && isSecret(element)) return "";
        if (tag === "input" || tag === "textarea") return element.value;
        const chosen = tag === "select" ? Array.from(element.selectedOptions) : element.querySelectorAll("[aria-selected='true']");
        if (tag !== "select" && chosen.length === 0) {
          return role === "combobox" && isFocusable(element) ? contentOf(element, trail) || null : null;
        }
        const said = [];
        for (const option of Array.prototype.slice.call(chosen, 0, 100)) {
          if (trail.visited.has(option)) continue;
          take(option, trail);
          said.push(tag === "select" ? option.label : nameOf(option));
        }
        return said.join(" ");
      }
      case "separator":
        return isFocusable(element) ? getAttribute(element, "aria-valuenow") || "50" : null;
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

  // The children in the flat tree, after moves by aria-owns.
  function childrenOf(element) {
    const own = flatChildren(element);
    const moved = kit.ownedBy(element);
    if (moved.length === 0 && !own.some((node) => node.nodeType === Node.ELEMENT_NODE && kit.ownerOf(node) !== null)) return own;
    return [...Array.prototype.filter.call(own, (node) => node.nodeType !== Node.ELEMENT_NODE || kit.ownerOf(node) === null), ...moved];
  }

  function flatChildren(element) {
    if (element.localName === "slot") {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned;
    }
    return Array.from(childNodes(element.shadowRoot instanceof ShadowRoot ? element.shadowRoot : element));
  }

  function contentOf(element, trail) {
    if (trail.depth > DEEPEST) return "";
    const style = getComputedStyle(element);
    if (style.contentVisibility === "hidden" && !trail.hidden) return "";
    const sofar = { text: "", last: null, apart: false, split: false };
    gather(element, style, trail, sofar);
    return sofar.text;
  }

  // Adds the text of an element's children to `sofar`.
  function gather(element, style, trail, sofar) {
    const visible = trail.hidden || style.visibility === "visible";
    const details = element.localName === "details" && !element.open && !trail.hidden;
    const veiled = style.webkitTextSecurity !== "none" && style.webkitTextSecurity !== "";
    join(sofar, null, generated(element, "::before", trail.hidden), false);
    for (const node of childrenOf(element)) {
      if (sofar.text.length > LONGEST || trail.steps.taken > MOST) break;
      if (node.nodeType === Node.TEXT_NODE) {
        if (!visible || details) continue;
        if (SPACE.test(node.data)) {
          sofar.text += " ";
          if (isInline(node.previousSibling) && isInline(node.nextSibling)) take(node, trail);
          continue;
        }
        if (trail.visited.has(node) && !trail.root) continue;
        take(node, trail);
        const text = veiled ? "\u2022".repeat(node.data.length) : transformed(node.data, style.textTransform);
        join(sofar, node, text, false);
      } else if (node.nodeType === Node.ELEMENT_NODE) {
        if (details && node.localName !== "summary") continue;
        embed(node, trail, sofar, kit.ownerOf(node) !== null);
      }
    }
    join(sofar, null, generated(element, "::after", trail.hidden), false);
  }

  // Adds a piece of text, separated from the text before it as in Chrome
  // (AXNodeObject::ShouldInsertSpaceBetweenObjectsIfNeeded). `apart` is whether it comes from a label or a value
  // and not from content. `node` is null for generated content.
  function join(sofar, node, text, apart) {
    if (text === "" && node === null) return;
    if (text !== "" && sofar.text !== "" && !SPACE.test(sofar.text.at(-1)) && !SPACE.test(text[0])) {
      if (apart || sofar.apart || sofar.split || !isFlowing(sofar.last) || !isFlowing(node) || holdsBlock(sofar.last)) sofar.text += " ";
    }
    sofar.text += text;
    sofar.last = node;
    sofar.split = false;
    if (text !== "") sofar.apart = apart;
  }

  // Whether a node continues the line of text around it.
  function isFlowing(node) {
    if (node === null || node.nodeType !== Node.ELEMENT_NODE) return true;
    if (REPLACED.has(kit.own.localName(node)) || APART.has(roleOf(node))) return false;
    return INLINE.test(getComputedStyle(node).display);
  }

  // Whether an inline element contains a block, which ends its line.
  function holdsBlock(element) {
    if (element === null || element.nodeType !== Node.ELEMENT_NODE) return false;
    const waiting = [...childrenOf(element)];
    for (let looked = 0; waiting.length && looked < MOST; looked += 1) {
      const node = waiting.pop();
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      const { display } = getComputedStyle(node);
      if (display === "none" || display === "") continue;
      if (display !== "contents" && !/^(?:inline|ruby)/.test(display)) return true;
      if (display === "contents" || INLINE.test(display)) waiting.push(...childrenOf(node));
    }
    return false;
  }

  function isInline(node) {
    if (node === null) return false;
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeType === Node.TEXT_NODE;
    return /^(?:inline|ruby)/.test(getComputedStyle(node).display) && kit.own.localName(node) !== "br";
  }

  // The parts of an aria-hidden element that count for a name: focusable elements that have a name of their
  // content, labels, and elements that others refer to. Chrome keeps these in its tree, in place of their
  // hidden ancestor.
  function keptInHidden(element, trail) {
    if (trail.root || isKept(element)) return "";
    // Inside a label, hidden elements stay in the tree and count as hidden.
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

  // Adds the text of an element inside another element's name. `adopted` is whether aria-owns moved it there.
  function embed(element, trail, sofar, adopted) {
    const tag = kit.own.localName(element);
    if (tag === "br" || tag === "wbr") {
      take(element, trail);
      return join(sofar, element, " ", false);
    }
    if (SILENT.has(tag)) return;
    const style = getComputedStyle(element);
    if (!trail.hidden) {
      if (style.display === "none") return;
      const hides = getAttribute(element, "aria-hidden") === "true" || given(element)?.hidden;
      if (hides && !unhidden.has(element)) {
        sofar.text += keptInHidden(element, trail);
        sofar.split ||= !INLINE.test(style.display) || holdsBlock(element);
        return;
      }
      if (style.visibility !== "visible") return; // and so are its descendants
    }
    trail.steps.count += 1;
    if (trail.steps.count > STEPS) return;
    if (trail.depth < DEEPEST && !trail.visited.has(element) && isBare(element)) {
      take(element, trail);
      return gather(element, style, inner(trail), sofar);
    }
    trail.steps.apart = false;
    const text = roleOf(element) === "none" ? contentOf(element, inner(trail)) : textOf(element, inner(trail));
    if (text === "" && tag === "img") return; // not in Chrome's tree
    join(sofar, element, text, adopted || trail.steps.apart);
  }

  // Adds the chosen file, as Chrome does.
  function withChoice(element, name) {
    if (element.localName !== "input" || element.type !== "file") return name;
    const count = element.files.length;
    return tidy(name) + ": " + (count > 1 ? count + " files" : count ? element.files[0].name : "No file chosen");
  }

  // Whether Chrome replaces the element's name by UNPLAYABLE.
  function isUnplayable(element) {
    if (element.localName !== "video" && element.localName !== "audio") return false;
    return element.networkState === element.NETWORK_EMPTY || element.networkState === element.NETWORK_NO_SOURCE;
  }

  // The text alternative of an element inside another element's name.
  function textOf(element, trail) {
    const [text, apart] = alternativeOf(element, trail);
    trail.steps.apart = apart;
    return text;
  }

  // The same, and whether the text is a label or a value, not content.
  function alternativeOf(element, trail) {
    const { root, visited } = trail;
    const again = visited.has(element);
    if (again && !root) return ["", false];
    if (isUnplayable(element)) return [UNPLAYABLE, true];
    const role = roleOf(element);
    if (!again) {
      const value = valueOf(element, role, trail);
      if (value !== null && (tidy(value) || isSilentValue(element))) return [value, true];
      take(element, trail);
    }
    const said = (again ? "" : labelled(element, trail)) || ariaLabel(element) || (again ? "" : ownLabel(element, trail));
    if (said) return [withChoice(element, said), true];
    const native = nativeName(element, trail);
    if (native) return [withChoice(element, native), kit.own.localName(element) !== "option"];
    if (native === null) return ["", true];
    const field = isTextField(element, role);
    if ((root || isOpenInside(element, role)) && kit.own.localName(element) !== "select" && (!field || root === element)) {
      const content = field ? valueOf(element, role, trail) || "" : contentOf(element, trail);
      if (content.trim()) return [content, false];
      return [fromTitle(element, role, trail) || fromHints(element, role) || content, true];
    }
    return [fromTitle(element, role, trail) || fromHints(element, role), true];
  }

  // Whether the element is a text field of HTML, whatever its role.
  function isTyped(element, tag) {
    return tag === "textarea" || (tag === "input" && TEXTUAL.has(element.type));
  }

  function isTextField(element, role) {
    return TYPED.test(role) || isTyped(element, kit.own.localName(element));
  }

  // Whether an empty value counts, so that no other name replaces it.
  function isSilentValue(element) {
    return element.localName === "select" || TYPED.test(getAttribute(element, "role"));
  }

  // --- one element --------------------------------------------------------------------------------------

  function computeName(element) {
    if (isUnplayable(element)) return UNPLAYABLE;
    const known = given(element);
    if (known?.role && !known.unsure) return tidy(known.name);
    const role = roleOf(element);
    if (role === "none") return "";
    const trail = beginWalk();
    take(element, trail);
    const said = labelled(element, trail) || ariaLabel(element);
    if (said) return withChoice(element, said);
    const native = nativeName(element, trail);
    if (native) return withChoice(element, native);
    if (native === null) return "";
    if (isNamedByContent(element, role) && !/^(?:input|select|textarea)$/.test(element.localName) && !isEditingHost(element)) {
      const content = tidy(contentOf(element, trail));
      if (content) return content;
    }
    return fromTitle(element, role, trail) || fromHints(element, role);
  }

  function nameOf(element) {
    let name = names.get(element);
    if (name === undefined) {
      names.set(element, ""); // for recursive calls
      name = computeName(element);
      names.set(element, name);
    }
    return name;
  }

  // The text of an element, as it would contribute to a name.
  const textIn = (element) => tidy(contentOf(element, beginWalk()));

  // The text alternatives of elements that describe another one.
  const textOfAll = (elements) => fromElements(elements, beginWalk());

  return { roleOf, nameOf, textIn, textOfAll, unhide: (element) => void unhidden.add(element) };
})
