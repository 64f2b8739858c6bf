// The runs of a report, from the data in the page.

export const report = JSON.parse(document.getElementById("data").textContent);

const runColours = 7;
const runDashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 4], [5, 2, 5, 7]];

report.runs.forEach((run, i) => {
  run.number = i + 1;
  run.colour = `--run-${i % runColours}`;
  run.dash = runDashes[i % runDashes.length];
  run.shown = true;
  run.settings = Object.fromEntries(report.settings.map(s => [s.name, s.values[i]]));
  run.algorithm = run.summary?.algorithm ?? run.settings.algorithm ?? "a run";
});

export const labelOf = run => (report.runs.length > 1 ? `${run.number}: ${run.name}` : run.name);

/** How many there are of the evaluations that the page holds. */
export const countOf = run => run.evaluations.step.length;

/** Where a moment lies on another axis: between the evaluations around it. */
export function interpolated(run, seconds, field) {
  const times = run.evaluations.time_s, values = run.evaluations[field];
  if (field === "time_s" || times.length === 0) return field === "time_s" ? seconds : NaN;
  const after = times.findIndex(t => t >= seconds);
  if (after <= 0) return values[after === 0 ? 0 : values.length - 1];
  const share = (seconds - times[after - 1]) / (times[after] - times[after - 1]);
  return values[after - 1] + share * (values[after] - values[after - 1]);
}

/** An element with properties, and children that are texts or elements. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
