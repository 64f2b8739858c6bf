// Time lines of faults and events.

import { element, labelOf, report } from "./report_runs.js";
import { seconds } from "./words.js";

const laneHeight = 15, mostFaultLanes = 6;
const moments = ["loss", "arrival", "leader"];

/** Faults from their begin to their end: what was told of them, or else what was planned. */
function spansOf(run, end) {
  const told = run.events.filter(e => e.kind === "fault");
  if (told.length === 0) return run.faults.filter(f => f.at_s !== null && f.at_s <= end).map(f => ({ what: f.what, from: f.at_s, to: f.lasts_s === null ? null : f.at_s + f.lasts_s }));
  const spans = [];
  for (const e of told) {
    const [, how, what] = /^(begins|ends): (.*)$/s.exec(e.what) ?? [null, "begins", e.what];
    const open = how === "ends" && spans.find(s => s.what === what && s.to === null);
    if (open) open.to = e.time_s;
    else spans.push({ what, from: e.time_s, to: how === "ends" ? e.time_s : null });
  }
  return spans;
}

/** Puts spans into lanes in which they do not overlap; the last lane takes what is left. */
function laneOf(span, ends) {
  let lane = ends.findIndex(end => end <= span.from);
  if (lane < 0) lane = Math.min(ends.length, mostFaultLanes - 1);
  ends[lane] = span.to ?? Infinity;
  return lane;
}

function trackOf(run, end) {
  const track = element("div", { className: "track" });
  track.setAttribute("aria-hidden", "true"); // the list below says the same
  const share = s => Math.min(1, Math.max(0, s / end)).toFixed(5);
  const label = (text, lane) => {
    const name = element("span", { className: "lane" }, text);
    name.style.top = `${1 + laneHeight * lane}px`;
    track.append(name);
  };
  const ends = [];
  for (const span of spansOf(run, end)) {
    const bar = element("div", { className: span.to === null ? "bar open" : "bar", title: `${seconds(span.from)}: ${span.what}` });
    bar.style.setProperty("--from", share(span.from));
    bar.style.setProperty("--lasts", share((span.to ?? end) - span.from));
    bar.style.top = `${2 + laneHeight * laneOf(span, ends)}px`;
    track.append(bar);
  }
  let lanes = ends.length;
  if (lanes > 0) label("faults", 0);
  for (const kind of moments) {
    const events = run.events.filter(e => e.kind === kind);
    if (events.length === 0) continue;
    for (const e of events) {
      const tick = element("div", { className: "tick", title: `${seconds(e.time_s)}: ${e.what}` });
      tick.style.setProperty("--from", share(e.time_s));
      tick.style.top = `${1 + laneHeight * lanes}px`;
      tick.style.borderColor = `var(--${kind})`;
      track.append(tick);
    }
    label({ loss: "losses", arrival: "arrivals", leader: "leader" }[kind], lanes++);
  }
  track.style.height = `${laneHeight * lanes + 3}px`;
  return track;
}

function listOf(run) {
  const events = run.events.length > 0 ? run.events : run.faults.map(f => ({ time_s: f.at_s, kind: "fault", what: `planned: ${f.what}` }));
  const left = run.left_out.events + run.left_out.faults;
  const item = e => {
    const made = element("li", {}, element("time", {}, seconds(e.time_s)), `${e.kind === "note" ? "" : `${e.kind}: `}${e.what}`);
    made.style.borderColor = `var(--${e.kind})`;
    return made;
  };
  const list = element("ol", { className: "events", tabIndex: 0 }, ...events.map(item));
  list.setAttribute("aria-label", `events of ${labelOf(run)}`);
  return element("details", {}, element("summary", {}, `${events.length} event${events.length === 1 ? "" : "s"}${left ? `; ${left} more are left out` : ""}`), list);
}

export function timesOf(into) {
  const some = report.runs.filter(run => run.events.length + run.faults.length > 0);
  if (some.length === 0) into.append(element("p", { className: "note" }, "Nothing happened, as far as the folders say."));
  for (const run of some) {
    const end = Math.max(run.summary?.time_s ?? 0, run.evaluations.time_s.at(-1) ?? 0, ...run.events.map(e => e.time_s), 1e-9);
    into.append(element("h3", {}, labelOf(run)), trackOf(run, end));
    into.append(element("div", { className: "ends" }, element("span", {}, "0 s"), element("span", {}, seconds(end))), listOf(run));
  }
}
