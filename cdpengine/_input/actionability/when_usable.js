// Probes a node and, if nothing hinders its use, runs a function on it in the same call. Called on the library,
// with the node, a request, the function `act`, which is called on the node with its argument and the library's
// key guards, and `change` of once.js, which calls `act`. The request:
//   probe     the request of actionability.js
//   visible, reached, editable, writable   the conditions: see `Usability` in requirements.py
//   act       the argument of `act`
// Returns { seen, made }: the probe's result and the return value of `act`, null if it was not called.
(async function (node, request, act, change) {
  "use strict";

  const seen = await this.probe(node, request.probe);
  const hindered =
    !seen.connected ||
    seen.renamed ||
    seen.disabled ||
    (request.visible && (seen.never || (seen.invisible && !seen.labelled))) ||
    (request.reached && seen.behind) ||
    (request.editable && seen.uneditable) ||
    (seen.readonly && (request.editable || (request.writable && !seen.chooses)));
  if (hindered) return { seen, made: null };
  const made = change(() => act.call(node, request.act, this.keys));
  return { seen, made: made instanceof Promise ? await made : made };
})
