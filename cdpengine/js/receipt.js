// Reads the record of a witness (see witness.js). Called on a node in an isolated world, with its tools and
//   id      the action's name
//   final   false: answers once the action's last event was received, and can be asked before the witness is armed;
//           true: answers now. With its answer the witness has ended
//   turn    without `final`: which arming of the witness is asked about
// Answers the record, or null where there never was such a witness.
(function (request, tools) {
  "use strict";

  const { id, final, turn } = request;
  const witness = tools.expected(id);
  if (!final && !witness.record?.complete) return new Promise((tell) => witness.waiting.push({ turn, tell }));
  tools.ended(id);
  witness.waiting.splice(0).forEach(({ tell }) => tell(witness.record));
  return witness.record;
})
