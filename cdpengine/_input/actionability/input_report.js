// Reads the record of an observer (see input_observer.js). Called on a node in an isolated world, with its tools and
//   id      the action's name
//   final   false: answers once there is something to report (the action's last event was received, its press was held
//           back, the document goes), and can be asked before the observer is armed; true: answers now. With that, or
//           once the action is complete, the observer has ended
//   turn    without `final`: which arming of the observer is asked about
// Answers the record, or null where there never was such an observer.
(function (request, tools) {
  "use strict";

  const { id, final, turn } = request;
  const last = tools.lastEnded();
  if (last && last.id === id) return last.record;
  const observer = tools.expected(id);
  if (!final && !observer.done) return new Promise((tell) => observer.waiting.push({ turn, tell }));
  observer.settle();
  if (!final && !observer.record.complete) return observer.record;
  tools.ended(id);
  observer.waiting.splice(0).forEach(({ tell }) => tell(observer.record));
  return observer.record;
})
