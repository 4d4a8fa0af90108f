// Reads the record of a witness (see witness.js). Called on a node in an isolated world, with its tools and
//   id      the action's name
//   final   false: answers once the action's last event was received, and can be asked before the witness is armed;
//           true: answers now, and ends the witness
// Answers the record, or null where there never was such a witness.
(function (request, tools) {
  "use strict";

  const { id, final } = request;
  const witness = tools.expected(id);
  if (!final) {
    if (witness.record?.complete) return witness.record;
    return new Promise((tell) => witness.waiting.push(tell));
  }
  witness.unlisten();
  document.cdpengineWitnesses.delete(id);
  if (document.cdpengineWitnesses.size === 0) delete document.cdpengineWitnesses;
  const record = witness.record && { ...witness.record, hovered: witness.hovered() };
  witness.waiting.splice(0).forEach((tell) => tell(record));
  return record;
})
