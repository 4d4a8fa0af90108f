// Finds elements by Chrome's computedRole and computedName, which also answer for elements that the accessibility tree
// ignores. The request is { roles, internal, name, most }: roles; a selector of elements whose role has no ARIA name, or
// null; the name in lower case. Returns an array: first "true", then the elements; or only "false" if there are more
// than `most`, if Chrome lacks these properties, or if the page may have elements that scripts cannot reach: in a
// closed shadow root of a custom element, or in a control of Chrome. Runs in an isolated world: see finder.js.
(request, search) => {
  const PARTS = "video, audio, object, embed, input:is([type=date], [type=time], [type=month], [type=week], [type=datetime-local], [type=file])";
  const getter = (name) => Object.getOwnPropertyDescriptor(Element.prototype, name)?.get;
  const [role, name] = [getter("computedRole"), getter("computedName")];
  if (role === undefined || name === undefined || search.select(PARTS).length > 0) return ["false"];
  const found = [];
  for (const at of search.select("*")) {
    if (DOM.localName(at).includes("-") && DOM.shadowRoot(at) === null && DOM.matches(at, ":defined")) return ["false"];
    const own = role.call(at);
    if (!request.roles.includes(own) && !(own === "" && request.internal !== null && DOM.matches(at, request.internal))) continue;
    if (search.wanted(name.call(at)) !== request.name) continue;
    found.push(at);
    if (found.length > request.most) return ["false"];
  }
  return ["true", ...found];
}
