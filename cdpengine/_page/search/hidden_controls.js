// Finds radios, checkboxes and file inputs hidden behind visible labels, which Chrome's accessibility tree omits.
// The request is { roles, most }; null means all roles. Returns an array: first a JSON string { descriptions },
// for each element its role, a line break and its name; then the elements, at most `most`. Runs in an isolated
// world: see finder.js.
(request, search) => {
  const ROLES = { radio: "radio", checkbox: "checkbox", file: "button" };
  const isShown = (at) => DOM.checkVisibility(at, { visibilityProperty: true });
  const found = [];
  for (const at of search.select("input[type=radio i], input[type=checkbox i], input[type=file i]")) {
    const given = (DOM.getAttribute(at, "role") ?? "").trim().split(/\s+/)[0].toLowerCase();
    const role = given || ROLES[at.type];
    if ((request.roles !== null && !request.roles.includes(role)) || isShown(at)) continue;
    const labels = (at.labels.length ? Array.from(at.labels) : (at.ariaLabelledByElements ?? [])).filter(isShown);
    if (labels.length === 0) continue;
    const said = DOM.getAttribute(at, "aria-label") ?? labels.map((label) => DOM.innerText(label)).join(" ");
    found.push([at, `${role}\n${said.replace(/\s+/g, " ").trim()}`]);
    if (found.length === request.most) break;
  }
  return [JSON.stringify({ descriptions: found.map(([, text]) => text) }), ...found.map(([at]) => at)];
}
