// Reports the state of a node, and which elements would receive an event at given points of its document. Called
// on a node in an isolated world, with a request, the node's tools and states (node_tools.js, node_states.js) and a
// function that arms an observer:
//   points     [[x, y], ...] in CSS pixels of this document's viewport, for the hit test
//   fractions  the points are fractions (0..1) of the viewport's size instead
//   settle     sample the position over two animation frames even if no animation runs
//   dragging   a drag is under way: the dragged element, if it is in this document, covers nothing
//   observer   the request of the input observer to arm if nothing in this document hinders the action, or null
//   expected   the expected role and name (see naming.js), or null. On a mismatch nothing is armed
//   quick      choose the node's middle as the point if it needs no measuring and no scrolling. Otherwise test
//              no point, wait for nothing and arm nothing. `points` is ignored
// Returns plain JSON, directly or as a promise: see answer().
(function (request, tools, states, arm, known, labelOf) {
  "use strict";

  const FRAME_LIMIT_MS = 100; // used instead of frames where the page gets none (a throttled page)
  // STILL: properties whose animation moves nothing. ALONE: properties whose animation moves the animated
  // element only.
  const STILL = /^(opacity|color|fill|stroke|filter|visibility|cursor|backdropFilter|boxShadow|textShadow|(background|outline|caret|textDecoration|accent).*|border.*Color|.*Timing.*)$/;
  const ALONE = /^(transform|translate|rotate|scale|clipPath|mask.*|offset(Path|Distance|Rotate|Anchor)?)$/;
  const OF_A_KEYFRAME = ["offset", "computedOffset", "easing", "composite"];

  const node = this;
  const { element, imageOf, flatAncestors, describe, rects, roots, elementAt, receives, pointsOf, takers, pseudo } = tools;
  const { neverBecause, invisibleBecause, disabledBecause, editing } = states;

  function position() {
    return rects().map((r) => r.x + " " + r.y + " " + r.width + " " + r.height).join();
  }

  // Describes the modal dialog that makes the element unusable, or "".
  function behindModal() {
    const modal = Array.from(DOM.querySelectorAll(document, "dialog:modal")).at(-1);
    if (!modal || Array.from(flatAncestors(element)).includes(modal)) return "";
    return describe(modal) + " is a modal dialog, which has to be closed first";
  }

  // Describes the other action that has to clear the way first, or "" if none is known.
  function freedBy(hit) {
    for (const at of hit ? flatAncestors(hit) : []) {
      const around = Array.from(flatAncestors(element)).includes(at);
      if (!around && DOM.matches(at, "dialog:modal, [aria-modal=true]")) {
        return describe(at) + " is a modal dialog, which has to be closed first";
      }
    }
    let inner = null;
    for (const at of flatAncestors(element)) {
      if (DOM.matches(at, "dialog:not([open])")) return describe(at) + " is a closed dialog, which has to be opened first";
      if (DOM.matches(at, "details:not([open])") && !(inner && DOM.matches(inner, "details > summary:first-of-type"))) {
        return describe(at) + " is closed, and has to be opened first";
      }
      if (DOM.hasAttribute(at, "popover") && !DOM.matches(at, ":popover-open")) {
        return describe(at) + " is a closed popover, which has to be opened first";
      }
      if (DOM.hasAttribute(at, "inert")) return describe(at) + " is inert, which the page has to end first";
      if (at !== element && DOM.matches(at, "fieldset[disabled]")) {
        return describe(at) + " is disabled, and has to be enabled first";
      }
      inner = at;
    }
    return behindModal();
  }

  // The node's middle if it is one upright box, fully in view and not clipped by an ancestor; else null.
  // Whole pixels: Chrome floors the coordinates of a mouse event before it determines the target.
  function middleInView() {
    const { scale, offsetLeft, offsetTop, width, height } = visualViewport;
    const boxes = scale === 1 && !offsetLeft && !offsetTop && !imageOf(element) ? rects() : [];
    if (boxes.length !== 1) return null;
    const box = boxes[0];
    const within = (edge) =>
      box.left >= edge.left && box.top >= edge.top && box.right <= edge.right && box.bottom <= edge.bottom;
    if (box.width < 1 || box.height < 1 || !within({ left: 0, top: 0, right: width, bottom: height })) return null;
    for (const at of flatAncestors(element)) {
      const { overflowX, overflowY } = getComputedStyle(at);
      const cuts = overflowX !== "visible" || overflowY !== "visible";
      if (at !== element && at !== DOM.documentElement(document) && cuts && !within(DOM.getBoundingClientRect(at))) return null;
    }
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    return [Math.floor(x) >= box.left ? Math.floor(x) : x, Math.floor(y) >= box.top ? Math.floor(y) : y];
  }

  // During a drag, lists may set pointer-events: none on their items. An ancestor then receives the drop.
  function isLetThrough(hit) {
    return request.dragging && getComputedStyle(element).pointerEvents === "none" && Array.from(flatAncestors(element)).includes(hit);
  }

  function hitTest() {
    const chain = roots();
    // The dragged element covers nothing, unless the drag ends inside it, as when a map is panned.
    const dragged = request.dragging && known.dragged && !DOM.contains(known.dragged, element) ? known.dragged : null;
    let covered = "";
    let coverer = null;
    let itself = false; // whether a point hits the element itself, not only its label
    const hits = pointsOf(request).map(([x, y]) => {
      const hit = elementAt(x, y, chain, dragged);
      const good = hit !== null && (receives(hit) || isLetThrough(hit));
      itself ||= hit === element;
      if (!good && !covered) {
        covered = hit ? describe(hit) : "the edge of the frame or the page";
        coverer = hit;
      }
      return good;
    });
    const untouchable = covered !== "" && getComputedStyle(element).pointerEvents === "none";
    const labelled = !itself && element === node && labelOf(element) !== null;
    return { hits, covered, coverer, untouchable, labelled };
  }

  // Whether a running animation could move the node: any animation of the node or of an ancestor, and animations
  // of other elements that change the layout.
  function animating() {
    const running = roots().flatMap((root) => DOM.getAnimations(root).filter((each) => each.playState === "running"));
    if (running.length === 0) return false;
    const around = new Set(flatAncestors(element));
    return running.some(({ effect }) => {
      if (!effect || !effect.getKeyframes) return true;
      const own = !effect.pseudoElement && around.has(effect.target);
      const moves = (name) => !OF_A_KEYFRAME.includes(name) && !STILL.test(name) && (own || !ALONE.test(name));
      return effect.getKeyframes().some((frame) => Object.keys(frame).some(moves));
    });
  }

  // Resolves to whether a frame was drawn. Without frames an animated node only seems to be still.
  function nextFrame() {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), FRAME_LIMIT_MS);
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  // A quick answer only reports whether everything is fine. If it is not, the caller probes again in full.
  function answer(moved) {
    const { hits, covered, coverer, untouchable, labelled } = hitTest();
    const invisible = invisibleBecause();
    const disabled = disabledBecause();
    const wanted = request.observer;
    const renamed = request.expected && !pseudo ? known.renamed(element, request.expected) : null;
    const clear = !invisible && !moved && hits.includes(true);
    if (wanted && !renamed && (wanted.always || (clear && (wanted.disabled || !disabled)))) arm(wanted, pointsOf(request), tools);
    const point = request.points[0] ?? null;
    if (request.quick) return { connected: true, invisible, disabled, hits, labelled, renamed, point };
    const { never, readonly, chooses } = editing();
    const behind = behindModal();
    return {
      connected: true,
      invisible,
      disabled,
      uneditable: never,
      readonly,
      chooses: Boolean(chooses),
      moved,
      hits,
      covered,
      untouchable,
      never: neverBecause(),
      behind: behind ? "it is outside of an open modal dialog" : "",
      labelled,
      divided: takers().length > 0,
      renamed,
      frees: invisible || disabled || covered || behind ? freedBy(coverer) : "",
    };
  }

  // A node that was moved to another frame's document has other coordinates than the request's.
  if (!element || !DOM.isConnected(pseudo ? element : node) || DOM.ownerDocument(element) !== document) {
    return { connected: false, element: element ? describe(element) : "#" + DOM.nodeName(node) };
  }
  if (request.observer) tools.expected(request.observer.id);
  if (request.quick) {
    const point = animating() ? null : middleInView();
    request.points = point ? [point] : [];
    return answer(false);
  }
  // The node can only move if an animation runs, or the caller has a reason to ask (it scrolled, or the last probe
  // failed). Movement by script alone needs no wait: the hit test detects it.
  if (!request.settle && !animating()) return answer(false);
  const before = position();
  return nextFrame().then((first) => {
    const between = position();
    return nextFrame().then((second) => {
      if (!DOM.isConnected(pseudo ? element : node)) return { connected: false, element: describe(element) };
      const unseen = !(first && second) && animating();
      return answer(unseen || before !== between || between !== position());
    });
  });
})
