// Elements. Text is set as text, never as HTML: names come from debug info.

/** An element with attributes, listeners (`on…`) and children; `null` children and attributes are left out. */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    const isState = name.startsWith("aria-");
    if (value === null || value === undefined || (value === false && !isState)) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true && !isState ? "" : String(value));
  }
  append(made, children);
  return made;
}

function append(parent, children) {
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) parent.append(child);
  }
}

/** An element of SVG. */
function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/** A share as per cent. */
function percent(part, whole) {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "–";
}

function count(number, one, many) {
  return `${number} ${number === 1 ? one : many || one + "s"}`;
}

/** Numbers as ranges: 0-3, 8. */
function ranges(numbers) {
  const runs = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last && last[1] + 1 === number) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
}

/** Says what was done to who can't see it. */
function announce(text) {
  document.getElementById("status").textContent = text;
}
