// The page: what can be chosen, and what is drawn.

function select(name, label, options, value, changes) {
  if (options.length < 2) return null;
  const made = el("select", { id: `choose-${name}`, onchange: (event) => choose(changes(event.target.value)) },
    options.map(([id, text]) => el("option", { value: id }, text)));
  made.value = value;
  return el("div", { class: "choice" }, el("label", { for: `choose-${name}` }, label), made);
}

function lineChoices() {
  const names = page.lines.map((size) => [String(size), `${size} B`]);
  names.push(["pairs", "pairs"]);
  const chosen = state.l === "pairs" ? "pairs" : String(lineSizes().counted);
  const radio = ([id, text]) => el("label", null, el("input", { type: "radio", name: "line", value: id, checked: id === chosen,
    onchange: () => choose({ l: id }) }), el("span", null, text));
  return el("fieldset", { class: "choice segments" }, el("legend", null, "Lines"), el("div", null, names.map(radio)));
}

function toolbar(struct) {
  const order = orderIndex(struct);
  const orders = struct.orders.map((found, at) => [found.id, at === 0 ? `${found.label} alone` : found.label]);
  const colours = scalesOf(struct).map((name) => [name, SCALES[name].name]);
  const functions = struct.byFunction.map((found) => [found.name, `${found.name} (${percent(found.samples, struct.samples)})`]);
  const builds = struct.builds.map((build, at) => [String(at), build.label]);
  return el("div", { class: "toolbar", role: "group", "aria-label": "What is drawn" },
    select("order", "Order", orders, struct.orders[order].id, (id) => ({ c: id })), lineChoices(),
    select("colour", "Colour", colours, currentScale(struct)?.id, (id) => ({ by: id })),
    select("function", "Function", functions.length ? [["", "none"], ...functions] : [], state.f, (id) => ({ f: id })),
    select("build", "Build", builds, state.b, (id) => ({ b: id })),
    el("label", { class: "check" }, el("input", { type: "checkbox", id: "choose-all", checked: state.all === "1",
      onchange: (event) => choose({ all: event.target.checked ? "1" : "" }) }), "all lines"));
}

/** What is to be said of a build that isn't the recorded one. */
function buildNote(struct) {
  const build = struct.builds[Number(state.b)];
  if (!build?.notes) return null;
  const absent = (build.absent || []).map((member) => struct.members[member]?.name).join(", ");
  const says = [absent ? `without ${absent}${build.drawn ? "" : " (struck out)"}` : null, ...build.notes];
  return el("p", { class: "note" }, `${build.label}: ${says.filter(Boolean).join("; ")}.`);
}

function boards(struct) {
  const order = orderIndex(struct);
  const halves = [board(struct, 0, "left")];
  if (order !== 0) halves.push(board(struct, order, "right"));
  const canvas = svg("svg", { class: "links", "aria-hidden": "true" });
  const view = el("div", { id: "boards", class: halves.length > 1 ? "two" : "one" }, halves);
  view.append(canvas);
  for (const name of ["mouseover", "focusin", "mouseleave", "focusout"]) view.addEventListener(name, onPoint);
  return view;
}

/** Keeps the focus where it was though all is drawn anew. */
function rememberFocus() {
  const at = document.activeElement;
  if (!at || at === document.body) return () => {};
  const side = at.closest(".board")?.dataset.side;
  const isRadio = at.name === "line";
  const name = isRadio ? `input[name="line"][value="${at.value}"]` : at.id ? `#${CSS.escape(at.id)}` : null;
  const member = at.dataset.member;
  const text = at.tagName === "BUTTON" ? at.textContent : null;
  return () => {
    const cell = side && member ? document.querySelector(`.board.${side} [data-member="${CSS.escape(member)}"]`) : null;
    const button = text ? [...document.querySelectorAll("#layouts button")].find((found) => found.textContent === text) : null;
    (cell || (name && document.querySelector(name)) || button)?.focus({ preventScroll: true });
  };
}

function showSections(index) {
  for (const section of document.querySelectorAll("section[data-struct]")) section.hidden = section.dataset.struct !== String(index);
  for (const link of document.querySelectorAll("#structs a")) {
    const isShown = link.dataset.struct === String(index);
    if (isShown) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

/** Orders that are shown in the table before all are asked for: the declared one, those with marks, and the chosen one. */
function foldOrders() {
  for (const table of document.querySelectorAll("table.orders")) {
    const isShown = (row) => row.dataset.order === "declared" || row.querySelector(".mark") || row.classList.contains("chosen");
    const isFolded = !unfolded.has(table) && [...table.tBodies[0].rows].some((row) => !isShown(row));
    for (const row of table.tBodies[0].rows) row.hidden = isFolded && !isShown(row);
    table.parentElement.nextElementSibling.hidden = !isFolded;
  }
}

function wireFolded() {
  for (const table of document.querySelectorAll("table.orders")) {
    const show = () => { unfolded.add(table); foldOrders(); table.parentElement.focus(); };
    const text = `Show all ${table.tBodies[0].rows.length - 1} candidates`;
    table.parentElement.after(el("button", { type: "button", class: "more", onclick: show }, text));
  }
}

function markOrders(struct) {
  const id = struct.orders[orderIndex(struct)].id;
  for (const row of document.querySelectorAll("tr[data-order]")) row.classList.toggle("chosen", row.dataset.order === id);
  for (const button of document.querySelectorAll("button[data-order]")) {
    button.setAttribute("aria-pressed", String(button.dataset.order === id));
  }
  foldOrders();
}

function draw() {
  const view = document.getElementById("layouts");
  const struct = current();
  if (!struct) return;
  const restore = view.contains(document.activeElement) ? rememberFocus() : () => {};
  showSections(struct.index);
  markOrders(struct);
  replace(view, toolbar(struct), legend(struct), buildNote(struct), boards(struct), layoutCopies(struct),
    detail(struct), functionTable(struct), memberTable(struct), lostTable(struct), triangle(struct));
  fitLabels(view);
  restore();
  onPoint({ type: "drawn", target: document.body });
}

/** Choices in the text of the page. */
function wireText() {
  for (const button of document.querySelectorAll("button[data-order]")) {
    button.addEventListener("click", () => choose({ c: button.dataset.order }));
  }
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("layouts").focus();
  });
  for (const link of document.querySelectorAll("#structs a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      choose({ ...DEFAULTS, l: state.l, by: state.by, s: link.dataset.struct });
    });
  }
}

let width = 0;

/** Other widths have room for other names. */
function onResize() {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  const view = document.getElementById("layouts");
  fitLabels(view);
  if (document.getElementById("boards")) onPoint({ type: "resized", target: document.body });
}

/** An address typed or followed. Those of places in the page choose nothing. */
function onAddress() {
  if (location.hash && !location.hash.includes("=")) return;
  readAddress();
  draw();
}

window.addEventListener("hashchange", onAddress);
window.addEventListener("resize", onResize);
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.m !== "") closeDetail(); });
readAddress();
wireText();
wireFolded();
wireCopiers();
draw();
document.documentElement.dataset.ready = "yes";
