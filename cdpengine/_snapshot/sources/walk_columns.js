// The columns of one walk, filled row by row. A part of walk.js, which calls it for each walk.
(function () {
  "use strict";

  const TEXT = -1;
  const EDGE = -2;
  const CAPTION_EDGE = -3;
  const PREFORMATTED = -7;
  const BREAK = -8;
  const HINT = -9;

  const roles = [];
  const roleNumbers = new Map();
  const depths = [];
  const kinds = [];
  const uids = [];
  const texts = [];
  const extras = []; // row, key, value, ...
  const boxes = [];

  function roleNumber(role) {
    let number = roleNumbers.get(role);
    if (number === undefined) {
      number = roles.push(role) - 1;
      roleNumbers.set(role, number);
    }
    return number;
  }

  function row(depth, kind, uid, text) {
    uids.push(uid);
    texts.push(text);
    depths.push(depth);
    return kinds.push(kind) - 1;
  }

  function addText(depth, text, kind = TEXT) {
    const end = kinds.length - 1;
    if (end >= 0 && kinds[end] === kind && depths[end] === depth) texts[end] += text;
    else row(depth, kind, 0, text);
  }

  // The kind of text that more text at this depth would continue; 0 if it would start a run.
  function runningText(depth) {
    const end = kinds.length - 1;
    if (end < 0 || depths[end] !== depth) return 0;
    return kinds[end] === TEXT || kinds[end] === PREFORMATTED || kinds[end] === BREAK ? kinds[end] : 0;
  }

  // Text drawn with the line breaks and spaces of the page's source.
  const addPreformatted = (depth, text) => addText(depth, text, PREFORMATTED);
  const isPreformatted = (depth) => runningText(depth) === PREFORMATTED;
  const addBreak = (depth) => addText(depth, "\n", isPreformatted(depth) ? PREFORMATTED : BREAK);
  const addHint = (depth, text) => void row(depth, HINT, 0, text);

  function addEdge(depth, caption) {
    const end = kinds.length - 1;
    if (caption === 0 && end >= 0 && kinds[end] === EDGE && depths[end] === depth) return;
    row(depth, caption === 0 ? EDGE : CAPTION_EDGE, caption, "");
  }

  function extra(at, key, value) {
    extras.push(at, key, value);
  }

  function noteBox(line, box) {
    boxes.push(line, round(box.x), round(box.y), round(box.width), round(box.height));
  }

  function round(pixels) {
    return Math.round(pixels * 100) / 100;
  }

  // Drops an incomplete row after an error.
  function shorten() {
    for (const column of [depths, uids, texts]) column.length = kinds.length;
    extras.length -= extras.length % 3;
    boxes.length -= boxes.length % 5;
  }

  const columns = {
    roles,
    depths, // per row: the number of shown elements around it
    kinds, // twice the number of the role, plus 1 if focusable; below 0: text, edges of blocks, parts
    uids,
    texts, // the name of an element, or its text
    extras,
    boxes,
  };
  return {
    columns, roleNumber, row, addText, addPreformatted, addBreak, addHint, runningText, isPreformatted, addEdge, extra,
    noteBox, shorten,
  };
})
