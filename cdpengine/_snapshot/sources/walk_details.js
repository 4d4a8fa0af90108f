// Adds the details of one element besides role and name: states in display order, value (never a secret
// field's), address, description, placeholder. A part of walk.js, which calls it once with `dom`, its
// document readers, and the result of secret_field.js. The result is called once for each walk with
//   extra(line, key, value)  a function that stores a detail
//   focused                  the focused element, or null
//   told(element)            the facts of Chrome's tree about a custom element (walk_internals.js), or
//                            undefined
//   parentOf(element)        the parent in the flat tree, after moves by aria-owns
//   textIn(element)          the element's text, as Chrome uses it in names
//   textOfAll(elements)      the text alternatives of elements that describe another one
//   isDisabling()            whether any element of the document may have aria-disabled
(function (dom, isSecret) {
  "use strict";

  const INTERACTIVE = 4; // as in columns.py
  const VALUED = 8; // shown with its value even if it is not interactive
  const HINTED = 16; // may have a placeholder

  const NATIVE = new Set([
    "button", "input", "select", "textarea", "option", "optgroup", "fieldset", "dialog", "summary",
  ]);
  const FIELDS = new Set(["input", "select", "textarea"]);
  const BUTTONS = new Set(["button", "reset", "submit"]);
  const PLAIN = new Set(["div", "p", "small", "span"]);
  const VALUELESS = new Set(["checkbox", "radio", "button", "submit", "reset", "image", "hidden"]);
  const TEXTUAL = new Set(["text", "search", "url", "tel", "email", "number", "password"]);
  const CHECKED = new Set([
    "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option", "treeitem",
  ]);
  const EDITABLE = new Set(["generic", "paragraph", "group", "Details"]);
  // Roles for which Chrome's tree has these states.
  const READONLY = new Set(["textbox", "gridcell", "columnheader", "rowheader"]);
  const REQUIRED = new Set([
    "textbox", "combobox", "listbox", "spinbutton", "radiogroup", "tree", "treegrid", "gridcell", "columnheader",
    "rowheader",
  ]);
  const EXPANDABLE = new Set([
    "application", "button", "checkbox", "columnheader", "combobox", "gridcell", "link", "listitem", "menuitem",
    "menuitemcheckbox", "menuitemradio", "row", "rowheader", "switch", "tab", "treeitem",
  ]);
  const SELECTABLE = new Set(["columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"]);
  const EDITED = new Set(["searchbox", "textbox"]); // roles that support aria-placeholder
  const OF_A_GRID = new Set(["columnheader", "row", "rowheader"]); // selectable only inside a grid
  const RANGED = new Set(["meter", "progressbar", "scrollbar", "slider", "spinbutton"]);
  const BOUNDED = new Set(["meter", "progressbar", "scrollbar", "separator", "slider"]); // roles with default bounds

  const { read, byId, query, ofDocument, getAttribute, isEditingHost, getRootNode, closedRootOf } = dom;
  const innerText = dom.getter(HTMLElement.prototype, "innerText");
  const { checkVisibility, hasAttribute, matches, closest } = Element.prototype;

  // A property of an element that may be a form, whose fields can hide its properties.
  const own = (at, key) => (at instanceof HTMLFormElement ? read(at, HTMLFormElement.prototype, key) : at[key]);

  return function ({ extra, focused, told, parentOf, isDisabling, textIn, textOfAll }) {
    function details(at, tag, role, what, interactive, focusable, name, line, attributed, fullName) {
      const href = role === "link" ? own(at, "href") : undefined;
      if (href) {
        const url = typeof href === "string" ? href : absolute(href.baseVal);
        if (url.startsWith("http") || URL.canParse(url)) extra(line, "url", url);
      }
      const known = told(at);
      if (known !== undefined && known.told !== null) return fromTree(at, role, line, known.told);
      const native = NATIVE.has(tag);
      if (attributed && getAttribute.call(at, "aria-busy") === "true") extra(line, "busy", true);
      if (isDisabled(at, tag, native, focusable)) extra(line, "disabled", true);
      if (at === focused) extra(line, "focused", true);
      if (native || attributed) states(at, tag, role, native, line);
      if (tag === "summary") {
        const parent = at.parentElement;
        if (parent && parent.localName === "details") extra(line, parent.open ? "expanded" : "collapsed", true);
      }
      const heading = role === "heading" ? /^h([1-6])$/.exec(tag) : null;
      const level = attributed ? parseInt(getAttribute.call(at, "aria-level"), 10) : NaN;
      if (level >= 1) extra(line, "level", level);
      else if (heading) extra(line, "level", Number(heading[1]));
      else if (role === "heading") extra(line, "level", 2);
      else if (role === "treeitem") extra(line, "level", treeLevel(at));
      if (role === "DisclosureTriangle") return describe(at, role, what, name, line, attributed);
      if (interactive || what & VALUED) values(at, tag, role, line, attributed, fullName);
      if (interactive) describe(at, role, what, name, line, attributed);
    }

    // Adds the facts of Chrome's tree. That tree has a bound of 0 even for a number field without a bound.
    function fromTree(at, role, line, pairs) {
      if (at === focused) extra(line, "focused", true);
      for (let i = 0; i < pairs.length; i += 2) {
        const [key, value] = [pairs[i], pairs[i + 1]];
        const doubtful = role === "spinbutton" && value === 0 && (key === "min" || key === "max");
        if (!doubtful || number(getAttribute.call(at, `aria-value${key}`), null) !== null) extra(line, key, value);
      }
    }

    // Whether the role is from the attribute. A role that the attribute does not allow here is the element's own.
    const hasOwnRole = (at, role) => (getAttribute.call(at, "role") ?? "").toLowerCase().split(/\s+/).includes(role);
    const takesFocus = (at) => own(at, "tabIndex") >= 0 || getAttribute.call(at, "tabindex") !== null;

    function absolute(url) {
      return URL.canParse(url, ofDocument("baseURI")) ? new URL(url, ofDocument("baseURI")).href : url;
    }

    function treeLevel(at) {
      let level = 1;
      for (let node = parentOf(at); node !== null; node = parentOf(node)) {
        const role = getAttribute.call(node, "role");
        if (role === "tree") break;
        if (role === "group") level++;
      }
      return level;
    }

    // Only elements that take the focus inherit the state from an ancestor. A custom element that takes none may
    // pass it on without having it.
    function isDisabled(at, tag, native, focusable) {
      if (native || tag.includes("-")) {
        if (tag !== "fieldset" && matches.call(at, ":disabled")) return true;
        if (tag === "option" && closest.call(at, "select:disabled") !== null) return true;
      }
      if (tag === "video" || tag === "audio") return at.error !== null || at.networkState % 3 === 0;
      if (tag === "object") return !at.data && !at.type;
      if (!isDisabling()) return false;
      if (getAttribute.call(at, "aria-disabled") === "true") return true;
      if (!focusable) return false;
      for (let node = at; node !== null; node = parentOf(node)) {
        const known = told(node);
        if (known !== undefined && (known.disabled || (known.told !== null && takesFocus(node)))) return known.disabled;
        const own = getAttribute.call(node, "aria-disabled");
        if (own !== null) return own === "true";
      }
      return false;
    }

    function states(at, tag, role, native, line) {
      const type = tag === "input" ? at.type : "";
      const says = (name) => getAttribute.call(at, name);
      const flag = (name, key) => says(name) === "true" && extra(line, key, true);

      const invalid = says("aria-invalid");
      if (invalid !== null && invalid !== "" && invalid !== "false") {
        if (role === "textbox" || !/^(?:grammar|spelling)$/.test(invalid)) extra(line, "invalid", true);
      } else if (native && invalid === null && matches.call(at, ":invalid") && !isOnlyEmpty(at, tag, type)) {
        extra(line, "invalid", true);
      }
      const popup = says("aria-haspopup");
      if (popup !== null && popup !== "" && popup !== "false") {
        extra(line, "hasPopup", popup === "true" ? "menu" : popup);
      }
      if (role === "listbox" && own(at, "multiple")) extra(line, "multiselectable", true);
      else flag("aria-multiselectable", "multiselectable");
      if (READONLY.has(role)) {
        if (native && at.readOnly) extra(line, "readonly", true);
        else flag("aria-readonly", "readonly");
      }
      if (REQUIRED.has(role) && !(tag === "select" && role === "combobox")) {
        if (native && at.required) extra(line, "required", true);
        else flag("aria-required", "required");
      }
      if (type === "checkbox" && role === "button") {
        if (at.checked) extra(line, "pressed", true);
      } else if (type === "checkbox" || type === "radio") {
        if (type === "checkbox" && at.indeterminate) extra(line, "checked", "mixed");
        else if (at.checked) extra(line, "checked", true);
      } else {
        const checked = says("aria-checked");
        if (CHECKED.has(role)) {
          if (checked === "true") extra(line, "checked", true);
          else if (checked === "mixed" && role !== "radio" && role !== "menuitemradio" && role !== "switch") {
            extra(line, "checked", "mixed");
          }
        }
      }
      const expanded = says("aria-expanded");
      if (tag === "select" && role === "combobox") {
        extra(line, matches.call(at, ":open") ? "expanded" : "collapsed", true);
      } else if (EXPANDABLE.has(role)) {
        const popover = native ? at.popoverTargetElement : null;
        const open = popover ? popover.matches(":popover-open") : expanded === "true";
        if (popover || expanded === "true" || expanded === "false") extra(line, open ? "expanded" : "collapsed", true);
      }
      const pressed = says("aria-pressed");
      if (type !== "checkbox" && role === "button" && (pressed === "true" || pressed === "mixed")) {
        extra(line, "pressed", pressed === "true" ? true : pressed);
      }
      const selected =
        tag === "option"
          ? at.selected && !isDisabled(at, tag, true, true) && !isOfSecret(at)
          : says("aria-selected") === "true" && isSelectable(at, role);
      if (selected) extra(line, "selected", true);
      if (tag === "dialog" && matches.call(at, ":modal")) extra(line, "modal", true);
      else if (role === "dialog" || role === "alertdialog") flag("aria-modal", "modal");
      if ((own(at, "isContentEditable") || tag === "textarea" || TEXTUAL.has(type)) && EDITABLE.has(role)) extra(line, "editable", true);
    }

    function isOfSecret(option) {
      const select = option.closest("select");
      return select !== null && isSecret(select);
    }

    function isSelectable(at, role) {
      if (!SELECTABLE.has(role)) return false;
      return !OF_A_GRID.has(role) || closest.call(at, "[role=grid],[role=treegrid]") !== null;
    }

    function values(at, tag, role, line, attributed, fullName) {
      const type = tag === "input" ? at.type : "";
      if (FIELDS.has(tag) && isSecret(at)) {
        ranged(at, tag, role, line);
        if (tag === "select" ? at.selectedIndex >= 0 : at.value !== "") extra(line, "value", null);
        return;
      }
      ranged(at, tag, role, line);
      let value = "";
      if (tag === "select") {
        const option = at.selectedOptions[0];
        if (!at.multiple && at.size <= 1 && option) value = option.getAttribute("aria-label") ?? option.label;
      } else if (tag === "textarea") {
        value = at.value;
      } else if (type === "file") {
        value = chosen(at, fullName);
      } else if (type !== "") {
        if (!VALUELESS.has(type)) value = at.value;
      } else if (attributed && isEditingHost(at)) {
        value = RANGED.has(role) ? "" : own(at, "innerText");
        if (value !== "" && isSecret(at)) return void extra(line, "value", null);
      } else if (attributed && EDITED.has(role)) {
        value = own(at, "innerText") ?? "";
      } else if (attributed && role === "combobox") {
        value = textOfChoice(at);
      }
      if (RANGED.has(role) || (role === "separator" && (!FIELDS.has(tag) || VALUELESS.has(type)))) {
        const range = valueInRange(at, tag, role);
        if (value === "" || range === "") value = range;
      }
      if (value !== "") extra(line, "value", value);
    }

    // The choice of a custom combobox. Without the focus, Chrome treats it as a group of a field and a list.
    function textOfChoice(at) {
      if (own(at, "tabIndex") < 0 && !hasAttribute.call(at, "tabindex")) return "";
      if (own(at, "firstElementChild") !== null || own(at, "shadowRoot") || hasAttribute.call(at, "aria-owns")) return textIn(at);
      return read(at, Node.prototype, "textContent").replace(/\s+/g, " ").trim();
    }

    function chosen(at, fullName) {
      return at.files.length === 1 ? at.files[0].name : fullName.slice(fullName.lastIndexOf(": ") + 2);
    }

    // A slider always has bounds (ARIA 1.2, slider). A number field has only the bounds that the page sets.
    function ranged(at, tag, role, line) {
      if (role !== "slider" && role !== "spinbutton") return;
      const { least, most } = boundsOf(at, tag, role);
      const always = role === "slider";
      if (least !== null || always) extra(line, "valuemin", least ?? 0);
      if (most !== null || always) extra(line, "valuemax", at.type === "range" ? Math.max(least, most) : most ?? 0);
    }

    // The bounds of a range that the page or the role sets, as Chrome determines them; null for none.
    function boundsOf(at, tag, role) {
      const bound = (name) => number(getAttribute.call(at, `aria-value${name}`), null) ?? ownBound(at, tag, name);
      const given = BOUNDED.has(role) && hasOwnRole(at, role) && at.type !== "number";
      return { least: bound("min") ?? (given ? 0 : null), most: bound("max") ?? (given ? 100 : null) };
    }

    function ownBound(at, tag, name) {
      if (tag === "meter") return at[name];
      if (tag === "progress") return name === "max" ? at.max : 0;
      if (tag !== "input" || (at.type !== "range" && at.type !== "number")) return null;
      return number(at[name], at.type === "number" ? null : name === "max" ? 100 : 0);
    }

    // The value of a range, as Chrome computes it.
    function valueInRange(at, tag, role) {
      const given = getAttribute.call(at, "aria-valuenow");
      const { least, most } = boundsOf(at, tag, role);
      if (given) {
        const now = number(given, 0);
        if (least !== null && now < least) return String(least);
        return String(most !== null && now > most ? most : now);
      }
      if (tag === "meter") return String(at.value);
      if (tag === "input" && (at.type === "number" || at.type === "range")) return Number.isNaN(at.valueAsNumber) ? "" : String(at.valueAsNumber);
      if (tag === "progress" && at.position >= 0) return String(at.value);
      if (!hasOwnRole(at, role)) return "";
      if (role === "slider" || role === "scrollbar") return String(((least ?? 0) + (most ?? 100)) / 2);
      if (role === "meter") return tag === "progress" ? "" : String(least ?? 0);
      return role === "spinbutton" ? "0" : role === "separator" ? "50" : "";
    }

    // Whether the field is invalid only because it is required and empty. Text fields are not shown as
    // invalid then; controls with choices are.
    function isOnlyEmpty(at, tag, type) {
      return (tag === "textarea" || TEXTUAL.has(type)) && at.validity.valueMissing;
    }

    function number(text, otherwise) {
      const given = text === null || text === "" ? NaN : Number(text);
      return Number.isFinite(given) ? given : otherwise;
    }

    function descriptionOf(at) {
      const by = getAttribute.call(at, "aria-describedby");
      if (by !== null) {
        const found = describersOf(at, by);
        if (found.length) return found.every(isWords) ? found.map(wordsOf).join(" ") : textOfAll(found);
      }
      const given = getAttribute.call(at, "aria-description");
      if (given !== null) return given;
      if (at instanceof HTMLInputElement && BUTTONS.has(at.type) && hasAttribute.call(at, "value")) return at.value;
      if (at instanceof SVGElement) {
        const named = getAttribute.call(at, "aria-label") || getAttribute.call(at, "aria-labelledby");
        const own = query(at, named ? ":scope > desc, :scope > title" : ":scope > desc");
        if (own.length) return wordsOf(own[0]);
      }
      const title = getAttribute.call(at, "title");
      if (title === null) return "";
      const drawn = at instanceof HTMLElement ? innerText.call(at) : wordsOf(at);
      return title.trim() === drawn.trim() ? "" : title; // Chrome does not repeat it
    }

    // The elements that describe this one. Without ids in the attribute, they can be set as a property.
    function describersOf(at, by) {
      if (by.trim() === "") return own(at, "ariaDescribedByElements") ?? [];
      const root = getRootNode.call(at);
      return by.split(/\s+/).map((id) => byId(root, id)).filter(Boolean);
    }

    // Whether an element's text alternative is its text as written.
    function isWords(of) {
      if (!PLAIN.has(of.localName) || of.firstElementChild !== null || of.shadowRoot || !checkVisibility.call(of)) return false;
      if (closedRootOf(of) || of.getAttributeNames().some((name) => !/^(?:id|class|style)$/.test(name))) return false;
      const { textTransform, webkitTextSecurity, visibility } = getComputedStyle(of);
      if (textTransform !== "none" || webkitTextSecurity !== "none" || visibility !== "visible") return false;
      return ["::before", "::after"].every((which) => /^(?:none|normal)$/.test(getComputedStyle(of, which).content));
    }

    const wordsOf = (of) => read(of, Node.prototype, "textContent");

    function describe(at, role, what, name, line, attributed) {
      if (!attributed) return;
      const text = descriptionOf(at);
      if (text) extra(line, "description", text);
      if (what & HINTED) {
        const given = getAttribute.call(at, "placeholder"); // HTML forbids line breaks in it
        const spoken = EDITED.has(role) ? getAttribute.call(at, "aria-placeholder") : null;
        const hint = (given && given.replace(/[\r\n]+/g, "")) || spoken;
        if (hint) extra(line, "placeholder", hint);
      }
    }

    return { details, descriptionOf };
  };
})
