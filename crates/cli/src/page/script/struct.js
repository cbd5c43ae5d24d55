// A struct with its accesses by byte of the layout that was recorded, mostly the declared one, and where orders put these
// bytes.

const page = JSON.parse(document.getElementById("data").textContent);
const known = new Map();

/** The struct that is shown; `null` if the page has none. */
function current() {
  const index = Number(state.s) < page.structs.length ? Number(state.s) : 0;
  if (!page.structs[index]) return null;
  if (!known.has(index)) known.set(index, readStruct(page.structs[index], index));
  return known.get(index);
}

function readStruct(raw, index) {
  const declared = raw.orders[raw.recorded].places[0];
  const struct = { ...raw, index, declared, bits: bitsByMember(declared), owners: new Map() };
  struct.touches = raw.touches.map(([offset, size, fn, loads, stores, latency, lost]) => ({ offset, size: Math.max(size, 1),
    fn, loads, stores, latency, lost, samples: loads + stores, member: ownerOf(struct, offset) }));
  struct.heat = heatByByte(struct);
  struct.parts = raw.builds.map((build) => new Map(build.parts || []));
  struct.byMember = raw.members.map((_, member) => sumMember(struct, member));
  struct.byFunction = sumFunctions(struct);
  return struct;
}

/** By member, where it begins and how many bits it has. */
function bitsByMember(places) {
  return new Map(places.members.map(([member, bit, bits]) => [member, { bit, bits }]));
}

/** The member that a byte belongs to: the smallest of those that share it; `undefined` in a gap. */
function ownerOf(struct, byte) {
  if (!struct.owners.has(byte)) struct.owners.set(byte, smallestAt(struct.declared, byte));
  return struct.owners.get(byte);
}

function smallestAt(places, byte) {
  let [found, least] = [undefined, Infinity];
  for (const [member, bit, bits] of places.members) {
    if (bit < byte * 8 + 8 && byte * 8 < bit + bits && bits < least) [found, least] = [member, bits];
  }
  return found;
}

const cold = () => ({ loads: 0, stores: 0, latency: 0, lost: 0, writers: new Set() });

/** Counts of the bytes that were touched. */
function heatByByte(struct) {
  const heat = new Map();
  const sizes = new Map();
  const byte = (at) => heat.get(at) || heat.set(at, cold()).get(at);
  const each = (offset, size, add) => {
    for (let at = offset; at < Math.min(offset + size, struct.declared.size); at++) add(byte(at));
  };
  for (const touch of struct.touches) {
    sizes.set(touch.offset, Math.max(touch.size, sizes.get(touch.offset) || 1));
    each(touch.offset, touch.size, (sum) => addCounts(sum, touch));
  }
  for (const [offset, cpu, , stores] of struct.cpus) {
    if (stores > 0) each(offset, sizes.get(offset) || 1, (sum) => sum.writers.add(cpu));
  }
  return heat;
}

function addCounts(sum, touch) {
  for (const name of ["loads", "stores", "latency", "lost"]) sum[name] += touch[name];
}

/** A member's samples, functions and CPUs. */
function sumMember(struct, member) {
  const sum = { ...cold(), samples: 0, cpus: new Set(), functions: new Map(), inside: new Map() };
  for (const touch of struct.touches) {
    if (touch.member !== member) continue;
    addCounts(sum, touch);
    sum.samples += touch.samples;
    sum.functions.set(touch.fn, (sum.functions.get(touch.fn) || 0) + touch.samples);
    sum.inside.set(touch.offset, (sum.inside.get(touch.offset) || 0) + touch.samples);
  }
  for (const [offset, cpu, , stores] of struct.cpus) {
    if (ownerOf(struct, offset) !== member) continue;
    sum.cpus.add(cpu);
    if (stores > 0) sum.writers.add(cpu);
  }
  return sum;
}

