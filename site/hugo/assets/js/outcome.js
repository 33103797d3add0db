// What a simulated scenario gave, beside the start's published and measured figures.
import { el } from "./dom";

// number has four significant digits and no exponent, as on every page.
function number(v) {
  const a = Math.abs(v);
  const digits = v === 0 || a >= 1000 ? 0 : Math.max(0, 3 - Math.max(-1, Math.floor(Math.log10(a))));
  return v.toLocaleString("en", { minimumFractionDigits: Number.isInteger(v) ? 0 : digits, maximumFractionDigits: digits });
}
const minus = (s) => s.replace("-", "\u2212");
const share = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const change = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "exceptZero" });

const figure = (id) => (r) => r.figures?.find((f) => f.metric === id && f.scope === "cluster")?.value;
const most = (key) => (r) => Math.max(...r.engines.map((e) => e[key]));
const rows = [
  ["TTFT mean", "ms", figure("ttft_mean"), "ttft_mean"], ["TTFT p99", "ms", figure("ttft_p99")],
  ["TPOT mean", "ms", figure("tpot_mean"), "tpot_mean"], ["ITL mean", "ms", figure("itl_mean")], ["ITL p99", "ms", figure("itl_p99")],
  ["End-to-end mean", "s", figure("e2e_mean")],
  ["Output throughput", "tokens/s", figure("output_throughput")], ["Output throughput per chip", "tokens/s", figure("output_throughput_per_accelerator")],
  ["Request throughput", "1/s", figure("request_throughput")],
  ["KV memory, highest use", "%", most("max_kv_usage")], ["KV blocks per instance", "", most("kv_blocks")],
  ["Requests running, most", "", most("max_running")], ["Requests waiting, most", "", most("max_waiting")],
  ["Preemptions", "", (r) => r.engines.reduce((n, e) => n + e.preemptions, 0)],
];
const shown = (v, unit) => (v === undefined || !Number.isFinite(v) ? "–" : unit === "%" ? share.format(v) : number(unit === "ms" ? 1000 * v : v));

function table() {
  const heads = ["Metric", "Unit", "Here", "Start, simulated", "Change", "Start, measured"];
  const cells = rows.map(() => heads.slice(2).map(() => el("td", { className: "num" }, "–")));
  const body = rows.map(([name, unit], i) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, unit === "%" ? "" : unit), ...cells[i]));
  const t = el("table", {}, el("caption", { className: "off" }, "What the scenario gave, beside the start"),
    el("thead", {}, el("tr", {}, ...heads.map((h, i) => el("th", { scope: "col", className: i > 1 ? "num" : "" }, h)))), el("tbody", {}, ...body));
  return { region: el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Figures" }, t), cells };
}

const svg = (tag, props, ...children) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(props)) e.setAttribute(k, v);
  e.append(...children);
  return e;
};

// bar is where engine time went, drawn as on a point's page.
function bar(parts) {
  const total = parts.reduce((n, p) => n + p.seconds, 0);
  if (!total) return [];
  const said = (p) => `${share.format(p.seconds / total)} (${number(p.seconds)} s)`;
  let x = 0;
  const rects = parts.map((p, i) => {
    const width = (100 * p.seconds) / total;
    const r = svg("rect", { x: `${x}%`, y: 0, width: `${width}%`, height: 28, class: `t${i % 6}` });
    x += width;
    return r;
  });
  const name = (p) => p.part.replaceAll("_", " ");
  const key = el("ul", { className: "key" }, ...parts.map((p, i) => el("li", {}, svg("svg", { width: 12, height: 12, "aria-hidden": "true" }, svg("rect", { width: 12, height: 12, class: `t${i % 6}` })), ` ${name(p)} `, el("b", {}, said(p)))));
  return [svg("svg", { class: "bar", width: "100%", height: 28, role: "img", "aria-label": `Simulated engine time: ${parts.map((p) => `${name(p)} ${said(p)}`).join(", ")}` }, ...rects), key];
}

function claimed(root, { lanes, measured, start }) {
  const link = (href, text) => el("a", { href: root + href }, text);
  const out = measured
    ? [el("p", {}, el("strong", {}, "As measured."), " This is the scenario of ", link(`points/${measured}/`, "a measured point"), measured === start ? "." : ", which is not the start: its page has what was measured of it.")]
    : [el("p", {}, el("strong", {}, "Extrapolation."), " A simulation that stands beside no measurement.")];
  if (!lanes.length) out.push(el("p", {}, "No measured points of this engine, model, checkpoint and chip: nothing says how far off these figures are."));
  for (const l of lanes) {
    out.push(el("p", {}, "How far off the simulator was in the lane ", link(l.href, l.name), `, over ${l.covers}:`));
    out.push(el("ul", {}, ...l.errors.map((e) => el("li", {}, `${e.name}: `, el("strong", {}, e.value), e.interval ? ` (${e.interval})` : ""))));
  }
  return out;
}

