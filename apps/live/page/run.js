// What the page knows of a run: made from the lines that the server sends, and from nothing else.

const silentAfterSteps = 6; // mean times of a step without one: worth a look
const leastSilence = 2; // s
const leastShare = 1e-3; // of the busiest link: less is nothing
const mostAwaited = 3; // that a sentence names

export class Run {
  constructor() {
    this.forget();
  }

  forget() {
    this.about = null; // line "run"
    this.view = null; // line "view"
    this.progress = null; // newest line
    this.end = null; // line "end"
    this.samples = []; // lines "progress"
    this.evaluations = [];
    this.events = [];
    this.workers = new Map(); // by rank
    this.known = new Set(); // ranks of all views
    this.links = new Map(); // of all views, so that places in the picture stay
    this.rates = new Map(); // bit/s by "from,to"
    this.waits = null; // by waiting worker; null: not known
    this.waited = []; // [waiter, culprit, seconds], the longest first
    this.used = null; // seconds by activity and rank; null: not known
    this.time = 0;
  }

  /** Takes a line in. Returns its type. */
  hear(line) {
    const is = {
      begin: () => this.forget(),
      run: () => (this.about = line),
      view: () => this.adopt(line),
      workers: () => this.count(line),
      progress: () => this.samples.push((this.progress = line)),
      evaluation: () => this.evaluations.push(line),
      event: () => this.events.push(line),
      end: () => (this.end = line),
    };
    (is[line.type] ?? (() => {}))(); // later versions may say more
    if (line.time_s > this.time) this.time = line.time_s;
    return line.type;
  }

  adopt(view) {
    this.view = view;
    const all = [...view.members, ...view.masters];
    this.places = new Map(all.map((rank, i) => [rank, view.nodes[i]]));
    all.forEach(rank => this.known.add(rank));
    view.edges.forEach(edge => this.links.set(`${edge}`, edge));
  }

  count(line) {
    line.steps.forEach((steps, rank) => {
      const before = this.workers.get(rank);
      const now = { time: line.time_s, steps, payload: line.payload_bits[rank], moved: before?.moved ?? 0, rate: 0, bits: 0 };
      const passed = line.time_s - (before?.time ?? 0);
      if (before && passed > 0) {
        now.rate = mean(before.rate, Math.max(0, steps - before.steps) / passed);
        now.bits = mean(before.bits, Math.max(0, now.payload - before.payload) / passed);
      }
      if (!before || steps !== before.steps) now.moved = line.time_s;
      this.workers.set(rank, now);
    });
    this.waits = line.waits && new Map();
    for (const [who, whom] of line.waits ?? []) this.waits.set(who, [...(this.waits.get(who) ?? []), whom]);
    this.flow(line.links ?? []);
    this.waited = line.waited_s ?? [];
    this.used = line.used_s ?? null;
  }

  /** Takes in what went over links since the line before. */
  flow(links) {
    const now = new Map(links.map(([from, to, rate]) => [`${from},${to}`, rate]));
    for (const key of this.rates.keys()) if (!now.has(key)) now.set(key, 0);
    const means = [...now].map(([key, rate]) => [key, mean(this.rates.get(key) ?? 0, rate)]);
    const least = leastShare * Math.max(0, ...means.map(([, rate]) => rate));
    this.rates = new Map(means.filter(([, rate]) => rate > least));
  }

  /** Directed links with their bits per second; none when the run has ended. */
  busiestLinks() {
    const all = [...this.rates].map(([key, rate]) => [...key.split(",").map(Number), rate]).map(([from, to, rate]) => ({ from, to, rate }));
    return this.end ? [] : all.filter(({ from, to }) => this.isThere(from) && this.isThere(to)).sort((a, b) => b.rate - a.rate);
  }

  /** Seconds of computing, compressing, communicating and waiting; null: not known. */
  usedBy(rank) {
    return this.used && Object.values(this.used).map(column => column[rank] ?? 0);
  }

  isMaster(rank) {
    return this.view.masters.includes(rank);
  }

  isThere(rank) {
    return this.places?.has(rank) ?? false;
  }

  /** "computing", "waiting", "silent", "joining", "lost" or, at the end, "done". */
  stateOf(rank) {
    if (!this.isThere(rank)) return "lost";
    if (this.end) return "done";
    const one = this.workers.get(rank);
    if (!one || this.isMaster(rank)) return "computing";
    if (one.steps === 0) return "joining";
    const usual = one.steps > 0 ? this.time / one.steps : 0;
    if (this.time - one.moved > Math.max(leastSilence, silentAfterSteps * usual)) return "silent";
    return this.waits?.has(rank) ? "waiting" : "computing";
  }

  nameOf(rank) {
    return this.view && this.isMaster(rank) ? `master ${this.view.masters.indexOf(rank)}` : `worker ${rank}`;
  }

  describe(rank) {
    const state = this.stateOf(rank);
    const awaited = state === "waiting" || state === "silent" ? (this.waits?.get(rank) ?? []) : [];
    if (awaited.length === 0) return state;
    const names = awaited.slice(0, mostAwaited).map(w => this.nameOf(w)).join(", ");
    const whom = `for ${names}${awaited.length > mostAwaited ? ` and ${awaited.length - mostAwaited} more` : ""}`;
    return state === "waiting" ? `waiting ${whom}` : `silent, waits ${whom}`;
  }
}

const mean = (before, now) => (before === 0 ? now : 0.6 * before + 0.4 * now);
