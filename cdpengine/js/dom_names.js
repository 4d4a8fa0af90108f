// What name Chrome would give an element, from the DOM alone (accname-1.2). Called with what dom_roles.js and
// dom_text.js answer, and isSecret (see secret_field.js), it answers { roleOf, nameOf }, which stand in for
// `element.computedRole` and `computedName`.
//
// A name has its white space collapsed. Linear where names do not contain each other; a name stops growing at
// LONGEST characters, so that nested names cannot make it anything worse.
(function (kit, drawn, isSecret) {
  "use strict";

  const { roleOf, gridOf, isFocusable } = kit;
  const { getAttribute, hasAttribute, closest, checkVisibility, getRootNode, contains, childNodes } = kit.own;
  const { generated, transformed } = drawn;
  const LONGEST = 10000;
  const DEEPEST = 400;

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
  const SPACES = /[ \t\n\f\r]+/g;

  const names = new WeakMap();
  const labelTexts = new WeakMap(); // what an element says as somebody's label
  const contents = new WeakMap(); // what is inside, as any name from outside takes it

  function tidy(text) {
    return text.replace(SPACES, " ").replace(/^ | $/g, "");
  }

  function isHidden(element) {
    return closest(element, "[aria-hidden='true' i]") !== null || !isDrawn(element);
  }

  function isDrawn(element) {
    const style = getComputedStyle(element);
    if (style.display === "contents") return style.visibility === "visible" && isDrawn(kit.parentOf(element) || element);
    return checkVisibility(element, { visibilityProperty: true });
  }

  // --- from attributes and other elements ---------------------------------------------------------------

  function labelled(element, trail) {
    if (trail.labelling || !hasAttribute(element, "aria-labelledby")) return "";
    const parts = [];
    let length = 0;
    for (const label of element.ariaLabelledByElements || []) {
      const part = label === element ? ofItself(element, labelling(label)) : labelText(label);
      parts.push(part);
      length += part.length;
      if (parts.length > 100 || length > LONGEST) break;
    }
    return tidy(parts.join(" "));
  }

  function labelling(label) {
    return { labelling: true, hidden: isHidden(label), seen: new Set(), target: label, depth: 0 };
  }

  // In a closed `details`, or in what is not laid out: Chrome has no text of that, not even for a label.
  function isLocked(element) {
    for (let at = element, above = kit.parentOf(at); above; at = above, above = kit.parentOf(at)) {
      if (above.localName === "details" && !above.open && at.localName !== "summary") return true;
      if (getComputedStyle(above).contentVisibility === "hidden") return true;
    }
    return false;
  }

  function labelText(label) {
    let text = labelTexts.get(label);
    if (text === undefined) {
      text = isLocked(label) ? "" : textOf(label, labelling(label));
      labelTexts.set(label, text);
    }
    return text;
  }

  // An element that is one of its own labels, by which its other names are meant.
  function ofItself(element, trail) {
    return ariaLabel(element) || valueOf(element, roleOf(element), trail) || textOf(element, trail);
  }

  function ariaLabel(element) {
    return tidy(getAttribute(element, "aria-label") || "");
  }

  function fromLabels(element, trail) {
    if (!LABELABLE.has(element.localName)) return "";
    const labels = element.labels;
    if (!labels || labels.length === 0) return "";
    const parts = [];
    let outer = null;
    for (const label of labels) {
      if (trail.seen.has(label) || (outer && contains(outer, label)) || isHidden(label)) continue;
      outer = label;
      const through = { labelling: false, hidden: false, seen: new Set([element]), target: null, depth: trail.depth };
      parts.push(textOf(label, through));
    }
    return tidy(parts.join(" "));
  }

  function fromChild(element, tag, trail) {
    for (let child = element.firstElementChild; child; child = child.nextElementSibling) {
      if (child.localName !== tag) continue;
      if (element.namespaceURI === SVG) return tidy(child.textContent);
      return isHidden(child) ? "" : tidy(contentOf(child, inner(trail)));
    }
    return "";
  }

  function inputName(element, trail) {
    const type = element.type;
    const label = fromLabels(element, trail);
    if (type === "file") return label || (element.multiple ? "Choose Files" : "Choose File");
    if (label) return label;
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
        return fromLabels(element, trail);
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

  function fromTitle(element, role) {
    const given = getAttribute(element, "title");
    const title = given ? tidy(given) : "";
    if (!title || given.trim() === kit.own.textContent(element).trim()) return ""; // Chrome says it once
    if (role === "generic") return isFocusable(element) && element.localName !== "a" ? title : "";
    return UNTITLED.has(role) && !isFocusable(element) ? "" : title;
  }

  // The least of names: what a field says about itself, where it has no label at all.
  function fromHints(element, role) {
    if (role === "table") return tidy(element.summary || "");
    if (element.labels && element.labels.length) return "";
    if (!/^(?:textbox|searchbox|combobox|spinbutton)$/.test(role)) return "";
    const hint = element.localName === "input" || element.localName === "textarea" ? element.placeholder : "";
    return tidy(hint) || tidy(getAttribute(element, "aria-placeholder") || "");
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
    return hasAttribute(element, "contenteditable") && element.isContentEditable;
  }

  function isOpenInside(element, role) {
    const tag = kit.own.localName(element);
    if (FOREIGN.has(tag)) return false;
    if (!CLOSED.has(role)) return true;
    if (role === "contentinfo") return tag === "footer" && !hasAttribute(element, "role");
    return role === "group" && (tag === "address" || tag === "details");
  }

  function inner(trail) {
    return { ...trail, target: null, depth: trail.depth + 1 };
  }

  // The value of a control that stands inside of a name; null when the element is no such control.
  function valueOf(element, role, trail) {
    const tag = kit.own.localName(element);
    switch (role) {
      case "textbox":
      case "searchbox":
        if ((tag === "input" || tag === "textarea") && isSecret(element)) return "\u2022".repeat(element.value.length);
        return tag === "input" || tag === "textarea" ? element.value : contentOf(element, trail);
      case "combobox":
      case "listbox": {
        if ((tag === "input" || tag === "textarea" || tag === "select") && isSecret(element)) return "";
        if (tag === "input" || tag === "textarea") return element.value;
        if (tag === "select") return Array.from(element.selectedOptions, (option) => option.label).join(" ");
        const chosen = Array.from(element.querySelectorAll("[aria-selected='true']")).slice(0, 100);
        if (chosen.length) return chosen.map((option) => textOf(option, inner(trail))).join(" ");
        return trail.target === element ? null : "";
      }
      case "slider":
      case "spinbutton":
      case "scrollbar":
      case "meter":
      case "progressbar": {
        const spoken = getAttribute(element, "aria-valuetext") || getAttribute(element, "aria-valuenow");
        if (spoken) return spoken;
        if (tag === "progress") return element.position < 0 ? "" : String(element.value);
        if (tag === "input" || tag === "meter") return String(element.value);
        return role === "slider" || role === "scrollbar" ? "50" : role === "progressbar" ? (trail.target === element ? null : "") : "0";
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
    if (trail.hidden || trail.labelling || trail.seen.size) return contentIn(element, trail);
    let content = contents.get(element);
    if (content === undefined) {
      content = contentIn(element, trail);
      contents.set(element, content);
    }
    return content;
  }

  function contentIn(element, trail) {
    if (trail.depth > DEEPEST) return "";
    const style = getComputedStyle(element);
    if (style.contentVisibility === "hidden" && !trail.hidden) return "";
    const visible = trail.hidden || style.visibility === "visible";
    const details = element.localName === "details" && !element.open && !trail.hidden;
    const veiled = style.webkitTextSecurity !== "none";
    let text = generated(element, "::before", trail.hidden);
    for (const node of childrenOf(element)) {
      if (text.length > LONGEST) break;
      if (node.nodeType === Node.TEXT_NODE) {
        if (!visible || details) continue;
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

  // The text of an element inside of another one's name, with space around it where it does not run on.
  function embedded(element, trail) {
    const tag = kit.own.localName(element);
    if (tag === "br" || tag === "wbr") return " ";
    if (SILENT.has(tag) || trail.seen.has(element)) return "";
    if (tag === "label") trail.seen.add(element); // of a field in it, it is not the name once more
    if (hasAttribute(element, "aria-owns") || trail.depth % 16 === 15) {
      if (trail.seen.size > 1000) return "";
      trail.seen.add(element);
    }
    const style = getComputedStyle(element);
    if (!trail.hidden) {
      if (style.display === "none" || element.ariaHidden === "true") return "";
      if (style.visibility !== "visible" && !element.firstElementChild) return "";
    }
    const text = textOf(element, inner(trail));
    const inline = /^(?:inline|ruby|ruby-text)$/.test(style.display) && !REPLACED.has(tag) && !APART.has(roleOf(element));
    if (inline || (!text && (tag === "img" || element.type === "hidden"))) return text;
    return " " + text + " ";
  }

  // What Chrome adds to a name, or has in its place, to tell the state of an element.
  function withState(element, name) {
    if (element.localName === "input" && element.type === "file") {
      const count = element.files.length;
      return tidy(name) + ": " + (count > 1 ? count + " files" : count ? element.files[0].name : "No file chosen");
    }
    if (element.localName !== "video" && element.localName !== "audio") return name;
    const empty = element.networkState === element.NETWORK_EMPTY || element.networkState === element.NETWORK_NO_SOURCE;
    return empty ? "Unable to play media." : name;
  }

  // The text alternative of an element on the way to somebody's name.
  function textOf(element, trail) {
    return withState(element, plainTextOf(element, trail));
  }

  function plainTextOf(element, trail) {
    const role = roleOf(element);
    if (trail.target !== element) {
      const value = valueOf(element, role, trail);
      if (value !== null) {
        if (tidy(value) || element.localName === "select" || /^(?:textbox|searchbox)$/.test(getAttribute(element, "role"))) {
          return value;
        }
        return labelled(element, trail) || ariaLabel(element) || fromTitle(element, role) || fromHints(element, role);
      }
    }
    const said = labelled(element, trail) || ariaLabel(element);
    if (said) return " " + said + " ";
    if (trail.target === element) {
      const value = valueOf(element, role, trail);
      if (value !== null && tidy(value)) return value;
    }
    const native = nativeName(element, trail);
    if (native) return native;
    if (native === null) return "";
    if (trail.target === element || element.localName === "label" || trail.labelling || isOpenInside(element, role)) {
      const content = contentOf(element, trail);
      const title = content.trim() ? "" : fromTitle(element, role);
      return title ? " " + title + " " : content;
    }
    const title = fromTitle(element, role);
    return title && " " + title + " ";
  }

  // --- one element --------------------------------------------------------------------------------------

  function computeName(element) {
    return withState(element, plainName(element));
  }

  function plainName(element) {
    const role = roleOf(element);
    if (role === "none") return "";
    const trail = { labelling: false, hidden: false, seen: new Set(), target: null, depth: 0 };
    const said = labelled(element, trail) || ariaLabel(element);
    if (said) return said;
    const native = nativeName(element, trail);
    if (native) return native;
    if (native === null) return "";
    if (isNamedByContent(element, role) && !/^(?:input|select)$/.test(element.localName) && !isEditingHost(element)) {
      const content = tidy(contentOf(element, trail));
      if (content) return content;
    }
    return fromTitle(element, role) || fromHints(element, role);
  }

  function nameOf(element) {
    let name = names.get(element);
    if (name === undefined) {
      name = computeName(element);
      names.set(element, name);
    }
    return name;
  }

  return { roleOf, nameOf };
})
