// Prepares a form control for filling, or fills it if it takes no typed text. Called on a node in an isolated
// world, with { entered, script, guard }: the string for each input type, "" for all others; whether to set inputs
// that take no text right now; the request of key_guard.js for the input that follows. Then with the key
// guards, and the parts secret_field.js, field_values.js and mask.js. With `select`, all text is selected even
// if a mask placed its caret. Returns a description of the control:
//   kind     "text": it has the focus, and its content is selected. "set": it was set, and the page received the
//            events. "keys": it has the focus, and keys can set its value (a range: those in `keys`; `focused`:
//            it had the focus before). "toggle", "select", "listbox", "slider", "file", "sections": a control
//            that other modules handle. "none": it cannot be filled, see reason
//   reason   why the value was refused; nothing was changed then
//   holds    the value that the control holds instead of a refused one; null for a secret field
//   fresh    it is a field that held another value before
//   editor   it is a code editor, which has the focus; its text is elsewhere
//   masked   it looks masked. It has the focus, and the caret is where the page put it, or everything is
//            selected
//   typable  it is an input of a type that a mask can be applied to
//   literals the characters that the mask shows between its blanks; `prefix`: those before the first blank
(function (request, keys, isSecret, values, masks) {
  "use strict";

  const TYPED = ["text", "search", "url", "tel", "email", "password", "number"];
  const MOST_STEPS = 100;
  const FIELDS = "input:not([type=hidden], [type=button], [type=submit], [type=reset], [type=image]), textarea, select, [contenteditable]:not([contenteditable=false]), [role=spinbutton], [role=textbox]";
  const MOST_FIELDS = 8;
  const FORMATS = {
    date: "an existing date as YYYY-MM-DD",
    month: "a month as YYYY-MM",
    week: "a week as YYYY-Www, such as 2026-W07",
    time: "a time as HH:MM or HH:MM:SS, from 00:00 to 23:59",
    "datetime-local": "an existing date and time as YYYY-MM-DDTHH:MM",
    color: "a color as #rrggbb",
  };
  const UNSAFE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu; // control characters etc., unsuitable for an error message

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (!element) return { kind: "none", reason: "it is not an element", holds: null };
  if (DOM.localName(element) === "label" && element.control) element = element.control;

  const editor = keys.editorInput(element);
  if (editor) element = editor;

  const isInput = DOM.localName(element) === "input";
  const isField = isInput || DOM.localName(element) === "textarea";
  const secret = isSecret(element);

  function holds() {
    if (secret) return null;
    return isField ? element.value : DOM.innerText(element);
  }

  function answer(kind, reason) {
    return { kind, type: isInput ? element.type : DOM.localName(element), reason, holds: reason ? holds() : null };
  }

  // A limit of a range in words.
  function boundsOf(word, name, otherwise) {
    const number = parseFloat(DOM.getAttribute(element, name));
    return " " + word + " " + (Number.isFinite(number) ? number : otherwise);
  }

  // The keys that move a range to this value, from its current value or from an end; [] if there are too many.
  function rangeKeys(value) {
    const limit = (name, otherwise) => {
      const number = parseFloat(DOM.getAttribute(element, name));
      return Number.isFinite(number) ? number : otherwise;
    };
    const least = limit("min", 0);
    const most = Math.max(least, limit("max", 100));
    // In a vertical range the direction of ArrowUp depends on the style.
    if (!getComputedStyle(element).writingMode.startsWith("horizontal")) return [];
    if ((DOM.getAttribute(element, "step") || "").toLowerCase() === "any") return [];
    const step = limit("step", 1) > 0 ? limit("step", 1) : 1;
    const end = least + Math.floor((most - least) / step + 1e-9) * step;
    // A page is a tenth of the range. Page keys are used only if a page is a whole number of steps.
    const tenth = (most - least) / 10 / step;
    const page = tenth > 1 && Math.abs(tenth - Math.round(tenth)) < 1e-9 ? Math.round(tenth) : Infinity;
    const ways = [[Number(element.value)], [least, "Home"], [end, "End"]].map(([from, ...first]) => {
      const steps = Math.round((value - from) / step);
      const pages = Math.floor(Math.abs(steps) / page);
      const singles = pages ? Math.abs(steps) - pages * page : Math.abs(steps);
      if (singles > MOST_STEPS) return null;
      const [by, byPage] = steps < 0 ? ["ArrowDown", "PageDown"] : ["ArrowUp", "PageUp"];
      return [...first, ...Array(pages).fill(byPage), ...Array(singles).fill(by)];
    });
    return ways.reduce((one, other) => (one && (!other || one.length <= other.length) ? one : other)) || [];
  }

  function focused() {
    let host = element;
    while (DOM.isContentEditable(host) && DOM.parentElement(host) && DOM.isContentEditable(DOM.parentElement(host))) {
      host = DOM.parentElement(host);
    }
    const root = DOM.getRootNode(host);
    // An editable body is the active element of its frame even if the frame does not have the focus.
    if (DOM.activeElement(root) !== host || !DOM.hasFocus(document)) DOM.focus(host, { preventScroll: false });
    return DOM.activeElement(root) === host && DOM.hasFocus(document) ? host : null;
  }

  // Names the fields in a group that can be filled in, such as the parts of a date; "" if none.
  function fieldsWithin() {
    const found = [element, DOM.shadowRoot(element)].filter(Boolean).flatMap((root) => Array.from(DOM.querySelectorAll(root, FIELDS)));
    const seen = found.filter((each) => DOM.checkVisibility(each, { visibilityProperty: true }) && !DOM.matches(each, "[aria-hidden=true]"));
    const fields = seen.slice(0, MOST_FIELDS).map((each) => {
      const kind = (DOM.getAttribute(each, "role") || (each.type === "range" ? "slider" : DOM.localName(each))).trim();
      const labels = DOM.ariaLabelledByElements(each) ?? each.labels ?? [];
      const label = DOM.getAttribute(each, "aria-label") || Array.from(labels, (one) => DOM.textContent(one)).join(" ");
      return [kind, label && JSON.stringify(label)].filter(Boolean).join(" ").replace(UNSAFE, " ").slice(0, 60);
    });
    if (!fields.length) return "";
    return "; fill in one of its fields: " + fields.join(", ") + (seen.length > MOST_FIELDS ? ", and more" : "");
  }

  // A focus handler may have removed the element, or replaced the whole document.
  function unfocused() {
    return DOM.isConnected(element) ? "it does not take the keyboard focus" : "the page removed it when it got the focus";
  }

  const role = (DOM.getAttribute(element, "role") || "").trim().split(/\s+/)[0];
  if (DOM.localName(element) === "select" || DOM.localName(element) === "option") return answer("select", "");
  if (isInput && element.type === "file") return answer("file", "");
  if (isInput && (element.type === "checkbox" || element.type === "radio")) return answer("toggle", "");

  // A read-only field whose value is chosen from a list.
  const opens = role === "combobox" || ["listbox", "tree", "grid"].includes(DOM.getAttribute(element, "aria-haspopup"));
  if (isInput && opens && (element.readOnly || DOM.getAttribute(element, "aria-readonly") === "true")) return answer("listbox", "");

  // The hidden input of a date field with sections, kept for forms. It passes the focus on to the first section.
  const unused = isInput && (element.tabIndex < 0 || DOM.getAttribute(element, "aria-hidden") === "true");
  const group = unused && DOM.closest(element, "[role=group]");
  if (group && DOM.querySelector(group, "[role=spinbutton][aria-valuemax]:not(input)")) return answer("sections", "");

  const text = request.entered[isInput ? element.type : ""] ?? request.entered[""];

  if (isInput && !values.isTyped(element.type)) {
    const taken = values.sanitized(element, text);
    if (text !== "" && !values.isSame(element, text, taken)) {
      const made = taken === "" ? "nothing" : secret ? "something else" : JSON.stringify(taken);
      const takes = FORMATS[element.type] || "a number" + boundsOf("from", "min", "0") + boundsOf("to", "max", "100");
      return answer("set", "an input of type " + element.type + " turns the value into " + made + "; it takes " + takes);
    }
    let scripted = false;
    const before = DOM.activeElement(DOM.getRootNode(element)) === element;
    if (!focused()) return answer("set", unfocused());
    if (element.value !== taken && !request.script && element.type !== "color") {
      const moves = element.type === "range" ? rangeKeys(Number(taken)) : [];
      const labelled = this !== element;
      keys.arm(request.guard, element, element);
      return { ...answer("keys", ""), keys: moves, focused: before, labelled, range: element.type === "range" };
    }
    // Segments may hold parts of a date that do not form a value yet.
    if (element.value !== taken || (taken === "" && element.validity.badInput)) {
      scripted = true;
      element.value = taken;
      DOM.dispatchEvent(element, new Event("input", { bubbles: true, composed: true }));
      DOM.dispatchEvent(element, new Event("change", { bubbles: true }));
    }
    const left = values.isSame(element, taken, element.value) ? "" : "the page replaced the value";
    return { ...answer("set", left), scripted };
  }

  if (editor) {
    const host = focused();
    if (host) keys.arm(request.guard, host, host);
    return { ...answer("text", host ? "" : unfocused()), editor: true };
  }
  if (!DOM.isContentEditable(element) && !(isInput && TYPED.includes(element.type)) && DOM.localName(element) !== "textarea") {
    if (["checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"].includes(role)) return answer("toggle", "");
    if (["listbox", "combobox"].includes(role) || DOM.getAttribute(element, "aria-haspopup") === "listbox") {
      return answer("listbox", "");
    }
    if (role === "slider") return answer("slider", "");
    const what = isInput ? "an input of type " + element.type : "a " + DOM.localName(element);
    return answer("none", what + " cannot be filled in" + fieldsWithin());
  }
  if (isInput) {
    if (/[\r\n]/.test(text)) return answer("text", "it has a single line, but the text contains line breaks");
    if (element.type === "number" && text !== "" && values.sanitized(element, text) === "") return answer("text", "the text is not a number; it takes one such as -2.5");
  }
  if (isField && element.maxLength >= 0 && text.length > element.maxLength) {
    return answer("text", "it takes " + element.maxLength + " characters at most, but " + text.length + " were given");
  }
  const fresh = isField && !values.wasTaken(text, element.value, element.type === "number");
  const before = isField ? element.value : "";
  const already = DOM.activeElement(DOM.getRootNode(element)) === element;
  const since = isInput && masks.isTypable(element) ? keys.mark() : null;
  const host = focused();
  if (!host) return answer("text", unfocused());

  keys.before = before; // for read_back.js
  const typable = isInput && masks.isTypable(element) && fresh;

  const labelled = this !== element;

  function take(masked) {
    // A mask without a value has placed the caret at its first blank.
    if (!isField) getSelection().selectAllChildren(element);
    else if (!masked || request.select || !masks.isBlank(element.value)) element.select();
    keys.arm(request.guard, host, host, since);
    const literals = masked ? element.value.replace(/[\p{L}\p{N}_#•·]/gu, "") : "";
    const [prefix] = masked && masks.isBlank(element.value) ? /^[^_#•·]*/.exec(element.value) : [""];
    return { ...answer("text", ""), fresh: fresh && !masked, masked, literals, prefix, typable, labelled, focused: already };
  }

  if (!isInput || !masks.isMasked(element, before)) return take(false);
  return keys.settle(since).then(() => (focused() ? take(true) : answer("text", unfocused())));
})
