// The form that strikes a running run with a fault. Shown only where the server takes orders.

const kinds = {
  kill: {}, pause: {}, slow: { number: "times slower", key: "factor", value: 5 },
  partition: { links: true }, "one-way cut": { kind: "partition", links: true, extra: "one-way = true" },
  drop: { links: true, number: "share of frames", key: "rate", value: 0.1 },
  delay: { links: true, number: "seconds", key: "seconds", value: 0.2 },
  throttle: { links: true, number: "bit/s", key: "bits-per-second", value: 1000000 },
  leave: {},
  "kill process": { words: (node, lasts) => `kill ${node}`, targets: "node" },
  "stop process": { words: (node, lasts) => `stop ${node} ${lasts}`, targets: "node" },
};

const ranksOf = text => text.split(/[\s,]+/).filter(word => /^\d+$/.test(word)).join(", ");

export function textOf(name, workers, to, lasts, number) {
  const how = kinds[name];
  if (how.words) return how.words(workers, lasts).replace(/ +/g, " ").trim();
  const lines = ["[[fault]]", `kind = "${how.kind ?? name}"`];
  if (how.links && to) lines.push(`from = [${ranksOf(workers)}]`, `to = [${ranksOf(to)}]`);
  else if (how.links && how.key && workers) lines.push(`from = [${ranksOf(workers)}]`);
  else if (workers) lines.push(`workers = [${ranksOf(workers)}]`);
  if (how.key) lines.push(`${how.key} = ${number}`);
  if (how.extra) lines.push(how.extra);
  if (lasts > 0) lines.push(`for = ${lasts}`);
  return lines.join("\n") + "\n";
}

export class Orders {
  constructor() {
    this.part = document.getElementById("orders");
    this.kind = document.getElementById("order-kind");
    this.kind.addEventListener("change", () => this.show());
    document.getElementById("order-form").addEventListener("submit", e => {
      e.preventDefault();
      const value = id => document.getElementById(id).value.trim();
      this.send(textOf(this.kind.value, value("order-workers"), value("order-to"), +value("order-lasts"), value("order-number")));
    });
    document.getElementById("heal").addEventListener("click", () => this.send("heal"));
    for (const button of document.querySelectorAll("[data-order]"))
      button.addEventListener("click", () => this.send(button.dataset.order));
    document.getElementById("set-speed").addEventListener("click", () => this.send(`speed ${document.getElementById("speed").value}`));
    this.offered = "";
  }

  /** Shows what the run can do: faults of workers and links, of processes, and being held. */
  offer(can) {
    const offered = JSON.stringify(can);
    if (offered === this.offered) return;
    this.offered = offered;
    this.part.hidden = !can.faults && !can.processes;
    document.getElementById("holding").hidden = !can.hold;
    document.getElementById("save-plan").hidden = can.processes;
    this.kind.replaceChildren();
    for (const [name, how] of Object.entries(kinds)) if (how.words ? can.processes : can.faults) this.kind.add(new Option(name));
    if (this.kind.value) this.show();
  }

  show() {
    const how = kinds[this.kind.value];
    document.getElementById("order-who").textContent = how.targets ?? "workers";
    document.getElementById("order-workers").placeholder = how.words ? "2; empty: the leader's" : "3 or 1,4";
    document.getElementById("order-to-label").hidden = !how.links;
    document.getElementById("order-number-label").hidden = !how.key;
    document.getElementById("order-number-name").textContent = how.number ?? "";
    document.getElementById("order-number").value = how.value ?? "";
  }

  /** Puts a worker that was clicked, or its node, into the form. */
  choose(rank, node, more) {
    const field = document.getElementById("order-workers");
    if (kinds[this.kind.value]?.words) field.value = `${node ?? ""}`;
    else field.value = more && field.value ? `${field.value}, ${rank}` : `${rank}`;
  }

  async send(text) {
    const answer = document.getElementById("order-answer");
    try {
      const reply = await fetch("/order", { method: "POST", body: text });
      answer.textContent = await reply.text();
    } catch (e) {
      answer.textContent = `the run does not answer: ${e.message}`;
    }
  }
}
