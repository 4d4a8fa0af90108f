// The roles, names, states and aria-hidden that custom elements set through their ElementInternals. No other
// script can read these. The engine reads them from Chrome's tree and passes them to the walk. A part of
// walk.js, which calls it once with its `reuse` of parts and `dom`, its document readers.
(function (reuse, dom) {
  "use strict";

  const { matches } = Element.prototype;
  // custom element -> { told: [key, value, ...] or null, role, name, by, hidden, disabled }; see `Internals`
  // in columns.py
  const known = new WeakMap();
  let someDisabled = false; // whether any of them was ever disabled
  let someHidden = false;
  let someNamed = false;

  const ofElement = (at) => known.get(at);

  const isCustom = (at, tag) => tag.includes("-") && at instanceof HTMLElement && matches.call(at, ":defined");

  // The same with Chrome's role and name, for documents whose roles and names are Chrome's. Chrome may have no
  // name for content under aria-hidden, so an empty name is `unsure`.
  function withNames(at) {
    const found = known.get(at);
    if (!isCustom(at, dom.localName.call(at))) return found;
    const name = at.computedName;
    const title = dom.getAttribute.call(at, "title");
    const by = dom.getAttribute.call(at, "aria-labelledby") !== null ? "aria-labelledby" : name && name !== title ? "aria-label" : "";
    return { told: null, hidden: false, disabled: false, ...found, role: at.computedRole, name, by, unsure: name === "" };
  }

  return {
    // The facts of Chrome's tree about an element; undefined if it has none.
    ofElement,

    withNames,

    mayDisable: () => someDisabled,

    mayName: () => someNamed,

    // Whether an element hides itself from the accessibility tree, by its attribute or its internals.
    isHider: (at) => dom.getAttribute.call(at, "aria-hidden") === "true" || (someHidden && ofElement(at)?.hidden === true),

    isCustom,

    // Stores the facts of Chrome's tree about elements. The last walk was wrong about the elements in
    // `wrong`.
    note(elements, told, wrong) {
      let spread = false; // whether descendants are affected
      elements.forEach((element, index) => {
        if (!(element instanceof Element)) return;
        const [hidden, role, name, by, says] = told[index];
        const disabled = says !== null && says.includes("disabled");
        const before = known.get(element);
        if (disabled !== (before?.disabled ?? false) || hidden !== (before?.hidden ?? false)) spread = true;
        someDisabled = someDisabled || disabled;
        someHidden = someHidden || hidden;
        someNamed = someNamed || name !== "";
        if (says === null && !hidden) known.delete(element);
        else known.set(element, { told: says, role, name, by, hidden, disabled });
      });
      if (spread) reuse.forgetAll();
      else reuse.spoilAround(wrong.filter((each) => each instanceof Element));
    },
  };
})
