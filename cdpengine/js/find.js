// Finds elements of this document: request { css, text, most }, each of the first two may be null. Answers an
// array: first { count, descriptions } or { invalid: why the selector is none }, then the elements, at most `most`.
// Runs in an isolated world; `looking` is what looking.js makes.
(request, looking) => {
  let found = null;
  if (request.css !== null) {
    try {
      found = looking.select(request.css);
    } catch (error) {
      return [{ invalid: String(error.message) }];
    }
  }
  if (request.text !== null) found = looking.withText(request.text, found);
  const kept = (found || []).slice(0, request.most);
  return [{ count: found.length, descriptions: kept.map(looking.describe) }, ...kept];
}
