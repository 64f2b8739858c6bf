import { Curves } from "./curves.js";
import { Graph, shapes } from "./graph.js";
import { Orders } from "./orders.js";
import { Run } from "./run.js";
import { activities, showLinks, showWorkers } from "./tables.js";
import { Waits } from "./waits.js";
import { percent, real, seconds, withPrefix } from "./words.js";

const mostEvents = 500; // in the list
const namedLinks = 3; // of the worker under the pointer
const by = id => document.getElementById(id);

const run = new Run();
const curves = new Curves(by("curves"), run);
const orders = new Orders();
const graph = new Graph(by("graph"), run, hover, (rank, more) => orders.choose(rank, run.places?.get(rank), more));
const waits = new Waits(by("waits-section"), run);
let changed = false, shownEvents = 0, hovered = null, connected = true;

for (const [state, shape] of Object.entries(shapes)) {
  if (state === "done") continue;
  const item = document.createElement("li");
  item.textContent = `${state}: ${shape}`;
  item.style.color = `var(--${state})`;
  by("legend").append(item);
}

for (const what of activities) {
  const item = Object.assign(document.createElement("li"), { textContent: what });
  item.prepend(Object.assign(document.createElement("span"), { className: what }));
  by("activities").append(item);
}

function hover(rank) {
  hovered = rank;
  by("hover").textContent = rank === null || !run.view ? "" : wordsOf(rank);
}

function wordsOf(rank) {
  const one = run.workers.get(rank);
  const place = run.isThere(rank) ? `, on node ${run.places.get(rank)}` : "";
  const sends = run.busiestLinks().filter(link => link.from === rank).slice(0, namedLinks).map(({ to, rate }) => `${withPrefix(rate)}bit/s to ${run.nameOf(to)}`);
  return `${run.nameOf(rank)}${place}: ${run.describe(rank)}` + (one ? `, ${one.steps} steps, ${real(one.rate)} steps/s, ${withPrefix(one.bits)}bit/s` : "")
    + (sends.length > 0 ? `; on the wire ${sends.join(", ")}` : "");
}

function showHead() {
  const about = run.about, p = run.progress, last = run.evaluations.at(-1);
  if (about) {
    by("title").textContent = about.title;
    by("about").textContent = about.about;
    document.title = `${about.title} – Gossamer`;
    orders.offer(about.can);
  }
  by("state").textContent = !connected ? "the run does not answer any more" : run.end ? `the run has ended: ${run.end.how}` : p ? "under way" : "waits for the run";
  if (!p) return;
  const known = Number.isFinite(p.planned_epochs) && p.planned_epochs > 0;
  by("bar").value = run.end ? 1 : known ? p.epoch / p.planned_epochs : p.time_s / (p.time_s + (p.remaining_s ?? 0));
  const numbers = {
    time: seconds(p.time_s), left: seconds(run.end ? 0 : p.remaining_s), epoch: known ? `${p.epoch.toFixed(2)} of ${+p.planned_epochs.toPrecision(4)}` : p.epoch.toFixed(2),
    loss: real(p.loss), accuracy: percent(last?.test_accuracy), "models apart": real(last?.consensus_distance),
    pace: `${withPrefix(p.steps_per_second)} steps/s`, sent: last ? `${withPrefix(last.payload_bits)}bit` : "–",
    ...(last?.payload_bits_between_islands === undefined ? {} : { "between islands": `${withPrefix(last.payload_bits_between_islands)}bit` }),
    workers: run.view ? `${run.view.members.length} of ${[...run.known].filter(r => !run.isMaster(r)).length}` : "–", view: run.view?.number ?? "–",
  };
  by("numbers").replaceChildren(...Object.entries(numbers).map(([name, value]) => {
    const box = document.createElement("div");
    for (const [tag, text] of [["dt", name], ["dd", value]]) box.append(Object.assign(document.createElement(tag), { textContent: text }));
    return box;
  }));
}

function showEvents() {
  const list = by("events");
  if (shownEvents > run.events.length) { list.replaceChildren(); shownEvents = 0; }
  for (; shownEvents < run.events.length; ++shownEvents) {
    const event = run.events[shownEvents];
    const item = document.createElement("li");
    item.style.borderColor = `var(--${event.kind})`;
    item.append(Object.assign(document.createElement("time"), { textContent: seconds(event.time_s) }), event.what);
    list.prepend(item);
  }
  while (list.childElementCount > mostEvents) list.lastElementChild.remove();
}

function show() {
  if (!changed) return;
  changed = false;
  for (const id of ["graph-section", "table-section"]) by(id).hidden = !run.view; // a written run has no workers
  showHead();
  showEvents();
  if (run.view) showWorkers(by("table"), run);
  showLinks(by("links-section"), run);
  graph.draw();
  waits.draw();
  curves.draw();
  if (hovered !== null) hover(hovered);
}

const source = new EventSource("/events");
source.onmessage = message => {
  if (run.hear(JSON.parse(message.data)) === "end") source.close(); // or it would ask again
  changed = connected = true;
};
source.onerror = () => { connected = false; changed = true; };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => location.reload());
setInterval(show, 250);
