// Makes the strings that patterns search. The request is { leaf, patterns }: a leaf of matching.js, and the names of
// the criteria that are patterns. Returns an object. `elements` has the elements that match the leaf, or all that have
// such strings. `index` is { text, elements: [start, end, after], strings, invalid }. For the criterion "text", it has
// the visible text, and for each element the range of its text and the index after its last descendant. `strings`
// has for each other criterion a list of strings for each element. Runs in an isolated world.
(request, search, matching) => {
  const { text: held, ...others } = request.leaf;
  let found = null;
  try {
    found = matching.matchesOf(others);
  } catch (error) {
    if (error.selector === undefined) throw error;
    return { elements: [], index: { invalid: String(error.message) } };
  }
  const strings = {};
  for (const criterion of request.patterns) {
    if (criterion === "text") continue;
    strings[criterion] = matching.stringsOf(criterion);
    found = found === null ? search.inOrder(strings[criterion].keys()) : found.filter((each) => strings[criterion].has(each));
  }
  if (held !== undefined) found = search.withText(held, found, request.leaf.exact);
  const index = { text: "", elements: [], strings: {}, invalid: "" };
  if (request.patterns.includes("text")) {
    const { text, places } = search.visibleText(true);
    const among = found === null ? null : new Set(found);
    const kept = among === null ? places : places.filter((place) => among.has(place.element));
    found = kept.map((place) => place.element);
    index.text = text;
    index.elements = kept.map((place) => [place.start, place.end, place.after]);
  }
  for (const criterion of Object.keys(strings)) {
    index.strings[criterion] = found.map((element) => strings[criterion].get(element).map(search.collapsed));
  }
  return { elements: found, index };
}
