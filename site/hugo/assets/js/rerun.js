// Runs a point's scenario here, and says whether the published Result regenerates.
import { el } from "./dom";
import { Simulator } from "./simulator";

const box = document.querySelector(".rerun");
const seconds = (v) => `${v.toFixed(v < 10 ? 2 : 1)} s`;

function start() {
  const simulator = new Simulator();
  const run = el("button", { type: "button", className: "act", textContent: "Run this point here" });
  const stop = el("button", { type: "button", className: "plain", textContent: "Stop", disabled: true });
  const bar = el("progress", { hidden: true, ariaLabel: "Requests that have ended" });
  const said = el("div", { className: "said" });
  said.setAttribute("role", "status");
  const say = (tone, ...children) => {
    said.className = `said ${tone}`;
    said.replaceChildren(...children.map((c) => (typeof c === "string" ? el("p", {}, c) : c)));
  };
  let warmed;
  for (const wish of ["pointerenter", "focus"]) run.addEventListener(wish, () => (warmed ??= warm(simulator).catch(() => {})));
  stop.addEventListener("click", () => simulator.abort());
  run.addEventListener("click", async () => {
    run.disabled = true;
    stop.disabled = false;
    bar.hidden = false;
    bar.removeAttribute("value");
    say("", `Loading the simulator (${box.dataset.size}) …`);
    try {
      await act(simulator, bar, say);
    } catch (e) {
      say("bad", `Could not run: ${e.message}`);
    }
    run.disabled = false;
    stop.disabled = bar.hidden = true;
  });
  box.append(el("div", { className: "acts" }, run, stop, bar, el("a", { href: box.dataset.workbench, textContent: "Change it in the workbench" })), said);
}

async function act(simulator, bar, say) {
  const [point, loaded] = await Promise.all([published(box.dataset.point), simulator.ready()]);
  say("", "Simulating …");
  const answer = await simulator.rerun(point, ({ ended, total }) => {
    if (total) [bar.max, bar.value] = [total, ended];
    say("", `Simulating: ${ended} of ${total} requests have ended.`);
  });
  if (answer.stopped) say("", "Stopped.");
  else if (answer.error) say("bad", answer.died ? "The simulator stopped:" : "The simulator refuses:", el("pre", {}, [answer.error, ...answer.hints.map((h) => `hint: ${h}`)].join("\n")));
  else verdict(JSON.parse(answer.result), answer.seconds, loaded.seconds, say);
}

// warm gets ready for a click that may come; a click says what went wrong.
async function warm(simulator) {
  const [point] = await Promise.all([published(box.dataset.point), simulator.ready()]);
  await simulator.warm(point);
}

async function published(name) {
  const file = await fetch(name);
  if (!file.ok) throw new Error(`${name}: status ${file.status}`);
  return file.text();
}

function verdict(v, took, loading, say) {
  const time = `Simulated in ${seconds(took)}; loading the simulator took ${seconds(loading)}.`;
  const hashes = el("dl", { className: "hashes" }, el("dt", {}, "Published"), el("dd", {}, v.published), el("dt", {}, "Here"), el("dd", {}, v.here));
  if (v.same) {
    say("good", el("p", {}, el("strong", {}, "It regenerates."), ` All ${v.bytes.toLocaleString("en")} bytes of the Result are the published ones, and the simulated figures above are its figures.`), time, hashes);
    return;
  }
  const cell = (text) => el("td", { className: "mono" }, text);
  const rows = v.differs.map((d) => el("tr", {}, el("th", { scope: "row", className: "mono" }, d.at), cell(d.published), cell(d.here)));
  const table = el("table", {}, el("caption", {}, "Where they differ"), el("thead", {}, el("tr", {}, ...["Field", "Published", "Here"].map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows));
  say("bad", el("p", {}, el("strong", {}, "It does not regenerate."), " The published document says something else than this run."), time, hashes, el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Where they differ" }, table));
}

if (box) start();
