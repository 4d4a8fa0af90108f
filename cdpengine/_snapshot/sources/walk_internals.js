// What custom elements say of themselves by their ElementInternals, which no other script can read: Chrome's tree has
// it, and the walk is told. A part of walk.js, which calls it once, with the walk's own `reuse` of parts.
(function (reuse) {
  "use strict";

  const { matches } = Element.prototype;
  const known = new WeakMap(); // custom element -> { told: [key, value, ...], disabled }
  let someDisabled = false; // one of them was at some time

  return {
    // What Chrome's tree says of an element; undefined where the walk was told nothing.
    ofElement: (at) => known.get(at),

    mayDisable: () => someDisabled,

    isCustom: (at, tag) => tag.includes("-") && at instanceof HTMLElement && matches.call(at, ":defined"),

    // Takes note of what is told of elements. The last walk said something else of those that are `wrong`.
    note(elements, told, wrong) {
      let spread = false; // to what is in them
      elements.forEach((element, index) => {
        if (!(element instanceof Element)) return;
        const disabled = told[index].includes("disabled");
        if (disabled !== (known.get(element)?.disabled ?? false)) spread = true;
        someDisabled = someDisabled || disabled;
        known.set(element, { told: told[index], disabled });
      });
      if (spread) reuse.forgetAll();
      else reuse.spoilAround(wrong.filter((each) => each instanceof Element));
    },
  };
})
