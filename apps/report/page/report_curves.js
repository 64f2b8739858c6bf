// The curves of a report: one chart for each quantity, one curve for each run.

import { colourOf, drawMarks, kindsOfEvents, look, mostMarks } from "./charts.js";
import { countOf, element, interpolated, labelOf, report } from "./report_runs.js";
import { percent, real, seconds, withPrefix } from "./words.js";

const axes = [
  { field: "time_s", name: "seconds", label: "time (s)", words: seconds },
  { field: "epoch", name: "epochs", label: "epochs", words: x => `epoch ${real(x)}` },
  { field: "step", name: "steps", label: "gradients of all workers", words: x => `${withPrefix(x)} steps` },
  { field: "payload_bits", name: "payload bits", label: "payload sent by all workers (bit)", words: x => `${withPrefix(x)}bit sent` },
];

const quantities = [
  { field: "train_loss", title: "Training loss (log scale)", label: "training loss", log: true, words: real },
  { field: "test_loss", title: "Test loss (log scale)", label: "test loss", log: true, words: real },
  { field: "test_accuracy", title: "Test accuracy", label: "test accuracy (%)", scale: 100, words: y => percent(y / 100) },
  { field: "consensus_distance", title: "Consensus distance", label: "distance of the models", words: real },
  { field: "payload_bits", title: "Payload sent by all workers", label: "payload (bit)", words: y => `${withPrefix(y)}bit` },
];

const nearPixels = 5, numberWidth = 14, manyMarks = 60;

class Chart {
  constructor(into, quantity, choice) {
    this.quantity = quantity;
    this.choice = choice;
    this.runs = report.runs.filter(run => run.evaluations[quantity.field].some(y => y !== null));
    this.plot = element("div", { className: "plot" });
    this.plot.setAttribute("role", "img");
    this.shown = element("div", { className: "shown" });
    this.shown.setAttribute("aria-hidden", "true");
    this.box = element("section", { className: "curve", id: `curve-${quantity.field}` }, element("h2", {}, quantity.title), this.plot, this.shown);
    into.append(this.box);
  }

  /** Points of a run: [x, y], without those that the scale does not show. */
  pointsOf(run) {
    const { field, scale = 1, log } = this.quantity;
    const xs = run.evaluations[this.choice.axis.field];
    const points = run.evaluations[field].map((y, i) => [xs[i], y === null ? null : scale * y]);
    return points.filter(([x, y]) => x !== null && y !== null && (!log || y > 0));
  }

  draw() {
    this.points = this.runs.map(run => this.pointsOf(run));
    const rows = this.points.flatMap((points, i) => points.map(([x, y]) => [x, ...this.runs.map((_, k) => (k === i ? y : null))]));
    this.box.hidden = rows.length === 0 || this.quantity.field === this.choice.axis.field;
    this.chart?.destroy();
    this.chart = null;
    if (this.box.hidden) return;
    this.shown.textContent = "";
    this.plot.setAttribute("aria-label", `${this.quantity.title} over ${this.choice.axis.name}; at the end: ${this.runs.map((run, i) => `${labelOf(run)} ${this.quantity.words(this.points[i].at(-1)?.[1])}`).join(", ")}`);
    this.chart = new Dygraph(this.plot, rows.sort((a, b) => a[0] - b[0]), this.options());
  }

  options() {
    const common = look(), { label, log = false } = this.quantity;
    const names = this.runs.map(run => `${run.number}`);
    return {
      ...common,
      labels: ["x", ...names],
      series: Object.fromEntries(this.runs.map((run, i) => [names[i], { color: colourOf(run.colour.slice(2)), strokePattern: run.dash.length > 0 ? run.dash : null, drawPoints: countOf(run) < 2 }])),
      visibility: this.runs.map(run => run.shown),
      legend: "never",
      logscale: log,
      xlabel: this.choice.axis.label,
      ylabel: label,
      axes: { ...common.axes, x: { axisLabelFormatter: withPrefix } },
      highlightCallback: (event, x) => this.say(x),
      unhighlightCallback: () => (this.shown.textContent = ""),
      underlayCallback: (pen, area, chart) => this.underlay(pen, area, chart),
      drawCallback: chart => this.number(chart),
    };
  }

  /** The events of the visible runs, with their places on the axis. */
  marks() {
    const field = this.choice.axis.field;
    return this.runs.filter(run => run.shown).flatMap(run => run.events.filter(e => this.choice.kinds.has(e.kind)).slice(-mostMarks)
      .map(e => ({ ...e, run, at: interpolated(run, e.time_s, field) })));
  }

