// Adds a script, a style sheet or a link to one to the document, and waits until it has loaded. The request:
//   style     whether it is a style sheet, not a script
//   url, content, type   the source: one of url and content, and the type of a script ("" for a classic one)
//   guarded   whether the document has a Content Security Policy
// Returns the element. Throws an Error with a reason after "cdpengine: " if it was refused or did not load. Runs in an
// isolated world.
(request) =>
  new Promise((resolve, reject) => {
    const REPORT_MS = 100; // the report of a violation follows it in another task
    const { style, url, content, type, guarded } = request;
    const name = !style ? "script" : url === null ? "style" : "link";
    const element = Document.prototype.createElement.call(document, name);
    let refusal = "";
    let reported = () => {};

    function violated(event) {
      if (event.target !== element && event.target !== document) return;
      refusal = "the page's Content Security Policy refuses it (" + event.effectiveDirective + ")";
      reported();
    }

    function end(reason) {
      DOM.removeEventListener(document, "securitypolicyviolation", violated, true);
      if (reason === "") return resolve(element);
      if (DOM.isConnected(element)) element.remove();
      reject(new Error("cdpengine: " + reason));
    }

    // Ends when a violation is reported, or with another reason after some time.
    function endAfterReport(otherwise) {
      const timer = setTimeout(() => end(refusal || otherwise), REPORT_MS);
      reported = () => {
        clearTimeout(timer);
        end(refusal);
      };
      if (refusal) reported();
    }

    DOM.addEventListener(document, "securitypolicyviolation", violated, true);
    element.addEventListener("load", () => url !== null && end(""));
    element.addEventListener("error", () => url !== null && endAfterReport("it did not load"));
    try {
      if (name === "link") {
        element.rel = "stylesheet";
        element.href = url;
      } else if (url !== null) {
        element.src = url;
      } else {
        element.append(content);
      }
      if (name === "script" && type) element.type = type;
      (DOM.querySelector(document, "head") ?? DOM.documentElement(document)).append(element);
    } catch (error) {
      return end(String(error.message));
    }
    if (url !== null) return;
    const unused = name === "style" && element.sheet === null;
    if (guarded || unused) return endAfterReport(unused ? "the page refuses it" : "");
    end("");
  })
