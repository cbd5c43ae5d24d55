// What is known of the member that was chosen.

/** Most functions that are listed. */
const LISTED = 10;

function detail(struct) {
  const member = struct.members[Number(state.m)];
  if (state.m === "" || !member) return null;
  const sum = struct.byMember[Number(state.m)];
  const close = el("button", { type: "button", class: "close", onclick: closeDetail }, "Close");
  return el("section", { class: "detail", tabindex: "0", "aria-labelledby": "detail-name" },
    el("h3", { id: "detail-name" }, member.name), close,
    el("p", { class: "type" }, el("code", null, member.type)),
    el("dl", { class: "facts" }, placeFacts(struct), sampleFacts(struct, sum), textFacts(struct, member)),
    functionList(struct, sum), insideList(struct, sum), whyList(member));
}

function closeDetail() {
  const was = state.m;
  choose({ m: "" });
  document.querySelector(`.board [data-member="${CSS.escape(was)}"]`)?.focus();
}

function fact(name, value) {
  return value === null || value === "" ? null : el("div", null, el("dt", null, name), el("dd", null, value));
}

/** Where it lies in the orders that are drawn. */
function placeFacts(struct) {
  const { counted } = lineSizes();
  const shown = [...new Set([0, orderIndex(struct)])];
  return shown.map((order) => {
    const bits = bitsByMember(placesOf(struct, order)).get(Number(state.m));
    const text = bits ? `offset ${placeText(bits)}, line #${Math.floor(bits.bit / 8 / counted)}` : "not there";
    return fact(struct.orders[order].label, text);
  });
}

function sampleFacts(struct, sum) {
  if (!struct.samples) return null;
  if (!sum.samples) return fact("samples", "none");
  const cpus = (set) => (set.size ? `${set.size} (${ranges(set)})` : "none");
  return [
    fact("samples", `${sum.samples} (${percent(sum.samples, struct.samples)}): ${count(sum.loads, "load")}, ${count(sum.stores, "store")}`),
    sum.latency && sum.loads ? fact("mean latency of loads", `${Math.round(sum.latency / sum.loads)} cycles`) : null,
    sum.lost ? fact("found the line lost", count(sum.lost, "sample")) : null,
    struct.cpus.length ? fact(`${page.who} that touch it`, cpus(sum.cpus)) : null,
    struct.cpus.length ? fact(`${page.who} that write it`, cpus(sum.writers)) : null,
  ];
}

function textFacts(struct, member) {
  const index = struct.members.indexOf(member);
  const lacking = struct.builds.filter((build) => build.absent?.includes(index)).map((build) => build.label);
  return [fact("stands under", (member.conditions || []).map((text) => `#if ${text}`).join(", ")),
    fact("not in", lacking.join(", ")),
    fact("change", member.change || "")];
}

function functionList(struct, sum) {
  const all = [...sum.functions].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  if (!all.length) return null;
  const item = ([fn, samples]) => el("li", null, functionButton(page.functions[fn]), ` ${percent(samples, sum.samples)}`);
  const more = all.length > LISTED ? el("li", null, `and ${all.length - LISTED} more`) : null;
  return el("div", null, el("h4", null, "Functions"), el("ul", { class: "inline" }, all.slice(0, LISTED).map(item), more));
}

function functionButton(name) {
  const isChosen = state.f === name;
  return el("button", { type: "button", class: "function", "aria-pressed": isChosen,
    onclick: () => choose({ f: isChosen ? "" : name }) }, name);
}

function insideList(struct, sum) {
  const names = new Map(struct.inside);
  const inside = [...sum.inside].filter(([offset]) => names.has(offset)).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  if (!inside.length) return null;
  const item = ([offset, samples]) => el("li", null, el("code", null, names.get(offset)), ` ${percent(samples, sum.samples)}`);
  return el("div", null, el("h4", null, "Inside"), el("ul", { class: "inline" }, inside.slice(0, LISTED).map(item)));
}

function whyList(member) {
  if (!member.why) return null;
  return el("div", null, el("h4", null, "Why it is there"), el("ul", null, member.why.map((text) => el("li", null, text))));
}
