// Makes the object that searches a document, kept in its isolated world for the document's life, so that a search sends
// no source. `search` is the result of node_search.js, `makeMatching` is matching.js, `scripts` are the scripts by name.
//   call(name, request, ...given)   the result of a script, called with the request, `search`, the result of
//                                   matching.js, and the given remote objects as an array
//   find(name, request, ...given)   the same for a script that returns a JSON string and elements. The elements get
//                                   numbers from `first` on, which it adds to the string. They are not kept alive.
//   element(number)                 an element of the last `find`; undefined for one that is gone
(search, makeMatching, scripts) => {
  const MOST_NUMBERED = 100;
  let numbered = [];
  let first = 0;

  const call = (name, request, ...given) => scripts[name](request, search, makeMatching(search, given), given);
  return {
    document,
    call,
    find: (name, request, ...given) => {
      const [head, ...found] = call(name, request, ...given);
      first += numbered.length;
      numbered = found.slice(0, MOST_NUMBERED).map((element) => new WeakRef(element));
      return [head.slice(0, -1) + `,"first":${first}}`, ...found];
    },
    element: (number) => numbered[number - first]?.deref(),
  };
}
