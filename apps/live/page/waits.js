// Who waited for whom, as a matrix of cells: rows wait for columns.

import { real } from "./words.js";

const mostCells = 400; // rows and columns; beyond, those that wait longest
const mostRows = 40; // of so many workers
const named = 5; // in words, below

export class Waits {
  constructor(section, run) {
    this.run = run;
    this.section = section;
    [this.canvas, this.hovered, this.words] = ["canvas", ".hover", "ol"].map(what => section.querySelector(what));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.canvas.addEventListener("pointermove", e => (this.hovered.textContent = this.at(e)));
    this.canvas.addEventListener("pointerleave", () => (this.hovered.textContent = ""));
  }

  /** The workers that have a row, and those that have a column. */
  axes() {
    const ranks = [...this.run.known].sort((a, b) => a - b);
    if (ranks.length <= mostCells) return [ranks, ranks];
    const sums = new Map();
    for (const [waiter, , s] of this.run.waited) sums.set(waiter, (sums.get(waiter) ?? 0) + s);
    const rows = [...sums].sort((a, b) => b[1] - a[1]).slice(0, mostRows).map(([rank]) => rank);
    const columns = new Set(this.run.waited.filter(([waiter]) => rows.includes(waiter)).map(([, culprit]) => culprit));
    return [rows, [...columns].sort((a, b) => a - b)];
  }

  draw() {
    const { canvas, run } = this;
    this.section.hidden = run.waited.length === 0;
    if (this.section.hidden || canvas.clientWidth === 0) return;
    [this.rows, this.columns] = this.axes();
    const margin = 34;
    this.size = Math.min(28, (canvas.clientWidth - margin) / this.columns.length);
    const height = margin + this.size * this.rows.length;
    canvas.style.height = `${height}px`;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const colours = getComputedStyle(canvas), colour = name => colours.getPropertyValue(`--${name}`).trim();
    const placeOf = list => new Map(list.map((rank, i) => [rank, margin + i * this.size]));
    const [top, left] = [placeOf(this.rows), placeOf(this.columns)];
    pen.fillStyle = colour("back");
    pen.fillRect(margin, margin, this.size * this.columns.length, this.size * this.rows.length);
    const most = run.waited[0][2], gap = this.size > 6 ? 1 : 0;
    pen.fillStyle = colour("waiting");
    for (const [waiter, culprit, s] of run.waited) {
      if (!top.has(waiter) || !left.has(culprit)) continue;
      pen.globalAlpha = Math.max(0.08, s / most);
      pen.fillRect(left.get(culprit), top.get(waiter), this.size - gap, this.size - gap);
    }
    pen.globalAlpha = 1;
    this.drawNames(pen, colour("faint"), top, left);
    this.say();
  }

  drawNames(pen, colour, top, left) {
    pen.fillStyle = colour;
    pen.font = "10px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const every = Math.max(1, Math.ceil(14 / this.size));
    [...top].forEach(([rank, y], i) => {
      pen.textAlign = "right";
      if (i % every === 0) pen.fillText(this.shortName(rank), 29, y + this.size / 2);
    });
    const across = Math.max(1, Math.ceil(22 / this.size));
    [...left].forEach(([rank, x], i) => {
      pen.textAlign = "center";
      if (i % across === 0) pen.fillText(this.shortName(rank), x + this.size / 2, 24);
    });
  }

  shortName(rank) {
    return this.run.isMaster(rank) ? `m${this.run.view.masters.indexOf(rank)}` : `${rank}`;
  }

  at(event) {
    const place = offset => Math.floor((offset - 34) / this.size);
    const waiter = this.rows?.[place(event.offsetY)], culprit = this.columns?.[place(event.offsetX)];
    if (waiter === undefined || culprit === undefined) return "";
    const s = this.run.waited.find(([a, b]) => a === waiter && b === culprit)?.[2];
    return s ? this.sentence(waiter, culprit, s) : "";
  }

  sentence(waiter, culprit, s) {
    return `${this.run.nameOf(waiter)} waited ${real(s)} s for ${this.run.nameOf(culprit)}`;
  }

  /** The longest waits, for those who do not see the matrix. */
  say() {
    const texts = this.run.waited.slice(0, named).map(one => this.sentence(...one));
    while (this.words.childElementCount > texts.length) this.words.lastElementChild.remove();
    texts.forEach((text, i) => {
      const item = this.words.children[i] ?? this.words.appendChild(document.createElement("li"));
      if (item.textContent !== text) item.textContent = text;
    });
  }
}
