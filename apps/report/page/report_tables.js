// The tables of a report.

import { element, labelOf, report } from "./report_runs.js";
import { percent, real, seconds, withPrefix } from "./words.js";

const shownWaits = 15, mostInMatrix = 20;

/** A table that scrolls by itself. Rows: a name, and a text or an element for each column. */
export function tableOf(caption, heads, rows, look = "") {
  const head = element("tr", {}, ...heads.map(text => element("th", { scope: "col" }, text)));
  const body = rows.map(([name, ...cells]) =>
    element("tr", {}, name instanceof Node ? name : element("th", { scope: "row" }, name), ...cells.map(c => (c instanceof Node ? c : element("td", {}, `${c}`)))));
  const box = element("div", { className: `scrolled ${look}`, tabIndex: 0 },
    element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body)));
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", caption);
  return box;
}

const fold = (title, ...inside) => element("details", {}, element("summary", {}, title), ...inside);
const note = text => element("p", { className: "note" }, text);

export function aboutRuns(title, list) {
  const many = report.runs.length > 1;
  title.textContent = many ? `${report.runs.length} runs` : `${report.runs[0].algorithm}: ${report.runs[0].name}`;
  document.title = `${title.textContent} – Gossamer`;
  for (const run of report.runs) {
    const s = run.settings;
    const workers = run.summary?.workers ?? s.workers;
    const parts = [workers && `${workers} worker${`${workers}` === "1" ? "" : "s"}`, s.data, s.model, s.codec && `codec ${s.codec}`, s.topology && `topology ${s.topology}`,
      s.network && `network ${s.network}`, s.seed && `seed ${s.seed}`];
    list.append(element("li", {}, element("strong", {}, run.name), ` – ${[run.algorithm, ...parts].filter(Boolean).join(", ")}; ${endOf(run)}`));
  }
}

function endOf(run) {
  if (!run.summary) return "unfinished: it goes on, or has failed";
  return { planned: "ended as planned", seconds: "ended when its time was over", interrupted: "interrupted" }[run.summary.end] ?? "ended";
}

const numbers = [
  ["test accuracy", r => percent(r.final.test_accuracy)],
  ["training loss", r => real(r.final.train_loss)],
  ["test loss", r => real(r.final.test_loss)],
  ["consensus distance", r => real(r.final.consensus_distance)],
  ["time", r => seconds(r.final.time_s)],
  ["epochs", r => real(r.final.epoch)],
  ["gradients, all workers", r => r.final.step?.toLocaleString("en") ?? "–"],
  ["payload", r => bits(r.final.payload_bits)],
  ["payload between islands", r => bits(r.final.payload_bits_between_islands)],
  ["on the wire", r => bits(r.final.wire_bits)],
  ["steps of a worker: least", r => r.steps.at(0) ?? "–"],
  ["median", r => r.steps.at(r.steps.length >> 1) ?? "–"],
  ["most", r => r.steps.at(-1) ?? "–"],
  ["workers lost", r => r.summary?.lost ?? "–"],
  ["workers that came or came back", r => r.summary?.returned ?? "–"],
  ["changes of the members", r => r.summary?.views ?? "–"],
  ["end", r => r.summary?.end ?? "unfinished"],
];
const bits = n => (n === undefined ? "–" : `${withPrefix(n)}bit`.replace(/(\d)bit/, "$1 bit"));

export function finalNumbers(into) {
  const last = run => Object.fromEntries(Object.entries(run.evaluations).map(([field, values]) => [field, values.at(-1)]));
  const ends = report.runs.map(run => ({ summary: run.summary, final: run.summary ?? last(run), steps: [...(run.summary?.steps_per_worker ?? [])].sort((a, b) => a - b) }));
  into.append(tableOf("the last evaluation, and what the whole run took", ["", ...report.runs.map(labelOf)],
    numbers.map(([name, of]) => [name, ...ends.map(of)]).filter(([, ...cells]) => cells.some(cell => cell !== "–"))));
  if (report.runs.some(run => !run.summary)) into.append(note("A run without a summary is unfinished: its numbers are those of its last evaluation."));
  for (const run of report.runs.filter(run => run.left_out.evaluations > 0))
    into.append(note(`The curves of ${labelOf(run)} are drawn without ${run.left_out.evaluations} evaluations between those that are shown.`));
}

