// Probes a node, and does something to it in the same call where nothing stands in the way. Called on the library, with
// the node, a request, the function `act`, which is called on the node with its argument and the library's key guards,
// and `change` of once.js, which calls `act`. The request:
//   probe     what actionability.js is asked
//   visible, reached, editable, writable   what has to hold: see `Usability` in inspection.py, which names what does not
//   act       the argument of `act`
// Answers { seen, made }: what the probe saw, and what `act` answered; null where it was not called.
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
