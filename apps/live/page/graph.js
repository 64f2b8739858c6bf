// The workers and their links, drawn on a canvas. State is shown by colour and by shape.

const mostInGraph = 400; // more are drawn as a grid of cells
const widestLink = 6; // pixels, for the busiest

export const shapes = {
  computing: "full circle",
  waiting: "ring",
  silent: "two bars",
  joining: "half circle",
  lost: "cross",
  done: "full circle",
};

export class Graph {
  constructor(canvas, run, onHover, onChoose) {
    this.canvas = canvas;
    this.run = run;
    this.places = new Map();
    this.shape = "";
    new ResizeObserver(() => this.draw()).observe(canvas);
    canvas.addEventListener("pointermove", e => onHover(this.at(e)));
    canvas.addEventListener("pointerleave", () => onHover(null));
    canvas.addEventListener("click", e => this.at(e) !== null && onChoose(this.at(e), e.shiftKey));
  }

  at(event) {
    let found = null, best = 18 * 18;
    for (const [rank, [x, y]] of this.places) {
      const distance = (x - event.offsetX) ** 2 + (y - event.offsetY) ** 2;
      if (distance < best) [found, best] = [rank, distance];
    }
    return found;
  }

  /** Places in the unit square: a circle, or what the links pull together if there are few of them. */
  layOut() {
    const ranks = [...this.run.known].sort((a, b) => a - b);
    const links = [...this.run.links.values()];
    const shape = JSON.stringify(ranks); // links that repair the graph move nobody
    if (shape === this.shape) return;
    this.shape = shape;
    const masters = ranks.filter(rank => this.run.isMaster(rank));
    const others = ranks.filter(rank => !this.run.isMaster(rank));
    this.unit = new Map();
    others.forEach((rank, i) => {
      const angle = (2 * Math.PI * i) / others.length - Math.PI / 2;
      this.unit.set(rank, [0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)]);
    });
    masters.forEach((rank, i) => {
      const angle = (2 * Math.PI * i) / masters.length;
      const radius = masters.length > 1 ? 0.15 : 0;
      this.unit.set(rank, [0.5 + radius * Math.cos(angle), 0.5 + radius * Math.sin(angle)]);
    });
    const sparse = links.length > others.length && links.length <= 3 * others.length;
    if (masters.length === 0 && sparse) this.pull(ranks, links);
  }

  /** Forces between all (apart) and along links (together), from the circle on: the same graph looks the same. */
  pull(ranks, edges) {
    const ideal = 1 / Math.sqrt(ranks.length);
    for (let heat = 0.1; heat > 0.002; heat *= 0.97) {
      const move = new Map(ranks.map(rank => [rank, [0, 0]]));
      const push = (a, b, force) => {
        const [ax, ay] = this.unit.get(a), [bx, by] = this.unit.get(b);
        const dx = ax - bx, dy = ay - by, distance = Math.hypot(dx, dy) || 1e-3;
        const f = force(distance) / distance;
        move.get(a)[0] += dx * f; move.get(a)[1] += dy * f;
        move.get(b)[0] -= dx * f; move.get(b)[1] -= dy * f;
      };
      for (let i = 0; i < ranks.length; ++i)
        for (let k = i + 1; k < ranks.length; ++k) push(ranks[i], ranks[k], d => (ideal * ideal) / d);
      for (const [a, b] of edges) if (this.unit.has(a) && this.unit.has(b)) push(a, b, d => -(d * d) / ideal);
      for (const rank of ranks) {
        const [dx, dy] = move.get(rank), length = Math.hypot(dx, dy) || 1, [x, y] = this.unit.get(rank);
        this.unit.set(rank, [x + (dx / length) * Math.min(length, heat), y + (dy / length) * Math.min(length, heat)]);
      }
    }
    const xs = [...this.unit.values()].map(p => p[0]), ys = [...this.unit.values()].map(p => p[1]);
    const [left, right, top, low] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (const [rank, [x, y]] of this.unit)
      this.unit.set(rank, [(x - left) / (right - left || 1), (y - top) / (low - top || 1)]);
  }

  draw() {
    const { canvas, run } = this;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!run.view || width === 0) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    this.colours = getComputedStyle(canvas);
    const many = run.known.size > mostInGraph;
    document.getElementById("links-note").hidden = many;
    many ? this.drawCells(pen, width, height) : this.drawGraph(pen, width, height);
  }

  colour(name) {
    return this.colours.getPropertyValue(`--${name === "done" ? "computing" : name}`).trim();
  }

  drawCells(pen, width, height) {
    const ranks = [...this.run.known].sort((a, b) => a - b);
    const size = Math.max(2, Math.floor(Math.sqrt((width * height) / ranks.length)) - 1);
    const columns = Math.max(1, Math.floor(width / size));
    this.places.clear();
    ranks.forEach((rank, i) => {
      const x = (i % columns) * size, y = Math.floor(i / columns) * size;
      pen.fillStyle = this.colour(this.run.stateOf(rank));
      pen.fillRect(x, y, size - 1, size - 1);
      this.places.set(rank, [x + size / 2, y + size / 2]);
    });
  }

  drawGraph(pen, width, height) {
    this.layOut();
    const margin = 24, side = Math.min(width, height) - 2 * margin;
    const wide = Math.min(width - 2 * margin, 1.4 * side);
    this.places.clear();
    for (const [rank, [x, y]] of this.unit)
      this.places.set(rank, [(width - wide) / 2 + x * wide, (height - side) / 2 + y * side]);
    const radius = Math.max(3, Math.min(13, 0.42 * leastDistance([...this.places.values()])));
    this.drawMachines(pen, radius);
    this.drawLinks(pen, radius);
    for (const rank of this.places.keys()) this.drawWorker(pen, rank, radius);
  }

  /** Links of the graph; over them what each end sends, on its half; and dashes on the half of an end that waits. */
  drawLinks(pen, radius) {
    const line = (from, to, colour, width, dash = []) => {
      pen.strokeStyle = this.colour(colour);
      pen.lineWidth = width;
      pen.setLineDash(dash);
      pen.beginPath();
      pen.moveTo(...from);
      pen.lineTo(...to);
      pen.stroke();
      pen.setLineDash([]);
    };
    const place = rank => this.places.get(rank);
    const middle = (a, b) => [(place(a)[0] + place(b)[0]) / 2, (place(a)[1] + place(b)[1]) / 2];
    const drawn = ([a, b]) => this.places.has(a) && this.places.has(b);
    for (const [a, b] of this.run.view.edges.filter(drawn)) line(place(a), place(b), "edge", 1);
    const busiest = this.run.busiestLinks().filter(({ from, to }) => drawn([from, to]));
    for (const { from, to, rate } of busiest) {
      const share = rate / busiest[0].rate;
      pen.globalAlpha = 0.35 + 0.65 * share;
      line(place(from), middle(from, to), "traffic", Math.max(1, Math.min(widestLink, radius / 2) * Math.sqrt(share)));
    }
    pen.globalAlpha = 1;
    for (const [waiter, all] of this.run.waits ?? [])
      for (const awaited of all) if (drawn([waiter, awaited])) line(place(waiter), middle(waiter, awaited), "waiting", 2, [3, 3]);
  }

  /** A hull around the workers of each machine, if there are several; that of the leader has a full line. */
  drawMachines(pen, radius) {
    const of = new Map();
    for (const [rank, node] of this.run.places) of.set(node, [...(of.get(node) ?? []), rank]);
    if (of.size < 2) return;
    for (const [node, ranks] of of) {
      const points = ranks.filter(rank => this.places.has(rank)).map(rank => this.places.get(rank));
      if (points.length === 0) continue;
      const leads = node === this.run.view.leader;
      pen.strokeStyle = this.colour(leads ? "leader" : "faint");
      pen.lineWidth = leads ? 2.5 : 1.2;
      pen.setLineDash(leads ? [] : [3, 4]);
      const hull = hullOf(points.flatMap(p => around(p, radius + 7)));
      pen.beginPath();
      hull.forEach((p, i) => (i === 0 ? pen.moveTo(...p) : pen.lineTo(...p)));
      pen.closePath();
      pen.stroke();
      pen.setLineDash([]);
    }
  }

  drawWorker(pen, rank, radius) {
    const [x, y] = this.places.get(rank);
    const state = this.run.stateOf(rank);
    pen.fillStyle = pen.strokeStyle = this.colour(state);
    pen.lineWidth = Math.max(2, radius / 4);
    pen.beginPath();
    if (state === "lost") {
      pen.moveTo(x - radius * 0.7, y - radius * 0.7); pen.lineTo(x + radius * 0.7, y + radius * 0.7);
      pen.moveTo(x + radius * 0.7, y - radius * 0.7); pen.lineTo(x - radius * 0.7, y + radius * 0.7);
      pen.stroke();
    } else if (this.run.isMaster(rank)) {
      pen.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    } else {
      pen.fillStyle = this.colour("panel");
      pen.arc(x, y, radius - 1, 0, 2 * Math.PI);
      pen.fill();
      if (state === "waiting" || state === "joining" || state === "silent") pen.stroke();
      pen.fillStyle = this.colour(state);
      if (state === "computing" || state === "done") pen.fill();
      if (state === "joining") { pen.beginPath(); pen.arc(x, y, radius - 1, Math.PI / 2, 1.5 * Math.PI); pen.fill(); }
      if (state === "silent") {
        pen.fillRect(x - radius * 0.45, y - radius * 0.45, radius * 0.3, radius * 0.9);
        pen.fillRect(x + radius * 0.15, y - radius * 0.45, radius * 0.3, radius * 0.9);
      }
    }
    if (radius >= 8) this.drawName(pen, rank, state, x, y);
  }

  drawName(pen, rank, state, x, y) {
    const full = (state === "computing" || state === "done") && !this.run.isMaster(rank);
    pen.font = "600 11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = this.colour(full || this.run.isMaster(rank) ? "back" : "text");
    if (state !== "lost" && state !== "silent")
      pen.fillText(this.run.isMaster(rank) ? this.run.view.masters.indexOf(rank) : rank, x, y);
  }
}

/** The distance of the two places that are nearest to each other. */
function leastDistance(places) {
  let least = Infinity;
  for (let i = 0; i < places.length; ++i)
    for (let k = i + 1; k < places.length; ++k)
      least = Math.min(least, Math.hypot(places[i][0] - places[k][0], places[i][1] - places[k][1]));
  return least;
}

const around = ([x, y], r) => Array.from({ length: 12 }, (_, i) => [x + r * Math.cos((i * Math.PI) / 6), y + r * Math.sin((i * Math.PI) / 6)]);

/** Andrew's monotone chain. */
function hullOf(points) {
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = list => {
    const chain = [];
    for (const p of list) {
      while (chain.length >= 2 && turn(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(points), ...half([...points].reverse())];
}
