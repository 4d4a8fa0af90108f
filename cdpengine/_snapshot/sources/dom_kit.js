// Makes a kit of roles and names from the DOM alone outside of the walk. Takes the functions of dom_roles.js,
// dom_names.js, dom_text.js, secret_field.js, walk_dom.js, walk_elements.js and walk_owners.js. The result returns
// a new kit at each call: see dom_names.js. It takes the facts about custom elements, if any: see dom_roles.js.
(function (makeRoles, makeNames, makeText, makeSecret, makeDom, makeElements, makeOwners) {
  "use strict";

  return (given) => {
    const dom = makeDom();
    const isHider = (at) => dom.getAttribute.call(at, "aria-hidden") === "true";
    const moves = makeOwners(dom, makeElements(dom), isHider).find();
    return makeNames(makeRoles(given, moves), makeText(), makeSecret());
  };
})
