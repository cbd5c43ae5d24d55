// The keyboard, and lines between a member's places.

/** Moves within a board by arrows, Home and End; Enter or the space bar chooses a member, Escape none. */
function onBoardKey(event) {
  const grid = event.currentTarget;
  const at = event.target.closest("[data-member]");
  if (!at) return;
  const next = nextCell(grid, at, event.key);
  if (next) moveFocus(grid, next);
  else if (event.key === "Enter" || event.key === " ") at.click();
  else if (event.key === "Escape") choose({ m: "" });
  else return;
  event.preventDefault();
}

function nextCell(grid, at, key) {
  const cells = [...grid.querySelectorAll("[data-member]")];
  const index = cells.indexOf(at);
  if (key === "ArrowRight") return cells[index + 1];
  if (key === "ArrowLeft") return cells[index - 1];
  if (key === "Home") return cells[0];
  if (key === "End") return cells[cells.length - 1];
  if (key === "ArrowDown") return nearest(cells, at, 1);
  if (key === "ArrowUp") return nearest(cells, at, -1);
  return undefined;
}

/** The cell of the next line whose place in the line is nearest. */
function nearest(cells, at, step) {
  const line = (cell) => Number(cell.closest("[data-line]").dataset.line);
  const left = (cell) => cell.offsetLeft + cell.offsetWidth / 2;
  const others = cells.filter((cell) => Math.sign(line(cell) - line(at)) === step);
  const next = others.reduce((best, cell) => (best === null || (line(cell) - best) * step < 0 ? line(cell) : best), null);
  const inLine = others.filter((cell) => line(cell) === next);
  return inLine.sort((a, b) => Math.abs(left(a) - left(at)) - Math.abs(left(b) - left(at)))[0];
}

function moveFocus(grid, next) {
  for (const cell of grid.querySelectorAll('[tabindex="0"]')) cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** Links a member's place to that in the other order, while it is pointed at or has the focus. */
function onPoint(event) {
  const at = event.target.closest?.("[data-member]");
  const view = document.getElementById("boards");
  for (const cell of view.querySelectorAll(".linked")) cell.classList.remove("linked");
  const canvas = view.querySelector(".links");
  canvas.replaceChildren();
  const chosen = event.type === "mouseleave" || event.type === "focusout" ? null : at;
  const member = chosen ? chosen.dataset.member : state.m;
  if (member !== "") link(view, canvas, member);
}

function link(view, canvas, member) {
  const cells = [...view.querySelectorAll(`[data-member="${CSS.escape(member)}"]`)];
  for (const cell of cells) cell.classList.add("linked");
  const from = cells.find((cell) => cell.closest(".left"));
  const to = cells.find((cell) => cell.closest(".right"));
  if (from && to) canvas.append(curve(view, from, to));
}

function curve(view, from, to) {
  const base = view.getBoundingClientRect();
  const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
  const isBeside = b.left > a.right;
  const [x1, y1] = isBeside ? [a.right, a.top + a.height / 2] : [a.left + a.width / 2, a.bottom];
  const [x2, y2] = isBeside ? [b.left, b.top + b.height / 2] : [b.left + b.width / 2, b.top];
  const [x3, y3, x4, y4] = [x1 - base.left, y1 - base.top, x2 - base.left, y2 - base.top];
  const bend = isBeside ? `C${(x3 + x4) / 2} ${y3} ${(x3 + x4) / 2} ${y4}` : `C${x3} ${(y3 + y4) / 2} ${x4} ${(y3 + y4) / 2}`;
  return svg("path", { d: `M${x3} ${y3}${bend} ${x4} ${y4}`, class: "link" });
}
