// Text for the clipboard.

/** Copies text; where the browser forbids it, the text is selected, so that the keyboard can. */
async function copyText(text, name) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied the ${name}.`);
  } catch {
    announce(copyBySelection(text) ? `Copied the ${name}.` : `The browser forbids copying; select the ${name} by hand.`);
  }
}

function copyBySelection(text) {
  const field = el("textarea", { class: "unseen", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

/** An order as pahole shows it; of other builds' candidates only the chosen one has a text. */
function textOf(struct, order) {
  const build = struct.builds[Number(state.b)];
  return build?.drawn && build.notes ? placesOf(struct, order).text : struct.orders[order].text;
}

/** Buttons that copy the layouts as pahole shows them. */
function layoutCopies(struct) {
  const orders = [...new Set([0, orderIndex(struct)])].filter((order) => textOf(struct, order));
  const button = (order) => el("button", { type: "button", onclick: () => copyText(textOf(struct, order), "pahole text") },
    `Copy as pahole text: ${shortLabel(struct, order)}`);
  return el("p", { class: "copies" }, orders.map(button));
}

/** Buttons beside text of the page. */
function wireCopiers() {
  for (const button of document.querySelectorAll("button.copier")) {
    const box = button.parentElement;
    const name = box.querySelector("summary").textContent;
    button.addEventListener("click", () => copyText(box.querySelector("pre").textContent, name));
  }
}
