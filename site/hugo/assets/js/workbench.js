// The workbench: a measured unit's scenario, changed by a form whose state is the URL, simulated
// at every change.
import { copyable, el } from "./dom";
import { Simulator } from "./simulator";
import { fields, initial, scenarioOf, others } from "./scenario";
import { outcome } from "./outcome";
import { measuredAs } from "./measured";

const box = document.querySelector(".workbench");
const root = box.dataset.root;
const json = async (url) => {
  const r = await fetch(url);
  if (!r.ok) throw new Error(`${url}: status ${r.status}`);
  return r.json();
};

// read and write keep what differs from the start in the URL.
function read(bench) {
  const p = new URLSearchParams(location.search);
  const changes = Object.fromEntries([...p].filter(([k]) => fields.some((f) => f.id === k)));
  return { unit: p.get("unit") || bench.default, changes };
}
function write(state, bench) {
  const p = new URLSearchParams();
  if (state.unit !== bench.default) p.set("unit", state.unit);
  for (const f of fields) if (state.changes[f.id] !== undefined) p.set(f.id, state.changes[f.id]);
  const query = p.toString();
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
}

// control is the input of one field. A select takes options later, when the module tells them.
function control(f) {
  const input = f.kind === "text" ? el("textarea", { rows: 5, spellcheck: false }) : f.kind === "select" ? el("select") : el("input", { type: "number", min: f.min, max: f.max, step: f.step ?? 1 });
  input.name = f.id;
  const small = el("small");
  return { input, small, label: el("label", { className: f.wide ? "whole" : "" }, el("span", {}, f.label, " ", small), input) };
}

function choose(select, values, current) {
  const all = values.some(([v]) => v === current) ? values : [[current, current], ...values];
  select.replaceChildren(...all.map(([v, text]) => el("option", { value: v, textContent: text })));
  select.value = current;
}

class Workbench {
  constructor(bench) {
    this.bench = bench;
    this.state = read(bench);
    this.simulator = new Simulator();
    this.controls = Object.fromEntries(fields.map((f) => [f.id, control(f)]));
    this.start = el("select", { name: "unit" });
    this.out = outcome(root);
    this.scenario = el("code");
    this.layout();
  }

  layout() {
    const group = (name) => el("fieldset", {}, el("legend", {}, name), ...fields.filter((f) => f.group === name).map((f) => this.controls[f.id].label));
    const reset = el("button", { type: "button", className: "plain", textContent: "Back to the start" });
    const form = el("form", { className: "bench", ariaLabel: "Scenario" },
      el("fieldset", {}, el("legend", {}, "Start from"), el("label", { className: "whole" }, "A measured unit of the lane", this.start), reset),
      group("Deployment"), group("Load"), group("Engine settings"));
    form.addEventListener("submit", (e) => e.preventDefault());
    this.start.addEventListener("change", () => this.open(this.start.value, {}).catch(this.out.broke));
    reset.addEventListener("click", () => this.open(this.state.unit, {}).catch(this.out.broke));
    for (const f of fields) this.controls[f.id].input.addEventListener(f.kind === "select" ? "change" : "input", () => this.change(f));
    this.out.stop.addEventListener("click", () => this.simulator.abort());
    const code = el("div", { className: "code" }, el("pre", { tabIndex: 0 }, this.scenario));
    copyable(code);
    box.replaceChildren(form, el("div", { className: "answer" }, ...this.out.parts, el("details", {}, el("summary", {}, "The scenario, as a file"), code)));
  }

  // open starts from a unit: its scenario is the base of every change.
  async open(unit, changes) {
    const point = await json(`${root}points/${unit}/point.json`).catch((e) => { throw new Error(`unit ${unit} cannot be read: ${e.message}`); });
    if (!point.trial?.scenario || !point.trial.result) throw new Error(`unit ${unit} was not simulated, so nothing can start from it`);
    this.state = { unit, changes };
    this.point = point;
    this.base = point.trial.scenario;
    this.out.start(point);
    const lanes = this.bench.lanes.map((l) => [l.unit, l.name]);
    choose(this.start, lanes.some(([u]) => u === unit) ? lanes : [[unit, `Unit ${unit.slice(0, 12)}, ${point.point.lane}`], ...lanes], unit);
    this.offer = (await this.simulator.ready()).offer;
    for (const f of fields) this.take(f, changes[f.id]);
    await this.show();
  }

  // take keeps a field's value; one that the start brings is no change.
  take(f, value) {
    const changes = { ...this.state.changes };
    delete changes[f.id];
    if (value !== undefined && value !== this.values(changes)[f.id]) changes[f.id] = value;
    this.state.changes = changes;
  }

  change(f) {
    if (f.id === "model") delete this.state.changes.checkpoint;
    this.take(f, this.controls[f.id].input.value);
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.show(f.id), f.kind === "select" ? 0 : 200);
  }

  values(changes) { return { ...initial(this.base, changes, this.offer), ...changes }; }

  fill(except) {
    const values = this.values(this.state.changes);
    for (const f of fields) {
      const { input, small } = this.controls[f.id];
      small.textContent = f.argument?.[this.base.engine.kind] ?? f.note ?? "";
      if (f.kind === "select") choose(input, f.options(this.offer, values), values[f.id]);
      else if (f.id !== except) input.value = values[f.id];
    }
  }

  // show simulates the state; a newer change ends it unanswered.
  async show(except) {
    write(this.state, this.bench);
    this.fill(except);
    let scenario;
    try {
      scenario = scenarioOf(this.base, this.values(this.state.changes), this.state.changes);
    } catch (e) {
      this.simulator.supersede();
      this.out.refused({ error: e.message, hints: [] }, this.base.engine.kind);
      return;
    }
    this.scenario.textContent = JSON.stringify(scenario, null, 2);
    this.shown = scenario;
    const claimed = this.claim(scenario).catch(this.out.broke);
    this.out.running();
    const answer = await this.simulator.run(JSON.stringify(scenario), (p) => this.out.progress(p));
    await claimed;
    if (answer.superseded) return;
    if (answer.stopped) this.out.stopped();
    else if (answer.error) this.out.refused(answer, scenario.engine.kind);
    else this.out.done(JSON.parse(answer.result), answer.seconds, this.point);
  }

  // claim says what is known about the scenario's error, unless it has changed meanwhile.
  async claim(scenario) {
    const start = this.state.unit, unchanged = Object.keys(this.state.changes).length === 0;
    const lanes = this.bench.lanes.filter((l) => l.engine === scenario.engine.kind && l.model === scenario.model && l.checkpoint === (scenario.checkpoint ?? "") && l.hardware === scenario.hardware);
    const measured = unchanged ? start : await measuredAs(scenario, this.bench.lanes, (unit) => json(`${root}points/${unit}/point.json`));
    if (this.shown === scenario) this.out.claim({ lanes, measured, start });
  }
}

async function begin() {
  const bench = await json(box.dataset.bench);
  if (!bench.lanes.length) throw new Error("no point of this site was simulated, so nothing can be started from");
  const w = new Workbench(bench);
  await w.open(w.state.unit, w.state.changes).catch(w.out.broke);
}
if (box) begin().catch((e) => box.replaceChildren(el("p", { role: "alert", textContent: `The workbench could not start: ${e.message}` })));
