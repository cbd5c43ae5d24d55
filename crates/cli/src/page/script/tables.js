// Tables of functions and of members: the drawing in words.

/** Rows that are shown before the rest is asked for. */
const FEW_ROWS = 12;

/** Members that lose their line to writes of others, in the layout that was recorded. */
function lostTable(struct) {
  const { drawn } = lineSizes();
  const lost = struct.lost.filter((found) => found.size === drawn);
  if (!lost.length) return null;
  const row = (found) => el("tr", null, el("th", { scope: "row" }, `#${found.line}`),
    el("td", { class: "text" }, memberButton(found)), el("td", { class: "text" }, found.says),
    el("td", { class: "text wide" }, found.writers.length ? writerList(found.writers) : "unknown: no store was sampled"));
  const heads = ["line", "member that loses it", "how often", "other members written"];
  return tableSection("lost", `False sharing as recorded, on lines of ${drawn} B`, heads, lost.map(row));
}

/** Most writers that are listed. */
const LISTED_WRITERS = 3;

function writerList(writers) {
  const says = (writer) => [memberButton(writer), ` ${writer.says}`];
  const more = writers.slice(LISTED_WRITERS);
  return el("ul", { class: "plain" }, writers.slice(0, LISTED_WRITERS).map((writer) => el("li", null, says(writer))),
    more.length ? el("li", null, el("details", null, el("summary", null, `${more.length} more`),
      el("ul", { class: "plain" }, more.map((writer) => el("li", null, says(writer)))))) : null);
}

function memberButton({ member, name }) {
  if (member === undefined) return name;
  return el("button", { type: "button", "aria-pressed": state.m === String(member), onclick: () => choose({ m: String(member) }) }, name);
}

/** Functions with the lines each touches, before and after. */
function functionTable(struct) {
  if (!struct.byFunction.length) return null;
  const { counted } = lineSizes();
  const orders = [...new Set([0, orderIndex(struct)])];
  const now = orders.map((order) => bitsByMember(placesOf(struct, order)));
  const lines = (found, places) => linesTouched(struct, places, counted, found.touches).size;
  const row = (found) => el("tr", { class: state.f === found.name ? "chosen" : null },
    el("th", { scope: "row" }, functionButton(found.name)), el("td", null, String(found.samples)),
    el("td", null, percent(found.samples, struct.samples)), now.map((places) => el("td", null, String(lines(found, places)))));
  const unit = state.l === "pairs" ? "pairs" : `lines of ${counted} B`;
  const heads = ["function", "samples", "share", ...orders.map((order) => `${unit}, ${shortLabel(struct, order)}`)];
  return tableSection("functions", "Functions: choose one to see the lines it touches", heads, struct.byFunction.map(row));
}

function shortLabel(struct, order) {
  return struct.orders[order].label.split(":")[0];
}

/** Members with their places and accesses. */
function memberTable(struct) {
  const orders = [...new Set([0, orderIndex(struct)])];
  const shown = orders.map((order) => bitsByMember(placesOf(struct, order)));
  // Members of other builds only are left out where they are not drawn.
  const all = struct.members.map((_, member) => member).filter((member) => struct.bits.has(member) || shown.some((bits) => bits.has(member)));
  const rank = (a, b) => struct.byMember[b].samples - struct.byMember[a].samples || a - b;
  if (struct.samples) all.sort(rank);
  const hasChange = struct.members.some((member) => member.change);
  const heads = ["member", "type", ...orders.map((order) => `offset, ${shortLabel(struct, order)}`), "bytes"];
  if (struct.samples) heads.push("loads", "stores", "share", `writing ${page.who}`);
  if (hasChange) heads.push("change");
  const rows = all.map((member) => memberRow(struct, member, orders, hasChange));
  return tableSection("members", struct.samples ? "Members, most accessed first" : "Members", heads, rows);
}

function memberRow(struct, member, orders, hasChange) {
  const places = orders.map((order) => bitsByMember(placesOf(struct, order)).get(member));
  const sum = struct.byMember[member];
  const isChosen = state.m === String(member);
  const cells = [struct.members[member].type, ...places.map((bits) => (bits ? offsetText(bits) : "–")),
    sizeText(places.filter(Boolean).pop())];
  if (struct.samples) cells.push(sum.loads, sum.stores, percent(sum.samples, struct.samples), sum.writers.size);
  if (hasChange) cells.push(struct.members[member].change || "");
  const name = el("button", { type: "button", "aria-pressed": isChosen, onclick: () => choose({ m: isChosen ? "" : String(member) }) },
    struct.members[member].name);
  return el("tr", { class: isChosen ? "chosen" : null }, el("th", { scope: "row" }, name),
    cells.map((text, at) => el("td", { class: cellClass(at, hasChange && at === cells.length - 1) }, String(text))));
}

function cellClass(at, isChange) {
  if (isChange) return "text wide";
  return at === 0 ? "text" : null;
}

function offsetText(bits) {
  return bits.bit % 8 || bits.bits % 8 ? `${bits.bit >> 3}:${bits.bit % 8}` : String(bits.bit / 8);
}

function sizeText(bits) {
  if (!bits) return "–";
  return bits.bits % 8 || bits.bit % 8 ? count(bits.bits, "bit") : String(bits.bits / 8);
}

const unfolded = new Set();

/** Heads of columns of words. */
const TEXT_HEADS = ["type", "change", "member that loses it", "how often", "other members written"];

/** A table in a region that scrolls by itself; of long ones the first rows. */
function tableSection(id, title, heads, rows) {
  const shown = unfolded.has(id) ? rows : rows.slice(0, FEW_ROWS);
  const more = rows.length > shown.length
    ? el("button", { type: "button", class: "more", onclick: () => { unfolded.add(id); draw(); } }, `Show all ${rows.length}`) : null;
  const head = (text) => el("th", { scope: "col", class: TEXT_HEADS.includes(text) ? "text" : null }, text);
  const table = el("table", null, el("thead", null, el("tr", null, heads.map(head))),
    el("tbody", null, shown));
  return el("section", { class: "table", "aria-labelledby": `title-${id}` }, el("h3", { id: `title-${id}` }, title),
    el("div", { class: "scroll", role: "region", tabindex: "0", "aria-labelledby": `title-${id}` }, table), more);
}
