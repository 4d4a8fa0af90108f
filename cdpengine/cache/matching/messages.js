// Reads the feedback of a document: alerts, statuses, elements with a class or id such as "error", and fields that are
// marked as invalid. `roots` are the document and its open shadow roots. The probe passes `isShown` and `nameIn`.
// Returns { messages: [{ kind, text }], invalid: [name] }; `kind` is "alert", "status" or "named".
// Runs in an isolated world and changes nothing.
(roots, isShown, nameIn) => {
  const method = (proto, name) => Function.prototype.call.bind(proto[name]);
  const getter = (proto, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(proto, name).get);
  const matches = method(Element.prototype, "matches");
  const contains = method(Node.prototype, "contains");
  const textContent = getter(Node.prototype, "textContent");
  const search = (root, css) =>
    (root instanceof Document ? Document : root instanceof DocumentFragment ? DocumentFragment : Element)
      .prototype.querySelectorAll.call(root, css);

  const ALERT = "[role~=alert i], [role~=alertdialog i], [aria-live=assertive i]";
  const STATUS = "[role~=status i], output, [aria-live=polite i]";
  const NAMED = ["error", "alert", "invalid", "danger", "warning"].flatMap((word) => [`[class*=${word} i]`, `[id*=${word} i]`]).join(", ");
  const FIELDS = "input, select, textarea, [aria-invalid]";
  const INVALID = "[aria-invalid]:not([aria-invalid=false i], [aria-invalid='']), :user-invalid";
  const MOST = 20;
  const LONGEST = 300; // maximum length of a message, in characters

  const messages = [];
  const invalid = [];
  for (const root of roots) {
    const found = [...search(root, `${ALERT}, ${STATUS}, ${NAMED}`)].filter((at) => !matches(at, "html, body, form, input, select, textarea"));
    for (const at of found) {
      if (messages.length >= MOST) break;
      if (found.some((other) => other !== at && contains(at, other)) || !isShown(at)) continue;
      const text = textContent(at).replace(/\s+/g, " ").trim();
      if (text === "" || text.length > LONGEST) continue;
      messages.push({ kind: matches(at, ALERT) ? "alert" : matches(at, STATUS) ? "status" : "named", text });
    }
    for (const at of search(root, FIELDS)) {
      if (invalid.length < MOST && matches(at, INVALID) && isShown(at)) invalid.push(nameIn(at));
    }
  }
  return { messages, invalid };
}
