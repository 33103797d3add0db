// What the workbench can change in a scenario, and how.

// Engine arguments with a field of their own, by engine, in the upstream's words.
const argument = {
  tp: { vllm: "tensor-parallel-size", sglang: "tensor-parallel-size" },
  seqs: { vllm: "max-num-seqs", sglang: "max-running-requests" },
  batch: { vllm: "max-num-batched-tokens", sglang: "chunked-prefill-size" },
  memory: { vllm: "gpu-memory-utilization", sglang: "mem-fraction-static" },
  kv: { vllm: "kv-cache-dtype", sglang: "kv-cache-dtype" },
};
const named = (kind) => Object.values(argument).map((a) => a[kind]);
const tokens = 131072; // the longest prompt or output
const none = "engine's default";
const listed = (...values) => () => values.map((v) => [v, v || none]);

export const fields = [
  { id: "model", wide: true, group: "Deployment", label: "Model", kind: "select", options: (offer) => offer.models.map((m) => [m.name, m.name]) },
  { id: "checkpoint", wide: true, group: "Deployment", label: "Checkpoint", kind: "select", options: (offer, v) => checkpoints(offer, v.model).map((c) => [c.name, c.name]) },
  { id: "hardware", wide: true, group: "Deployment", label: "Chip", kind: "select", options: (offer) => offer.chips.map((c) => [c.name, c.title]) },
  { id: "tp", group: "Deployment", label: "Tensor parallel", kind: "select", min: 1, max: 1024, argument: argument.tp, options: listed("", "1", "2", "4", "8", "16") },
  { id: "instances", group: "Deployment", label: "Engine instances", min: 1, max: 4096, note: "behind a round-robin router" },
  { id: "concurrency", group: "Load", label: "Concurrency", min: 1, max: 4096, note: "requests in flight" },
  { id: "isl", group: "Load", label: "Prompt", min: 1, max: tokens, note: "tokens, nominal" },
  { id: "osl", group: "Load", label: "Output", min: 1, max: tokens, note: "tokens, nominal" },
  { id: "ratio", group: "Load", label: "Shortest length", min: 0, max: 1, step: "any", note: "of nominal, 0 to 1" },
  { id: "prompts", group: "Load", label: "Requests", min: 1, max: 200000, note: "follows concurrency" },
  { id: "seqs", group: "Engine settings", label: "Requests in a batch", min: 1, max: 65536, argument: argument.seqs },
  { id: "batch", group: "Engine settings", label: "Tokens in a step", min: 1, max: 1048576, argument: argument.batch },
  { id: "memory", group: "Engine settings", label: "Share of memory", min: 0, max: 1, step: "any", argument: argument.memory },
  { id: "kv", group: "Engine settings", label: "KV format", kind: "select", argument: argument.kv, options: listed("", "auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2") },
  { id: "args", wide: true, group: "Engine settings", label: "Further arguments", kind: "text", note: "name: value, one a line, in the engine's own words" },
];

const checkpoints = (offer, model) => offer.models.find((m) => m.name === model)?.checkpoints ?? [];

// initial is every field's value at the start, as text. What follows another field follows its
// change: requests keep their number per slot, a model brings a checkpoint of like precision.
export function initial(base, changes, offer) {
  const x = base.workload.inferencex, args = base.engine.args ?? {}, kind = base.engine.kind;
  const concurrency = Number(changes.concurrency ?? x.concurrency);
  const v = {
    model: base.model, checkpoint: base.checkpoint ?? "", hardware: base.hardware, instances: base.cluster.instances,
    concurrency: x.concurrency, isl: x.isl, osl: x.osl, ratio: x.range_ratio,
    prompts: Math.max(1, Math.round((x.num_prompts / x.concurrency) * concurrency)) || x.num_prompts,
    args: others(args, kind),
  };
  for (const [id, names] of Object.entries(argument)) v[id] = args[names[kind]] ?? "";
  if (changes.model !== undefined && changes.model !== base.model) v.checkpoint = likeness(base, changes.model, offer);
  return Object.fromEntries(Object.entries(v).map(([k, value]) => [k, String(value)]));
}

function likeness(base, model, offer) {
  const labels = checkpoints(offer, base.model).find((c) => c.name === base.checkpoint)?.precisions ?? [];
  const all = checkpoints(offer, model);
  return (all.find((c) => c.precisions?.some((p) => labels.includes(p))) ?? all[0])?.name ?? "";
}

// others writes the arguments without a field, one a line; a text that reads as JSON is quoted.
export function others(args, kind) {
  const text = (v) => { if (typeof v !== "string") return JSON.stringify(v); try { JSON.parse(v); return JSON.stringify(v); } catch { return v; } };
  return Object.entries(args).filter(([k]) => !named(kind).includes(k)).map(([k, v]) => `${k}: ${text(v)}`).join("\n");
}

function parsed(lines) {
  const args = {};
  for (const line of lines.split("\n").map((l) => l.trim()).filter(Boolean)) {
    const at = line.indexOf(":");
    if (at < 1) throw new Error(`further arguments: ${line}: is not of the form name: value`);
    const value = line.slice(at + 1).trim();
    let read = value;
    try { read = JSON.parse(value); } catch { /* a text */ }
    if (Number.isInteger(read) && !Number.isSafeInteger(read)) throw new Error(`further arguments: ${line}: is beyond ±${Number.MAX_SAFE_INTEGER}`);
    args[line.slice(0, at).trim()] = read;
  }
  return args;
}

// within refuses what was typed beyond a field's range; its words stand as they were typed.
function within(f, typed) {
  const v = typed.trim() === "" ? NaN : Number(typed), whole = f.step !== "any";
  if (v >= f.min && v <= f.max && (!whole || Number.isInteger(v))) return v;
  throw new Error(`${f.label}: ${typed || "nothing"}: is not a ${whole ? "whole " : ""}number from ${f.min} to ${f.max}`);
}

// scenarioOf applies values to the base; without changes it is the base.
export function scenarioOf(base, values, changes) {
  const s = structuredClone(base), x = s.workload.inferencex, kind = s.engine.kind;
  const number = (id) => { // what the start brings was measured, so it is within any range
    const f = fields.find((f) => f.id === id);
    return changes[id] === undefined ? Number(values[id]) : within(f, values[id]);
  };
  if (!Object.keys(changes).length) return s;
  if (values.model !== base.model) { // what the measured client knew of the other model
    delete x.vocab_size;
    delete x.chat_template;
  }
  Object.assign(s, { model: values.model, checkpoint: values.checkpoint, hardware: values.hardware });
  s.cluster.instances = number("instances");
  const per = x.warmups / x.concurrency;
  Object.assign(x, { concurrency: number("concurrency"), isl: number("isl"), osl: number("osl"), range_ratio: number("ratio"), num_prompts: number("prompts") });
  if (changes.concurrency !== undefined) x.warmups = Math.round(per * x.concurrency);
  if (changes.args !== undefined) {
    const kept = Object.fromEntries(Object.entries(s.engine.args ?? {}).filter(([k]) => named(kind).includes(k)));
    s.engine.args = { ...kept, ...parsed(values.args) };
  }
  for (const [id, names] of Object.entries(argument)) {
    if (changes[id] === undefined) continue;
    s.engine.args ??= {};
    if (values[id] === "") delete s.engine.args[names[kind]];
    else s.engine.args[names[kind]] = id === "kv" ? values[id] : number(id);
  }
  return s;
}
