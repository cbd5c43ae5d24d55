// Colours. Steps of one scale differ in lightness, and those of loads and stores are blue and orange, so that no one
// needs to tell red from green. A legend says what each step means.

const STEPS = 6;

const SCALES = {
  accesses: { name: "accesses", unit: "samples", value: (byte) => byte.loads + byte.stores },
  ratio: { name: "loads : stores", unit: "", value: (byte) => byte.loads + byte.stores, step: ratioStep, steps: ratioLegend },
  latency: { name: "latency", unit: "cycles per load", value: (byte) => (byte.loads ? byte.latency / byte.loads : 0) },
  lost: { name: "HITM and lines taken", unit: "samples that found the line lost", value: (byte) => byte.lost },
  writers: { name: "writing CPUs", unit: "", value: (byte) => byte.writers.size },
};

/** Scales of which the recording has something to show. */
function scalesOf(struct) {
  const shown = (scale) => [...struct.heat.values()].some((byte) => scale.value(byte) > 0);
  return Object.keys(SCALES).filter((name) => shown(SCALES[name]));
}

/** The scale that is chosen, with its greatest value; `null` if nothing was recorded. */
function currentScale(struct) {
  const names = scalesOf(struct);
  const name = names.includes(state.by) ? state.by : names[0];
  if (!name) return null;
  const scale = SCALES[name];
  const most = [...struct.heat.values()].reduce((most, byte) => Math.max(most, scale.value(byte)), 0);
  return { ...scale, id: name, most, unit: scale.unit || (name === "writers" ? page.who : "") };
}

/** The class of a byte's colour; none if nothing was recorded of it. */
function heatClass(scale, byte) {
  const value = scale.value(byte);
  if (!(value > 0)) return "";
  return scale.step ? scale.step(byte) : `h${countStep(value, scale.most)}`;
}

/** Steps halve: the last one is above half of the greatest value. */
function countStep(value, most) {
  return Math.max(1, Math.min(STEPS, STEPS - Math.floor(Math.log2(most / value))));
}

const RATIOS = [[0.05, "r1", "loads only, nearly"], [0.35, "r2", "mostly loads"], [0.65, "r3", "both"],
  [0.95, "r4", "mostly stores"], [1, "r5", "stores only, nearly"]];

function ratioStep(byte) {
  const stores = byte.stores / (byte.loads + byte.stores);
  return RATIOS.find(([most]) => stores <= most)[1];
}

function ratioLegend() {
  return RATIOS.map(([, name, text]) => [name, text]);
}

function countLegend(scale) {
  const steps = [];
  for (let step = 1; step <= STEPS; step++) {
    const high = scale.most / 2 ** (STEPS - step);
    const low = step === 1 ? 0 : high / 2;
    if (Math.floor(high) > Math.floor(low)) steps.push([`h${step}`, legendRange(low, high)]);
  }
  return steps;
}

function legendRange(low, high) {
  const first = Math.floor(low) + 1;
  const last = Math.floor(high);
  return first === last ? `${first}` : `${first}–${last}`;
}

/** What the colours and marks mean. */
function legend(struct) {
  const scale = currentScale(struct);
  const steps = scale ? (scale.steps ? scale.steps() : countLegend(scale)) : [];
  const swatch = ([name, text]) => el("li", null, el("span", { class: `swatch ${name}` }), text);
  const title = scale ? `Bytes by ${scale.name}${scale.unit ? ` (${scale.unit})` : ""}` : "No accesses were recorded";
  return el("div", { class: "legend" }, el("h3", null, title),
    el("ul", null, steps.map(swatch), scale && swatch(["none", "none recorded"]), swatch(["gap", "hole or padding"]),
      struct.orders.some((_, order) => movedIn(struct, order).length) && swatch(["is-moved", "moved among the others"]),
      struct.members.some((_, member) => isConditional(struct, member)) && swatch(["is-guarded", "under #if, or not in every build"]),
      struct.members.some((member) => member.change) && swatch(["changed", "changed"]),
      struct.lost.length > 0 && ["lost", "writers"].includes(scale?.id) && [swatch(["loser", "loses its line to other members' writes"]), swatch(["writer", "its writes take the line"])]));
}
