// What the reader has chosen. All of it stands in the address behind #, so that a link shows the same.

const DEFAULTS = { s: "0", c: "", l: "", by: "", f: "", m: "", b: "0", all: "" };

/** Names: s struct, c order, l line size, by colour, f function, m member, b build, all lines unfolded. */
const state = { ...DEFAULTS };

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(DEFAULTS)) state[name] = given.get(name) ?? DEFAULTS[name];
}

function address(changes) {
  const next = { ...state, ...changes };
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(next)) if (value !== DEFAULTS[name]) words.set(name, value);
  return `#${words}`;
}

/** Chooses something, and draws anew. */
function choose(changes) {
  Object.assign(state, changes);
  try {
    history.replaceState(null, "", address({}));
  } catch {
    location.hash = address({});
  }
  draw();
}