/** Functions with the touches of each, most samples first. */
function sumFunctions(struct) {
  const found = new Map();
  for (const touch of struct.touches) {
    const sum = found.get(touch.fn) || { fn: touch.fn, name: page.functions[touch.fn], samples: 0, touches: [] };
    sum.samples += touch.samples;
    sum.touches.push(touch);
    found.set(touch.fn, sum);
  }
  return [...found.values()].sort((a, b) => b.samples - a.samples || (a.name < b.name ? -1 : 1));
}

/** The order with a name, or the one that is shown at first. */
function orderIndex(struct) {
  const found = struct.orders.findIndex((order) => order.id === state.c);
  return found < 0 ? struct.shown : found;
}

/** Places of an order in the build that is chosen, if they are known there, else in the recorded one. */
function placesOf(struct, order) {
  const all = struct.orders[order].places;
  return all.find((places) => places.build === Number(state.b)) || all[0];
}

/** The members that move in an order in the build that is chosen. */
function movedIn(struct, order) {
  return placesOf(struct, order).moved || struct.orders[order].moved || [];
}

/** Parts of a member that has another size in the build that is chosen: bits of it in the recorded build, and there. */
function partsOf(struct, member) {
  return struct.parts[Number(state.b)]?.get(member);
}

/** The byte of the declared layout that lies at a byte of others; `undefined` where there is none. */
function declaredByte(struct, member, bits, byte) {
  const was = struct.bits.get(member);
  if (!was) return undefined;
  const at = Math.max(byte * 8, bits.bit) - bits.bit;
  const parts = partsOf(struct, member);
  if (!parts) return at < was.bits ? (at + was.bit) >> 3 : undefined;
  const part = parts.find(([, , to, bitsThere]) => to <= at && at < to + bitsThere);
  return part ? (was.bit + part[0] + Math.floor((at - part[2]) * part[1] / part[3])) >> 3 : undefined;
}

/** Lines of an order, whose members lie at `now`, that some touches are on. */
function linesTouched(struct, now, line, touches) {
  const lines = new Set();
  for (const touch of touches) {
    for (let byte = touch.offset; byte < touch.offset + touch.size; byte++) {
      const [first, last] = placedBytes(struct, now, byte);
      for (let at = Math.floor(first / line); at <= Math.floor(last / line); at++) lines.add(at);
    }
  }
  return lines;
}

/** First and last byte that a byte of the declared layout is in another one, as numbers; not numbers where it is nowhere.
 * What has another size there is touched as a whole. */
function placedBytes(struct, now, byte) {
  const member = ownerOf(struct, byte);
  const was = struct.bits.get(member);
  const is = now.get(member);
  if (!was || !is) return [NaN, NaN];
  const at = Math.max(byte * 8, was.bit) - was.bit;
  const part = partsOf(struct, member)?.find(([from, bits]) => from <= at && at < from + bits);
  if (!part || part[1] === part[3]) {
    const to = (at + is.bit + (part ? part[2] - part[0] : 0)) >> 3;
    return at < is.bits || part ? [to, to] : [is.bit >> 3, (is.bit + is.bits - 1) >> 3];
  }
  return [(is.bit + part[2]) >> 3, (is.bit + part[2] + Math.max(part[3], 1) - 1) >> 3];
}

/** Whether a member is not in every build: it stands under `#if`, or a build lacks it. */
function isConditional(struct, member) {
  return Boolean(struct.members[member].conditions) || !struct.bits.has(member) && !struct.members[member].change ||
    struct.builds.some((build) => build.absent?.includes(member));
}

/** Bytes in a line that is counted, and in one that is drawn: pairs are drawn as two lines. */
function lineSizes() {
  if (state.l === "pairs") return { counted: 2 * page.lines[0], drawn: page.lines[0] };
  const size = Number(state.l);
  const chosen = page.lines.includes(size) ? size : page.lines[0];
  return { counted: chosen, drawn: chosen };
}
