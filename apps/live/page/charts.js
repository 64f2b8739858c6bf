// The look of curves, and the marks of events on them.

import { withPrefix } from "./words.js";

export const mostMarks = 300;

// Kinds of events differ in colour and in dashes.
export const kindsOfEvents = {
  fault: { name: "faults", dash: [2, 3] }, loss: { name: "losses", dash: [] },
  arrival: { name: "arrivals", dash: [7, 3] }, leader: { name: "changes of the leader", dash: [9, 3, 2, 3] },
};

/** A colour of page.css, for light or dark. */
export const colourOf = name => getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();

/** Options of dygraphs that all curves share. */
export const look = () => ({
  strokeWidth: 1.8, connectSeparatedPoints: true, xLabelHeight: 15, yLabelWidth: 15,
  axisLineColor: colourOf("line"), gridLineColor: colourOf("line"),
  axes: { y: { axisLabelWidth: 62, axisLabelFormatter: withPrefix, valueFormatter: withPrefix } },
});

/** Draws a line for each event that has a place `at`, in units of the axis. */
export function drawMarks(pen, area, chart, events) {
  for (const event of events.slice(-mostMarks)) {
    const x = chart.toDomXCoord(event.at);
    if (!(x >= area.x && x <= area.x + area.w)) continue;
    pen.strokeStyle = colourOf(event.kind);
    pen.lineWidth = 1;
    pen.setLineDash(kindsOfEvents[event.kind].dash);
    pen.beginPath();
    pen.moveTo(x, area.y);
    pen.lineTo(x, area.y + area.h);
    pen.stroke();
    pen.setLineDash([]);
  }
}
