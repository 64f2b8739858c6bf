// The tables of all workers and of the busiest links.

import { percent, real, withPrefix } from "./words.js";

const mostWorkers = 1000, mostLinks = 30;

export const activities = ["computing", "compressing", "communicating", "waiting"];

/** Changes what differs, so that a reader keeps the place. A cell is a text, or a function that fills it. */
function fill(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach((cells, i) => {
    const row = body.rows[i] ?? body.insertRow();
    cells.forEach((what, k) => {
      const cell = row.cells[k] ?? row.insertCell();
      if (typeof what === "function") what(cell);
      else if (cell.textContent !== `${what}`) cell.textContent = what;
    });
  });
}

/** A bar of the shares of a worker's activities, with the same in words. */
function bar(cell, used) {
  if (!used) return void (cell.textContent = "–");
  const sum = used.reduce((a, b) => a + b, 0) || 1;
  if (!cell.firstElementChild) {
    cell.replaceChildren(Object.assign(document.createElement("div"), { className: "shares" }));
    cell.firstElementChild.setAttribute("role", "img");
    cell.firstElementChild.append(...activities.map(what => Object.assign(document.createElement("span"), { className: what })));
  }
  const words = activities.map((what, i) => `${what} ${percent(used[i] / sum)} (${real(used[i])} s)`).join(", ");
  const drawn = cell.firstElementChild;
  if (drawn.title === words) return;
  drawn.title = words;
  drawn.setAttribute("aria-label", words);
  [...drawn.children].forEach((part, i) => (part.style.flexGrow = used[i] / sum));
}

export function showWorkers(body, run) {
  const ranks = [...run.known].sort((a, b) => a - b).slice(0, mostWorkers);
  fill(body, ranks.map(rank => {
    const one = run.workers.get(rank);
    return [run.nameOf(rank), run.places.get(rank) ?? "–", run.describe(rank), one?.steps ?? "–", one ? real(one.rate) : "–",
      one ? withPrefix(one.bits) : "–", cell => bar(cell, run.usedBy(rank))];
  }));
  ranks.forEach((rank, i) => (body.rows[i].cells[2].style.color = `var(--${run.stateOf(rank)})`));
}

export function showLinks(section, run) {
  const busiest = run.busiestLinks().slice(0, mostLinks);
  section.hidden = busiest.length === 0;
  fill(section.querySelector("tbody"), busiest.map(({ from, to, rate }) => [run.nameOf(from), run.nameOf(to), withPrefix(rate)]));
}
