// Inspects a file input. Called on a node in an isolated world, with a request:
//   control   return the input itself; of a label, its control
//   await     milliseconds to wait for the input's next change or cancel event
// Returns the kinds of files that the input accepts, and the names that it holds, at the time of the event if any.
(function (request) {
  "use strict";

  let element = DOM.nodeType(this) === Node.ELEMENT_NODE ? this : DOM.parentElement(this);
  if (element && DOM.localName(element) === "label" && element.control) element = element.control;
  const isFiles = Boolean(element) && DOM.localName(element) === "input" && element.type === "file";
  if (request.control) return element;
  if (!isFiles) return { kind: "none", names: [] };

  function answer(event) {
    return {
      kind: "file",
      multiple: element.multiple,
      directory: element.webkitdirectory,
      names: Array.from(element.files, (file) => file.webkitRelativePath || file.name),
      event,
    };
  }

  if (!request.await) return answer("");
  return new Promise((resolve) => {
    const finish = (event) => {
      clearTimeout(timer);
      for (const name of ["change", "cancel"]) DOM.removeEventListener(element, name, finish, true);
      resolve(answer(event ? event.type : ""));
    };
    const timer = setTimeout(finish, request.await);
    for (const name of ["change", "cancel"]) DOM.addEventListener(element, name, finish, true);
  });
})
