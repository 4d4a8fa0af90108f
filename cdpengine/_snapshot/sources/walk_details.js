// Adds the details of one element besides role and name: states in display order, value (never a secret
// field's), address, description, placeholder. A part of walk.js, which calls it once with `dom`, its
// document readers, and the result of secret_field.js. The result is called once for each walk with
//   extra(line, key, value)  a function that stores a detail
//   focused                  the focused element, or null
//   told(element)            the facts of Chrome's tree about a custom element (walk_internals.js), or
//   undefined
//   textIn(element)          the element's text, as Chrome uses it in names
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
  const RANGES = new Set(["meter", "progressbar", "scrollbar", "separator", "slider", "spinbutton"]);

  const { flatParent, read, byId, ofDocument, getAttribute, isEditingHost } = dom;

  return function ({ extra, focused, told, isDisabling, textIn }) {
    function details(at, tag, role, what, interactive, name, line, attributed, fullName) {
      const href = role === "link" ? at.href : undefined;
      if (href) {
        const url = typeof href === "string" ? href : absolute(href.baseVal);
        if (url.startsWith("http") || URL.canParse(url)) extra(line, "url", url);
      }
      const known = told(at);
      if (known !== undefined && known.told !== null) return fromTree(at, role, line, known.told);
      const native = NATIVE.has(tag);
      if (attributed && at.getAttribute("aria-busy") === "true") extra(line, "busy", true);
      if (isDisabled(at, tag, native, interactive)) extra(line, "disabled", true);
      if (at === focused) extra(line, "focused", true);
      if (native || attributed) states(at, tag, role, native, line);
      if (tag === "summary") {
        const parent = at.parentElement;
        if (parent && parent.localName === "details") extra(line, parent.open ? "expanded" : "collapsed", true);
      }
      const heading = role === "heading" ? /^h([1-6])$/.exec(tag) : null;
      const level = attributed ? parseInt(at.getAttribute("aria-level"), 10) : NaN;
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
        if (!doubtful || number(at.getAttribute(`aria-value${key}`), null) !== null) extra(line, key, value);
      }
    }

    function absolute(url) {
      return URL.canParse(url, ofDocument("baseURI")) ? new URL(url, ofDocument("baseURI")).href : url;
    }

    function treeLevel(at) {
      let level = 1;
      for (let node = flatParent(at); node !== null; node = flatParent(node)) {
        const role = getAttribute.call(node, "role");
        if (role === "tree") break;
        if (role === "group") level++;
      }
      return level;
    }

    function isDisabled(at, tag, native, interactive) {
      if (native || tag.includes("-")) {
        if (tag !== "fieldset" && at.matches(":disabled")) return true;
        if (tag === "option" && at.closest("select:disabled") !== null) return true;
      }
      if (tag === "video" || tag === "audio") return at.error !== null || at.networkState % 3 === 0;
      if (tag === "object") return !at.data && !at.type;
      if (!isDisabling()) return false;
      if (at.getAttribute("aria-disabled") === "true") return true;
      if (!interactive) return false;
      for (let node = at; node !== null; node = flatParent(node)) {
        const known = told(node);
        if (known !== undefined && known.told !== null) return known.disabled;
        const own = getAttribute.call(node, "aria-disabled");
        if (own !== null) return own === "true";
      }
      return false;
    }

    function states(at, tag, role, native, line) {
      const type = tag === "input" ? at.type : "";
      const says = (name) => at.getAttribute(name);
      const flag = (name, key) => says(name) === "true" && extra(line, key, true);

      const invalid = says("aria-invalid");
      if (invalid !== null && invalid !== "" && invalid !== "false") {
        if (role === "textbox" || !/^(?:grammar|spelling)$/.test(invalid)) extra(line, "invalid", true);
      } else if (native && invalid === null && at.matches(":invalid") && !isOnlyEmpty(at, tag, type)) {
        extra(line, "invalid", true);
      }
      const popup = says("aria-haspopup");
      if (popup !== null && popup !== "" && popup !== "false") {
        extra(line, "hasPopup", popup === "true" ? "menu" : popup);
      }
      if (role === "listbox" && at.multiple) extra(line, "multiselectable", true);
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
      if (tag === "select") {
        if (role !== "listbox") extra(line, at.matches(":open") ? "expanded" : "collapsed", true);
      } else if (EXPANDABLE.has(role) && (expanded === "true" || expanded === "false")) {
        extra(line, expanded === "true" ? "expanded" : "collapsed", true);
      } else if (at.popoverTargetElement) {
        extra(line, at.popoverTargetElement.matches(":popover-open") ? "expanded" : "collapsed", true);
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
      if (tag === "dialog" && at.matches(":modal")) extra(line, "modal", true);
      else if (role === "dialog" || role === "alertdialog") flag("aria-modal", "modal");
      if (at.isContentEditable && EDITABLE.has(role)) extra(line, "editable", true);
    }

    function isOfSecret(option) {
      const select = option.closest("select");
      return select !== null && isSecret(select);
    }

    function isSelectable(at, role) {
      if (!SELECTABLE.has(role)) return false;
      return !OF_A_GRID.has(role) || at.closest("[role=grid],[role=treegrid]") !== null;
    }

    function values(at, tag, role, line, attributed, fullName) {
      const type = tag === "input" ? at.type : "";
      let value = "";
      if (FIELDS.has(tag) && isSecret(at)) {
        if (type === "number") ranged(at, type, line, role);
        if (tag === "select" ? at.selectedIndex >= 0 : at.value !== "") extra(line, "value", null);
        return;
      }
      if (tag === "select") {
        const option = at.selectedOptions[0];
        value = !at.multiple && at.size <= 1 && option ? option.label : "";
      } else if (tag === "textarea") {
        value = at.value;
      } else if (type !== "") {
        if (type === "file") value = chosen(at, fullName);
        else if (!VALUELESS.has(type)) value = at.value;
        if (type === "range" || type === "number") ranged(at, type, line, role);
      } else if (tag === "progress") {
        value = at.hasAttribute("value") ? String(at.value) : "";
      } else if (tag === "meter") {
        value = String(at.value);
      } else if (attributed && isEditingHost(at)) {
        value = at.innerText;
        if (value !== "" && isSecret(at)) return void extra(line, "value", null);
      } else if (attributed) {
        if (RANGES.has(role)) value = valueInRange(at, role);
        else if (role === "combobox") value = textOfChoice(at);
        ranged(at, type, line, role);
      }
      if (value !== "") extra(line, "value", value);
    }

    // The choice of a custom combobox. Without the focus, Chrome treats it as a group of a field and a list.
    function textOfChoice(at) {
      if (at.tabIndex < 0 && !at.hasAttribute("tabindex")) return "";
      if (at.firstElementChild !== null || at.shadowRoot || at.hasAttribute("aria-owns")) return textIn(at);
      return read(at, Node.prototype, "textContent").replace(/\s+/g, " ").trim();
    }

    function chosen(at, fullName) {
      return at.files.length === 1 ? at.files[0].name : fullName.slice(fullName.lastIndexOf(": ") + 2);
    }

    // A slider always has bounds (ARIA 1.2, slider). A number field has only the bounds that the page sets.
    function ranged(at, type, line, role) {
      const always = role === "slider" || type === "range";
      if (role !== "slider" && role !== "spinbutton") return;
      const native = type === "range" || type === "number";
      const bound = (own, name) => number(native ? own : null, number(at.getAttribute(name), null));
      const least = bound(at.min, "aria-valuemin") ?? (always ? 0 : null);
      const most = bound(at.max, "aria-valuemax") ?? (always ? 100 : null);
      if (least !== null) extra(line, "valuemin", least);
      if (most !== null) extra(line, "valuemax", type === "range" ? Math.max(least, most) : most);
    }

    // The value of a range, as Chrome computes it.
    function valueInRange(at, role) {
      const given = at.getAttribute("aria-valuenow");
      if (given) {
        const now = number(given, 0);
        if (role === "spinbutton") return String(now);
        const least = number(at.getAttribute("aria-valuemin"), 0);
        return String(Math.max(least, Math.min(now, number(at.getAttribute("aria-valuemax"), 100))));
      }
      if (role === "slider" || role === "scrollbar") return String(middle(at));
      if (role === "meter") return String(number(at.getAttribute("aria-valuemin"), 0));
      return role === "spinbutton" ? "0" : role === "separator" ? "50" : "";
    }

    function middle(at) {
      const least = number(at.getAttribute("aria-valuemin"), 0);
      return least + (number(at.getAttribute("aria-valuemax"), 100) - least) / 2;
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
      let text = "";
      const by = at.getAttribute("aria-describedby");
      if (by) {
        const root = at.getRootNode();
        text = by.split(/\s+/).map((id) => byId(root, id)).filter(Boolean).map(textOf).join(" ");
      } else if (by !== null && at.ariaDescribedByElements?.length) {
        text = at.ariaDescribedByElements.map(textOf).join(" "); // set as a property
      } else if (at.hasAttribute("aria-description")) {
        text = at.getAttribute("aria-description");
      } else if (at.hasAttribute("title")) {
        text = at.getAttribute("title");
        if (text.trim() === read(at, Node.prototype, "textContent").trim()) text = ""; // Chrome does not repeat it
      }
      return text;
    }

    function describe(at, role, what, name, line, attributed) {
      if (!attributed) return;
      const text = descriptionOf(at);
      if (text) extra(line, "description", text);
      if (what & HINTED) {
        const given = at.getAttribute("placeholder"); // HTML forbids line breaks in it
        const spoken = EDITED.has(role) ? at.getAttribute("aria-placeholder") : null;
        const hint = (given && given.replace(/[\r\n]+/g, "")) || spoken;
        if (hint) extra(line, "placeholder", hint);
      }
    }

    function textOf(of) {
      const label = getAttribute.call(of, "aria-label");
      if (label || (FIELDS.has(of.localName) && isSecret(of))) return label || "";
      return read(of, Node.prototype, "textContent");
    }

    return { details, descriptionOf };
  };
})
