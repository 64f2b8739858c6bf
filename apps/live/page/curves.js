// Curves over time. Marks on every one: faults, losses, arrivals, changes of the leader.

import { colourOf, drawMarks, look } from "./charts.js";
import { withPrefix } from "./words.js";

const kinds = [
  { id: "loss", title: "Loss (log scale)", unit: "", log: true, series: ["minibatches", "training", "test"] },
  { id: "accuracy", title: "Test accuracy", unit: "%", series: ["accuracy"] },
  { id: "consensus", title: "Consensus distance", unit: "", series: ["distance"] },
  { id: "steps", title: "Gradients per second, all workers", unit: "steps/s", series: ["steps/s"] },
  { id: "bits", title: "Payload sent per second", unit: "bit/s", series: ["bit/s"] },
];

export class Curves {
  constructor(parent, run) {
    this.run = run;
    this.plots = kinds.map(kind => this.make(parent, kind));
  }

  make(parent, kind) {
    const box = document.createElement("section");
    box.className = "curve";
    box.id = `curve-${kind.id}`;
    box.innerHTML = `<h2></h2><div class="plot" role="img"></div><div class="shown" aria-hidden="true"></div>`;
    box.querySelector("h2").textContent = kind.title;
    parent.append(box);
    return { kind, plot: box.querySelector(".plot"), shown: box.querySelector(".shown"), chart: null };
  }

  draw() {
    for (const one of this.plots) {
      const rows = this.rowsOf(one.kind);
      if (rows.length === 0) continue;
      if (one.chart) one.chart.updateOptions({ file: rows });
      else one.chart = this.chartOf(one, rows);
      one.plot.setAttribute("aria-label", wordsOf(one.kind, rows));
    }
  }

  chartOf(one, rows) {
    const common = look();
    return new Dygraph(one.plot, rows, {
      ...common,
      labels: ["time", ...one.kind.series],
      labelsDiv: one.shown,
      legend: "always",
      colors: ["computing", "waiting", "joining"].map(colourOf),
      logscale: one.kind.log ?? false,
      xlabel: "time (s)",
      ylabel: one.kind.unit || one.kind.title.replace(/ \(.*/, "").toLowerCase(),
      axes: { ...common.axes, x: { valueFormatter: t => `${t.toFixed(2)} s` } },
      underlayCallback: (pen, area, chart) => drawMarks(pen, area, chart, this.marks()),
    });
  }

  marks() {
    return this.run.events.filter(e => e.kind !== "note").map(e => ({ kind: e.kind, at: e.time_s }));
  }

  rowsOf({ id }) {
    const { samples, evaluations } = this.run;
    if (id === "loss") return merged(samples.map(p => [p.time_s, p.loss || null, null, null]), evaluations.map(e => [e.time_s, null, e.train_loss, e.test_loss]));
    if (id === "accuracy") return evaluations.filter(e => e.test_accuracy !== null).map(e => [e.time_s, 100 * e.test_accuracy]);
    if (id === "consensus") return evaluations.map(e => [e.time_s, e.consensus_distance]);
    return ratesOf(samples, id === "steps" ? "steps_per_second" : "bits_per_second");
  }
}

/** The newest value of each series, for those who do not see the curve. */
function wordsOf(kind, rows) {
  const newest = kind.series.map((name, i) => [name, rows.findLast(row => row[i + 1] !== null)?.[i + 1]]);
  return `${kind.title} over time: ` + newest.filter(([, value]) => value !== undefined).map(([name, value]) => `${name} ${withPrefix(value)}`).join(", ");
}

const merged = (a, b) => [...a, ...b].sort((x, y) => x[0] - y[0]);

/** The samples have means since the start; what a curve should show is the pace of the last second. */
function ratesOf(samples, key) {
  const rows = [];
  let from = 0;
  for (const now of samples) {
    while (from + 1 < samples.length && samples[from + 1].time_s <= now.time_s - 1) ++from;
    const before = samples[from], passed = now.time_s - before.time_s;
    if (passed > 0) rows.push([now.time_s, Math.max(0, (now[key] * now.time_s - before[key] * before.time_s) / passed)]);
  }
  return rows;
}