  underlay(pen, area, chart) {
    const events = this.marks();
    pen.save();
    pen.globalAlpha = events.length > manyMarks ? 0.3 : 0.7;
    for (const run of this.runs) drawMarks(pen, area, chart, events.filter(e => e.run === run));
    pen.restore();
  }

  /** Writes the number of each run at the end of its curve, which tells them apart without colours. */
  number(chart) {
    if (report.runs.length < 2) return;
    const pen = chart.hidden_ctx_, area = chart.getArea(), taken = [];
    const ends = this.runs.map((run, i) => ({ run, end: this.points[i].at(-1) })).filter(({ run, end }) => run.shown && end);
    for (const { run, end } of ends) {
      const [x, y] = chart.toDomCoords(end[0], end[1]);
      if (x < area.x || x > area.x + area.w + 1 || y < area.y || y > area.y + area.h) continue;
      const behind = x + 3 + numberWidth <= area.x + area.w ? x + 3 : x - numberWidth;
      let at = behind > x ? y + 4 : y - 5; // above the curve where there is no room behind it
      const isFree = height => height >= area.y + 10 && !taken.some(([a, b]) => Math.abs(a - behind) < numberWidth && Math.abs(b - height) < 11);
      for (let i = 0; !isFree(at) && i < 2 * ends.length + 2; ++i) at += (i % 2 === 0 ? -11 : 11) * (i + 1); // above, below, ...
      taken.push([behind, at]);
      pen.save();
      pen.font = "600 12px system-ui, sans-serif";
      pen.fillStyle = colourOf(run.colour.slice(2));
      pen.fillText(`${run.number}`, behind, at);
      pen.restore();
    }
  }

  say(x) {
    const values = this.runs.map((run, i) => ({ run, point: nearest(this.points[i], x) })).filter(({ run, point }) => run.shown && point);
    const lines = values.map(({ run, point }) => `${labelOf(run)}: ${this.quantity.words(point[1])} at ${this.choice.axis.words(point[0])}`);
    const near = this.marks().filter(e => Math.abs(this.chart.toDomXCoord(e.at) - this.chart.toDomXCoord(x)) <= nearPixels);
    lines.push(...near.slice(0, 3).map(e => `${seconds(e.time_s)}, run ${e.run.number}: ${e.what}`));
    if (near.length > 3) lines.push(`and ${near.length - 3} more`);
    this.shown.replaceChildren(...lines.map(line => element("div", {}, line)));
  }
}

function nearest(points, x) {
  let best = null;
  for (const point of points) if (!best || Math.abs(point[0] - x) < Math.abs(best[0] - x)) best = point;
  return best;
}

/** A line as curves have it, for legends. */
function sampleOf(colour, dash) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  svg.setAttribute("class", "sample");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, value] of Object.entries({ x1: 0, x2: 34, y1: 5, y2: 5, "stroke-width": 2.5, "stroke-dasharray": dash.join(" ") })) line.setAttribute(name, value);
  line.style.stroke = `var(${colour})`;
  svg.append(line);
  return svg;
}

export class Curves {
  constructor(into) {
    this.choice = { axis: axes[0], kinds: new Set(Object.keys(kindsOfEvents)) };
    this.charts = quantities.map(q => new Chart(into, q, this.choice)).filter(chart => chart.runs.length > 0 || chart.box.remove());
  }

  draw() {
    for (const chart of this.charts) chart.draw();
  }

  offerAxes(into) {
    for (const axis of axes) into.append(this.box("radio", "axis", axis === this.choice.axis, () => (this.choice.axis = axis), axis.name));
  }

  offerRuns(into) {
    if (report.runs.length < 2) into.hidden = true;
    for (const run of report.runs)
      into.append(this.box("checkbox", `run-${run.number}`, true, on => (run.shown = on), sampleOf(run.colour, run.dash), labelOf(run)));
  }

  offerMarks(into) {
    const there = Object.entries(kindsOfEvents).filter(([kind]) => report.runs.some(run => run.events.some(e => e.kind === kind)));
    into.hidden = there.length === 0;
    for (const [kind, { name, dash }] of there)
      into.append(this.box("checkbox", `mark-${kind}`, true, on => this.choice.kinds[on ? "add" : "delete"](kind), sampleOf(`--${kind}`, dash), name));
  }

  box(type, name, checked, choose, ...inside) {
    const input = element("input", { type, name, checked });
    input.addEventListener("change", () => { choose(input.checked); this.draw(); });
    return element("label", {}, input, " ", ...inside);
  }
}