/** True for a setting that all simulations have and no other run: that is no difference worth a row. */
const ofSimulations = s => s.name !== "faults" && s.values.every((v, i) => (v !== null) === (report.runs[i].settings.network !== null));

export function settingsOf(into) {
  const named = s => element("th", { scope: "row", title: s.help }, s.name);
  const rowsOf = some => some.map(s => [named(s), ...s.values.map(v => v ?? "–")]);
  const differs = s => [...new Set(s.values)].filter(v => v !== null || !ofSimulations(s)).length > 1;
  const different = report.settings.filter(differs), same = report.settings.filter(s => !differs(s));
  const heads = ["setting", ...report.runs.map(labelOf)];
  if (report.settings.length === 0) into.append(note("The folders hold no config.toml."));
  if (different.length > 0) into.append(tableOf("what differs", heads, rowsOf(different), "settings"));
  else if (report.runs.length > 1 && same.length > 0) into.append(note("All settings are the same."));
  const common = same.map(s => [named(s), s.values.find(v => v !== null) + (s.values.includes(null) ? " (simulations alone)" : "")]);
  if (common.length > 0) into.append(fold(`${common.length} settings${report.runs.length > 1 ? " that are the same" : ""}`, tableOf("the other settings", ["setting", "value"], common, "settings")));
}

/** Waiting times as a matrix: rows wait for columns. */
function matrixOf(blame) {
  const ranks = blame.workers.map(w => w.rank);
  const of = new Map(blame.waits.map(w => [`${w.waiter},${w.culprit}`, w.seconds]));
  const most = blame.waits[0].seconds;
  const cell = (waiter, culprit) => {
    const s = of.get(`${waiter},${culprit}`);
    const made = element("td", { className: "heat" }, waiter === culprit ? "" : s ? real(s) : "0");
    if (s) made.style.background = `color-mix(in srgb, var(--waiting) ${Math.round((55 * s) / most)}%, transparent)`;
    return made;
  };
  return tableOf("seconds that the worker of a row waited for that of a column", ["waits for", ...ranks.map(r => `worker ${r}`)], ranks.map(r => [`worker ${r}`, ...ranks.map(c => cell(r, c))]));
}

function waitsOf(run) {
  const { waits, workers, total_s: total } = run.blame;
  if (waits.length === 0) return [note("Nobody waited for another worker.")];
  const row = w => [`worker ${w.waiter}`, `worker ${w.culprit}`, real(w.seconds), total > 0 ? percent(w.seconds / total) : "–"];
  const heads = ["who", "for whom", "seconds", "of the run"];
  const parts = [tableOf("the longest waits", heads, waits.slice(0, shownWaits).map(row))];
  if (waits.length > shownWaits) parts.push(fold(`${waits.length - shownWaits} more${run.left_out.waits ? `; ${run.left_out.waits} are left out` : ""}`, tableOf("shorter waits", heads, waits.slice(shownWaits).map(row))));
  if (workers.length <= mostInMatrix) parts.push(fold("As a matrix", matrixOf(run.blame)));
  const of = w => [`worker ${w.rank}`, real(w.computing_s), real(w.own_gradient_s), real(w.peers_s), w.worst_peer === null ? "–" : `worker ${w.worst_peer}, ${real(w.worst_peer_s)}`, real(w.blamed_s)];
  parts.push(fold("Each worker", tableOf("seconds of each worker", ["", "computing", "waits for its gradient", "for others", "longest for", "others for it"], workers.map(of))));
  return parts;
}

export function blameOf(into) {
  const known = report.runs.filter(run => run.blame);
  if (known.length === 0) into.append(note("Only simulations know it, and keep it in blame.json."));
  for (const run of known) into.append(element("h3", {}, labelOf(run)), ...waitsOf(run));
}

export function commandsOf(into) {
  for (const run of report.runs)
    into.append(element("h3", {}, labelOf(run)), run.command ? element("pre", { tabIndex: 0 }, run.command) : note("Its config.toml names no command."));
}
