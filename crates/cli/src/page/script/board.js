// One order of a struct as lines of bytes.

/** Least number of lines in a row without accesses that are folded. */
const FOLDED = 3;

/** What is drawn: the order, its places by line, and what lights up. */
function boardModel(struct, order, side) {
  const places = placesOf(struct, order);
  const now = bitsByMember(places);
  const sizes = lineSizes();
  const chosen = struct.byFunction.find((found) => found.name === state.f);
  const lit = chosen ? linesTouched(struct, now, sizes.counted, chosen.touches) : null;
  const model = { struct, order, side, places, now, ...sizes, lit, chosen, scale: currentScale(struct) };
  model.moved = new Set(movedIn(struct, side === "left" ? orderIndex(struct) : order));
  model.absent = new Set(struct.builds[Number(state.b)]?.absent || []);
  model.samples = samplesByLine(model);
  model.lines = linesOf(model);
  model.showsLost = ["lost", "writers"].includes(model.scale?.id);
  model.losers = new Set(lostMembers(model).map((found) => found.member));
  model.writers = new Set(lostMembers(model).flatMap((found) => found.writers.map((writer) => writer.member)));
  return model;
}

/** Samples by line that is drawn. An access to bytes of two counts on both. */
function samplesByLine(model) {
  const sums = new Map();
  for (const touch of model.struct.touches) {
    for (const line of linesTouched(model.struct, model.now, model.drawn, [touch])) {
      sums.set(line, (sums.get(line) || 0) + touch.samples);
    }
  }
  return sums;
}

/** By line, pieces of members and gaps, in order of place. */
function linesOf(model) {
  const bits = model.drawn * 8;
  const lines = Array.from({ length: Math.ceil(model.places.size / model.drawn) }, () => []);
  const add = (piece, begin, size) => {
    for (let at = begin; at < begin + size; at = (Math.floor(at / bits) + 1) * bits) {
      const end = Math.min(begin + size, (Math.floor(at / bits) + 1) * bits);
      lines[Math.floor(at / bits)]?.push({ ...piece, begin: at, end, first: at === begin });
    }
  };
  for (const [member, bit, size] of model.places.members) add({ member }, bit, size);
  for (const [gap, bit, size] of model.places.gaps) add({ gap }, bit, size);
  for (const pieces of lines) pieces.sort((a, b) => a.begin - b.begin);
  return lines;
}

/** The whole board. */
function board(struct, order, side) {
  const model = boardModel(struct, order, side);
  const lines = Math.ceil(model.places.size / model.counted);
  const unit = state.l === "pairs" ? count(lines, "pair of", "pairs of") + ` lines of ${model.drawn} B` : count(lines, "line") + ` of ${model.counted} B`;
  const name = struct.orders[order].label;
  const facts = `${count(model.places.size, "byte")}, ${unit}`;
  const touched = model.lit ? el("p", { class: "touched" }, `${model.chosen.name} touches ${model.lit.size} of them`) : null;
  const grid = el("div", { role: "grid", class: `board ${side}`, "aria-label": `${name}: ${facts}`, "data-side": side,
    onkeydown: onBoardKey }, rows(model));
  const first = grid.querySelector(`[data-member="${CSS.escape(state.m)}"]`) || grid.querySelector("[data-member]");
  if (first) first.tabIndex = 0;
  return el("div", { class: "half" }, el("h3", null, name), el("p", { class: "size" }, facts), touched, grid);
}

function rows(model) {
  const made = [];
  for (let at = 0; at < model.lines.length; ) {
    const quiet = state.all === "1" ? 0 : quietLines(model, at);
    if (quiet >= FOLDED) {
      made.push(foldedRow(at, quiet, model.scale ? "accesses" : "changes"));
      at += quiet;
    } else {
      made.push(row(model, at));
      at += 1;
    }
  }
  return made;
}

/** How many lines from this one on have no accesses, no moved member and nothing that was chosen. */
function quietLines(model, from) {
  const isShown = (piece) => piece.member !== undefined &&
    (model.moved.has(piece.member) || String(piece.member) === state.m || model.struct.members[piece.member].change);
  let at = from;
  while (at < model.lines.length && !model.samples.get(at) && !model.lines[at].some(isShown)) at++;
  return at - from;
}

function foldedRow(first, lines, what) {
  const text = `#${first} to #${first + lines - 1}: ${lines} lines without ${what}`;
  return el("div", { role: "row", class: "row folded" }, el("div", { role: "gridcell", class: "fold" },
    el("button", { type: "button", onclick: () => choose({ all: "1" }) }, text)));
}

function row(model, line) {
  const isLit = model.lit && model.lit.has(Math.floor(line * model.drawn / model.counted));
  const ends = model.counted > model.drawn && line % 2 === 1 ? " pair-end" : "";
  return el("div", { role: "row", class: `row${isLit ? " lit" : ""}${ends}`, "data-line": line },
    rowHead(model, line, isLit),
    el("div", { class: "bytes", role: "presentation" }, model.lines[line].map((piece) => cell(model, line, piece))));
}

