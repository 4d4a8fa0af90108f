// Creates a function that returns the choices that a control shows and holds, for listbox.js. A combobox may
// clear its input and show the choice next to it, as text or as removable chips, or keep it in a hidden field.
// Texts are returned as hashes only, because they may be secrets.
(function () {
  "use strict";

  const FIELDS = "input:not([type=hidden]), select, textarea, [contenteditable], [role~=combobox], [role~=textbox], " +
    "[role~=searchbox], [role~=spinbutton], [role~=slider], [role~=checkbox], [role~=switch], [role~=radio]";
  const REMOVES = "button, a, [role=button], [class*=remove], [class*=close], [class*=delete], [class*=clear]";
  const LIVE = "[aria-live], [role=status], [role=alert], [role=log]";
  const TYPED = ["text", "search", "email", "tel", "url"];
  const MOST_TEXTS = 300;
  const MOST_LEVELS = 7;

  // FNV-1a hash of a string in lower case.
  function number(text) {
    let made = 2166136261;
    for (const unit of text.toLowerCase()) made = Math.imul(made ^ unit.codePointAt(0), 16777619);
    return made >>> 0;
  }

  function once(make) {
    let made;
    return () => (made ??= [make()])[0];
  }

  return (element, list, tools) => {
    const { plain, isList, isBoxless, shown, boxed, flat, flatAncestors, flatParent, isIn, ownText, holder } = tools;
    const popup = list && holder(list);
    const around = popup && isIn(element, popup) ? list : popup; // never an ancestor of the control
    const inPopup = (each) => Boolean(around) && isIn(each, around);

    function isOther(field) {
      return !isIn(field, element) && !isIn(element, field) && !inPopup(field) && boxed(field) && field.tabIndex >= 0;
    }

    // The visible control: the largest ancestor that contains no other field and is not a form or region.
    function control() {
      const least = Math.max(200, 5 * element.offsetHeight);
      let at = element;
      for (let level = 0; level < MOST_LEVELS; level++) {
        const up = flatParent(at);
        if (!up || up instanceof HTMLFormElement || up === DOM.body(document) || DOM.matches(up, "html, dialog, fieldset, [role=dialog], main")) break;
        if (up.offsetHeight > least || Array.from(DOM.querySelectorAll(up, FIELDS)).some(isOther)) break;
        at = up;
        if (DOM.shadowRoot(at)) break; // a separate component
      }
      return at;
    }

    const whole = tools.isOpener(element) ? control() : null;

    // Hidden fields of the control, inside or directly adjacent.
    const hiddenFields = once(() => {
      if (!whole) return [];
      const beside = [whole.previousElementSibling, whole.nextElementSibling].filter((each) => each && DOM.matches(each, "input, select"));
      const inside = [whole, DOM.shadowRoot(whole)].flatMap((each) => Array.from(each ? DOM.querySelectorAll(each, "input, select") : []));
      return [...beside, ...inside].filter((each) => each !== element && (each.type === "hidden" || !boxed(each) || each.tabIndex < 0));
    });

    const native = once(() => {
      return hiddenFields().find((each) => each instanceof HTMLSelectElement) || null;
    });

    const texts = once(() => {
      const found = [];
      const visit = (of) => {
        for (const each of flatChildren(of)) {
          if (found.length >= MOST_TEXTS || each === around || isList(each) || DOM.matches(each, LIVE + ", select, script, style")) continue;
          if (!shown(each) && !isBoxless(each)) continue;
          const text = ownText(each);
          if (text) found.push([text, each]);
          visit(each);
        }
      };
      if (!whole) return found;
      if (ownText(whole)) found.push([ownText(whole), whole]);
      visit(whole);
      return found;
    });

    function flatChildren(of) {
      const slotted = DOM.localName(of) === "slot" ? of.assignedElements({ flatten: true }) : [];
      return slotted.length ? slotted : DOM.children(DOM.shadowRoot(of) || of);
    }

    // Chosen texts that can be removed individually: [label, the button that removes it].
    const chips = once(() => {
      const found = [];
      for (const [text, each] of texts()) {
        let at = each;
        for (let level = 0; level < 4 && at && at !== whole && !isIn(element, at); level++, at = flatParent(at)) {
          const remove = Array.from(flat(at)).find((one) => DOM.matches(one, REMOVES) && boxed(one) && !plain(DOM.textContent(one)).includes(text));
          const all = remove && texts().filter(([, one]) => isIn(one, at) && !isIn(one, remove));
          if (all && all.length === 1) {
            found.push([text, remove]);
            break;
          }
        }
      }
      return found.filter(([, remove], index) => found.findIndex(([, other]) => other === remove) === index);
    });

    const values = once(() => {
      return hiddenFields().flatMap((each) =>
        each instanceof HTMLSelectElement ? Array.from(each.selectedOptions, (one) => one.value) : [each.type === "checkbox" || each.type === "radio" ? String(each.checked) : each.value],
      );
    });

    // The field in which options are searched by text: the control itself, or a field in it or in the popup.
    const typable = once(() => {
      const takes = (each) =>
        each instanceof HTMLInputElement && TYPED.includes(each.type) && !each.readOnly && !each.disabled && boxed(each);
      if (!whole) return null;
      if (takes(element)) return element;
      const above = popup ? Array.from(flatAncestors(popup)).slice(0, 4).filter((each) => each !== DOM.body(document) && !isIn(element, each)) : [];
      for (const of of [element, ...above]) for (const each of flat(of)) if (takes(each)) return each;
      return null;
    });

    return { whole, native, texts, chips, values, typable, number, removes: REMOVES };
  };
})
