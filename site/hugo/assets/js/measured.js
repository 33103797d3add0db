// Which measured point has a scenario, key for key.
const ordered = (v) => (v === null || typeof v !== "object" ? v : Array.isArray(v) ? v.map(ordered) : Object.fromEntries(Object.keys(v).sort().map((k) => [k, ordered(v[k])])));
const text = (scenario) => JSON.stringify(ordered(scenario ?? null));

// measuredAs is the unit of that point, or undefined. read gives a unit's document; those of the
// same load are asked.
export async function measuredAs(scenario, lanes, read) {
  const { concurrency, isl, osl } = scenario.workload.inferencex, want = text(scenario);
  for (const lane of lanes.filter((l) => l.engine === scenario.engine.kind && l.model === scenario.model && l.hardware === scenario.hardware)) {
    for (const p of lane.points) {
      if (p.concurrency === concurrency && p.isl === isl && p.osl === osl && text((await read(p.unit)).trial?.scenario) === want) return p.unit;
    }
  }
}