function rowHead(model, line, isLit) {
  const share = model.struct.samples ? percent(model.samples.get(line) || 0, model.struct.samples) : "";
  const lost = lostMembers(model).filter((found) => found.line === line);
  const says = lost.map((found) => `${found.name}: ${found.says}`).join("\n");
  const flag = lost.length ? el("button", { type: "button", class: "flag", title: says, onclick: showLost }, "shared",
    hidden(` falsely: line #${line} is lost to writes of other members`)) : null;
  const touched = isLit ? el("span", { class: "hit" }, "touched") : null;
  return el("div", { role: "rowheader", class: "rowhead" },
    el("span", null, el("span", { class: "number" }, `#${line}`), " ", el("span", { class: "share" }, share)), flag, touched);
}

/** False sharing was recorded in one layout, so only that shows it. */
function lostMembers(model) {
  if (model.order !== model.struct.recorded || model.places.build !== 0) return [];
  return model.struct.lost.filter((found) => found.size === model.drawn);
}

/** Colours by lost lines, and goes to the table of members that lose theirs. */
function showLost() {
  choose({ by: "lost" });
  document.querySelector("#title-lost + .scroll")?.focus();
}

function hidden(text) {
  return el("span", { class: "unseen" }, text);
}

function cell(model, line, piece) {
  const begin = piece.begin - line * model.drawn * 8;
  const place = `left:${100 * begin / (model.drawn * 8)}%;width:${100 * (piece.end - piece.begin) / (model.drawn * 8)}%`;
  if (piece.gap) {
    return el("div", { role: "gridcell", class: "cell gap", style: place, title: gapText(piece) }, hidden(gapText(piece)));
  }
  return memberCell(model, piece, place);
}

function gapText(piece) {
  const bits = piece.end - piece.begin;
  return `${piece.gap}: ${bits % 8 ? count(bits, "bit") : count(bits / 8, "byte")}`;
}

function memberCell(model, piece, place) {
  const { struct } = model;
  const member = struct.members[piece.member];
  const classes = ["cell", model.moved.has(piece.member) && "moved", isConditional(struct, piece.member) && "guarded",
    model.absent.has(piece.member) && "absent", model.showsLost && model.losers.has(piece.member) && "loser",
    model.showsLost && model.writers.has(piece.member) && "writer", String(piece.member) === state.m && "chosen", member.change && "changed",
    model.chosen && !isTouched(model, piece.member) && "dim"];
  const whole = model.now.get(piece.member);
  return el("div", { role: "gridcell", class: classes.filter(Boolean).join(" "), style: place, tabindex: -1,
    "data-member": piece.member, "data-begin": piece.begin, title: cellTitle(model, piece.member),
    "aria-label": cellTitle(model, piece.member), "aria-selected": String(piece.member) === state.m,
    onclick: () => choose({ m: String(piece.member) }) },
  el("span", { class: "label", "aria-hidden": "true" }, member.name),
  el("span", { class: "strip", style: `--bytes:${(piece.end - piece.begin) / 8}` }, strips(model, piece, whole)));
}

function isTouched(model, member) {
  return model.chosen.touches.some((touch) => touch.member === member);
}

/** A member in words, for a pointer at rest and for a screen reader. */
function cellTitle(model, member) {
  const { struct } = model;
  const sum = struct.byMember[member];
  const facts = [struct.members[member].name, struct.members[member].type, `at ${placeText(model.now.get(member))}`];
  if (struct.samples) facts.push(sum.samples ? `${sum.samples} samples, ${percent(sum.samples, struct.samples)}` : "no samples");
  if (model.moved.has(member)) facts.push("moved");
  if (model.losers.has(member)) facts.push("loses its line to writes of other members");
  if (model.writers.has(member)) facts.push("its writes take the line from other members");
  if (struct.members[member].change) facts.push(struct.members[member].change);
  if (model.absent.has(member)) facts.push(`absent in ${struct.builds[Number(state.b)].label}`);
  return facts.join(", ");
}

/** Offset and size. */
function placeText(bits) {
  if (bits.bit % 8 || bits.bits % 8) return `${bits.bit >> 3}:${bits.bit % 8}, ${count(bits.bits, "bit")}`;
  return `${bits.bit / 8}, ${count(bits.bits / 8, "byte")}`;
}

/** Colours of the bytes of a piece: a strip for each run of one colour. */
function strips(model, piece, whole) {
  if (!model.scale) return [];
  const made = [];
  const size = piece.end - piece.begin;
  let last = null;
  for (let byte = piece.begin >> 3; byte < Math.ceil(piece.end / 8); byte++) {
    const name = byteClass(model, piece.member, whole, byte);
    const from = Math.max(byte * 8, piece.begin);
    const to = Math.min(byte * 8 + 8, piece.end);
    if (last && last.name === name && last.to === from) last.to = to;
    else made.push((last = { name, from, to }));
  }
  return made.filter((strip) => strip.name).map((strip) => el("i", { class: strip.name,
    style: `left:${100 * (strip.from - piece.begin) / size}%;width:${100 * (strip.to - strip.from) / size}%` }));
}

function byteClass(model, member, whole, byte) {
  const at = declaredByte(model.struct, member, whole, byte);
  const heat = model.struct.heat.get(at);
  return heat ? heatClass(model.scale, heat) : "";
}

/** Hides names that don't fit, so that none is cut within a letter. */
function fitLabels(root) {
  const labels = [...root.querySelectorAll(".label")];
  // All are measured before any changes: each change would have the next one measured anew.
  const rooms = labels.map((label) => [label.parentElement.clientWidth, label.scrollWidth]);
  labels.forEach((label, at) => {
    const [room, wanted] = rooms[at];
    label.classList.toggle("unfit", room < 22 || (room < 40 && wanted > room));
  });
}
