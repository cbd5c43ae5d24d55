// Members that the same functions touch.

/** Most members in the triangle: those touched most. */
const MOST_MEMBERS = 20;
/** Fewer samples say little: the standard error of a share of 20 is up to 11 per cent points. */
const FEW_SAMPLES = 20;

/** For two members the samples of the less touched one, summed over functions; as a share of its samples. */
function together(struct, left, right) {
  const [a, b] = [struct.byMember[left], struct.byMember[right]];
  let shared = 0;
  for (const [fn, samples] of a.functions) shared += Math.min(samples, b.functions.get(fn) || 0);
  const least = Math.min(a.samples, b.samples);
  return { shared, least, share: least ? shared / least : 0 };
}

function triangle(struct) {
  const touched = struct.members.map((_, member) => member).filter((member) => struct.byMember[member].samples > 0);
  touched.sort((a, b) => struct.byMember[b].samples - struct.byMember[a].samples || a - b);
  const members = touched.slice(0, MOST_MEMBERS);
  if (members.length < 2) return null;
  const heads = members.slice(0, -1).map((member) => el("th", { scope: "col" }, el("span", null, struct.members[member].name)));
  const rows = members.slice(1).map((member, at) => el("tr", null, el("th", { scope: "row" }, struct.members[member].name),
    members.slice(0, at + 1).map((other) => pairCell(struct, member, other))));
  return el("section", { class: "pairs", "aria-labelledby": "title-pairs" },
    el("h3", { id: "title-pairs" }, "Touched by the same functions"),
    el("p", null, `Per cent of the less touched member's samples that are in functions which touch both, of the ${members.length} `
      + `members touched most. Grey: fewer than ${FEW_SAMPLES} samples, too few to say.`),
    el("div", { class: "scroll", role: "region", tabindex: "0", "aria-labelledby": "title-pairs" },
      el("table", { class: "triangle" }, el("thead", null, el("tr", null, el("td", null), heads)), el("tbody", null, rows))));
}

function pairCell(struct, left, right) {
  const { shared, least, share } = together(struct, left, right);
  const names = `${struct.members[left].name} and ${struct.members[right].name}`;
  const isFew = least < FEW_SAMPLES;
  const step = isFew ? "few" : shared ? `t${Math.min(5, Math.ceil(share * 5))}` : "";
  return el("td", { class: step, title: `${names}: ${shared} of ${least} samples${isFew ? ", too few to say" : ""}` },
    isFew ? el("span", { class: "unseen" }, "too few") : String(Math.round(100 * share)));
}
