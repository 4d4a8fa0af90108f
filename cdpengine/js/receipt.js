// Reads the record of a witness (see witness.js). Called on a node in an isolated world, with its tools and
//   id      the action's name
//   final   false: answers once there is something to tell (the action's last event was received, its press was held
//           back, the document goes), and can be asked before the witness is armed; true: answers now. With that, or
//           once the action is complete, the witness has ended
//   turn    without `final`: which arming of the witness is asked about
// Answers the record, or null where there never was such a witness.
(function (request, tools) {
  "use strict";

  const { id, final, turn } = request;
  const witness = tools.expected(id);
  if (!final && !witness.done) return new Promise((tell) => witness.waiting.push({ turn, tell }));
  witness.settle();
  if (!final && !witness.record.complete) return witness.record;
  tools.ended(id);
  witness.waiting.splice(0).forEach(({ tell }) => tell(witness.record));
  return witness.record;
})
