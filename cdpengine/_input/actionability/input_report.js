// Returns the record of an observer (see input_observer.js), or null if no such observer exists. Called on a
// node in an isolated world, with the node's tools and
//   id      the action's id
//   final   true: report now and end the observer. false: report when the action's last event was received, its
//           press was held back, or the document is unloading; this may be requested before the observer is
//           armed. An observer of a complete action ends in both cases
//   turn    without `final`: the number of the arming that the request belongs to
(function (request, tools) {
  "use strict";

  const { id, final, turn } = request;
  const last = tools.lastEnded();
  if (last && last.id === id) return last.record;
  const observer = tools.expected(id);
  if (!final && !observer.done) return new Promise((resolve) => observer.waiting.push({ turn, resolve }));
  observer.settle();
  if (!final && !observer.record.complete) return observer.record;
  tools.ended(id);
  observer.waiting.splice(0).forEach(({ resolve }) => resolve(observer.record));
  return observer.record;
})