// failures are the conditions a run did not meet, and why requests were dropped.
function failures(r) {
  const dropped = Object.entries(r.requests).flatMap(([phase, fates]) => (fates.drop_reasons ?? []).map((d) => `${phase}: ${d.count} requests dropped: ${d.reason}`));
  return [...r.failures, ...dropped];
}

// outcome is the right half of the workbench.
export function outcome(root) {
  const claim = el("div", { className: "claim" });
  const said = el("p", { className: "said" });
  said.setAttribute("role", "status");
  const stop = el("button", { type: "button", className: "plain", textContent: "Stop", disabled: true });
  const meter = el("progress", { ariaLabel: "Requests that have ended" });
  const fault = el("div", { className: "said bad", hidden: true });
  const { region, cells } = table();
  const time = el("div", { className: "time" });
  const box = document.querySelector(".workbench");
  const state = (name, text) => {
    box.dataset.state = name;
    said.textContent = text;
    stop.disabled = name !== "running";
    meter.classList.toggle("idle", name !== "running");
    region.classList.toggle("stale", name !== "done");
  };
  state("loading", `Loading the simulator (${box.dataset.size}) …`);
  const refuse = (title, lines, ...more) => {
    fault.hidden = false;
    fault.replaceChildren(el("p", {}, el("strong", {}, title)), el("pre", { tabIndex: 0 }, lines.join("\n")), ...more);
  };
  const link = (href, text) => el("a", { href: root + href }, text);
  const rules = (hints) => hints.flatMap((h) => h.match(/^rule: (\S+)$/)?.[1] ?? []).flatMap((id) => [", ", link(`reference/invariants/#${id}`, `rule ${id}`)]);
  return {
    stop,
    parts: [el("div", { className: "now" }, el("div", { className: "acts" }, said, meter, stop), fault), claim, region, el("p", { className: "note" }, "ITL is the time between streamed chunks: where the engine's stream interval puts several tokens in a chunk, it is about as many times TPOT."), el("h2", {}, "Where simulated engine time went"), time],
    claim(c) {
      claim.classList.toggle("known", !!c.measured);
      claim.replaceChildren(...claimed(root, c));
    },
    running() { meter.removeAttribute("value"); state("running", "Simulating …"); },
    progress({ ended, total }) {
      if (total) [meter.max, meter.value] = [total, ended];
    },
    stopped: () => state("stopped", "Stopped. Change anything to go on."),
    start(point) {
      rows.forEach(([, unit, get, id], i) => {
        cells[i][1].textContent = shown(get(point.trial.result), unit);
        cells[i][3].textContent = shown(id && point.point.metrics[id]?.measured, unit);
      });
    },
    refused(answer, engine) {
      state("refused", answer.died ? "No answer." : "Refused.");
      for (const row of cells) row[0].textContent = row[2].textContent = "–";
      time.replaceChildren();
      refuse(answer.died ? "The simulator stopped" : "The simulator refuses this scenario", [answer.error, ...answer.hints.map((h) => `hint: ${h}`)],
        ...(answer.died ? [] : [el("p", {}, "What is accepted: ", link(`reference/fields-${engine}/`, `the settings of ${engine}`), ...rules(answer.hints))]));
    },
    broke: (e) => { state("refused", "The workbench stopped."); refuse("The workbench stopped", [e.message]); },
    done(result, seconds, point) {
      const start = point.trial.result;
      state("done", `Simulated in ${seconds.toFixed(2)} s.`);
      fault.hidden = true;
      if (!result.accepted) refuse("The run fails its own conditions, so it has no figures", failures(result));
      rows.forEach(([, unit, get], i) => {
        const here = get(result), there = get(start);
        cells[i][0].textContent = shown(here, unit);
        cells[i][2].textContent = here !== undefined && there ? minus(change.format(here / there - 1)) : "–";
      });
      time.replaceChildren(...bar(result.parts), el("p", { className: "note" }, `${result.validity.inside === "inside" ? "Inside" : "Outside"} the range of held-out runs: ${result.validity.statement}.`));
    },
  };
}
