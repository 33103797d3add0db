// Runs the simulator where a reader would, and reports what they would meet, as JSON on stdout.
// Arguments: the address of the site, and a JSON object with the units short and long: the first
// was really simulated, the second runs for minutes.
import { base, browser, open, overflow, violations } from "./reader.mjs";

const units = JSON.parse(process.argv[3]);
const scripted = () => !!document.querySelector(".rerun button, .workbench form");
const patience = { timeout: 120_000 };
const watch = (page) => { // the module's size as it travels
  const seen = { bytes: 0 };
  page.on("response", async (r) => { if (r.url().includes("/sim/")) seen.bytes = (await r.body()).length; });
  return seen;
};

async function rerun(context, unit, spoil) {
  if (spoil) {
    await context.route("**/point.json", async (route) => {
      const answer = await route.fetch();
      const text = await answer.text(), spoilt = text.replace(...spoil);
      await route.fulfill({ response: answer, body: spoilt });
    });
  }
  const { page, wrong } = await open(context, `points/${unit}/`, scripted);
  const module = watch(page);
  const run = page.locator(".rerun button.act"), said = page.locator(".rerun .said");
  const answer = async () => {
    await page.waitForFunction(() => document.querySelector(".rerun .said").matches(".good, .bad") && !document.querySelector(".rerun button.act").disabled, null, patience);
    return { text: await said.innerText(), good: (await said.getAttribute("class")).includes("good") };
  };
  await run.focus();
  await page.keyboard.press("Enter");
  const first = await answer();
  const out = { wrong, ...first, bytes: module.bytes, violations: await violations(page) };
  out.again = [];
  for (let i = 0; i < 3; i++) { // the least of a few times says what the work takes
    await said.evaluate((e) => e.classList.remove("good", "bad")); // the run may be too short to see
    await run.click();
    out.again.push((await answer()).text);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  out.narrow = await overflow(page);
  await page.close();
  await context.unrouteAll();
  return out;
}

// first is how long a reader waits whose browser has the module: from the click to the verdict, with
// a second on the button before it or none.
async function first(context, hover) {
  const took = [];
  for (let i = 0; i < 4; i++) {
    const { page } = await open(context, `points/${units.short}/`, scripted);
    if (hover) {
      await page.locator(".rerun button.act").hover();
      await page.waitForTimeout(1000);
    }
    took.push(await page.evaluate(() => new Promise((resolve) => {
      const box = document.querySelector(".rerun"), asked = performance.now();
      new MutationObserver(() => {
        if (box.querySelector(".said.good, .said.bad")) resolve((performance.now() - asked) / 1000);
      }).observe(box, { subtree: true, childList: true, attributes: true });
      box.querySelector("button.act").click();
    })));
    await page.close();
  }
  return took;
}

// deaf is a Stop while the module hears nothing: so many requests are made that none has ended.
async function deaf(context) {
  await context.route("**/point.json", async (route) => {
    const answer = await route.fetch();
    const more = (await answer.text()).replace(/"num_prompts":\d+/, '"num_prompts":10485760').replace(/("inferencex":\{[^}]*"concurrency":)\d+/, "$11048576");
    await route.fulfill({ response: answer, body: more });
  });
  const { page, wrong } = await open(context, `points/${units.short}/`, scripted);
  const run = page.locator(".rerun button.act"), said = page.locator(".rerun .said");
  await run.click();
  await page.waitForFunction(() => document.querySelector(".rerun .said").innerText.startsWith("Simulating"), null, patience);
  await page.waitForTimeout(1000);
  const asked = Date.now();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.waitForFunction(() => !document.querySelector(".rerun button.act").disabled, null, patience);
  const out = { wrong, progress: await page.locator(".rerun progress").evaluate((e) => String(e.value)), said: await said.innerText(), took: (Date.now() - asked) / 1000 };
  await page.close();
  await context.unrouteAll();
  return out;
}

async function abort(context) {
  const { page, wrong } = await open(context, `points/${units.long}/`, scripted);
  await page.locator(".rerun button.act").click();
  await page.waitForFunction(() => document.querySelector(".rerun progress").value > 0, null, patience);
  const progress = await page.locator(".rerun .said").innerText();
  const asked = Date.now();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.waitForFunction(() => !document.querySelector(".rerun button.act").disabled, null, patience);
  const out = { wrong, progress, said: await page.locator(".rerun .said").innerText(), took: (Date.now() - asked) / 1000 };
  await page.close();
  return out;
}

// tampered is what a page says of a module that is not the one it names.
async function tampered(context) {
  await context.route("**/sim/**", async (route) => {
    const answer = await route.fetch(), body = await answer.body();
    body[body.length >> 1] ^= 1;
    await route.fulfill({ response: answer, body });
  });
  const { page } = await open(context, `points/${units.short}/`, scripted); // the browser logs the refusal
  await page.locator(".rerun button.act").click();
  await page.waitForSelector(".rerun .said.bad", patience);
  const said = await page.locator(".rerun .said").innerText();
  await page.close();
  await context.unrouteAll();
  return said;
}

const settled = (page, state) => page.waitForSelector(`.workbench[data-state="${state}"]`, patience);
const cells = (page) => page.locator(".workbench tbody td:nth-child(3)").allInnerTexts();

async function workbench(context) {
  const { page, wrong } = await open(context, `workbench/?unit=${units.short}`, scripted);
  await settled(page, "done");
  const claim = () => page.locator(".claim").innerText();
  const out = { wrong, start: await cells(page), claim: await claim(), published: await page.locator(".workbench tbody td:nth-child(4)").allInnerTexts(),
    parts: await page.locator(".workbench .bar rect").count(), violations: await violations(page) };

  const load = page.locator("[name=concurrency]"), start = await load.inputValue();
  out.took = [];
  for (const n of ["24", "12", "16"]) {
    const asked = Date.now();
    await load.fill(n);
    await page.waitForURL((u) => (u.searchParams.get("concurrency") ?? start) === n); // written as the run begins; the run itself may be too short to see
    await settled(page, "done");
    out.took.push((Date.now() - asked) / 1000);
    if (n === "12") out.another = await claim();
  }
  out.changed = await cells(page);
  out.url = new URL(page.url()).search;
  out.extrapolation = await claim();

  await load.focus(); // a burst of changes from the keyboard: the last one is answered
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowUp", { delay: 120 });
  await page.waitForURL(/concurrency=20/);
  await settled(page, "done");
  out.burst = await cells(page);
  const again = await open(context, page.url().slice(base.length), scripted);
  await settled(again.page, "done");
  out.permalink = await cells(again.page);
  await again.page.close();

  await page.locator("[name=args]").fill("no-such-argument: 1");
  await settled(page, "refused");
  out.refusal = await page.locator(".answer .said.bad").innerText();
  out.refused = await cells(page);
  const refused = await open(context, page.url().slice(base.length), scripted);
  await settled(refused.page, "refused");
  out.reloaded = await refused.page.locator(".workbench tbody td:nth-child(6)").allInnerTexts();
  await refused.page.close();
  out.violations.push(...(await violations(page)));
  await page.getByRole("button", { name: "Back to the start" }).click();
  await settled(page, "done");
  out.back = await cells(page);
  await page.locator("[name=hardware]").selectOption("h200_sxm");
  await page.waitForURL(/hardware=h200_sxm/);
  await settled(page, "done");
  out.unmeasured = await claim();
  await page.locator("[name=prompts]").fill("100000");
  await page.waitForFunction(() => document.querySelector(".workbench progress").value > 0, null, patience);
  await page.getByRole("button", { name: "Stop" }).click();
  await settled(page, "stopped");
  out.stopped = await page.locator(".acts .said").innerText();
  await page.setViewportSize({ width: 360, height: 740 });
  out.narrow = await overflow(page);
  await page.close();
  return out;
}

const report = {};
for (const scheme of ["light", "dark"]) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 900 } });
  report[scheme] = { point: await rerun(context, units.short), workbench: await workbench(context) };
  if (scheme === "light") {
    report.result = await rerun(context, units.short, [/"steps":\d/, '"steps":9']);
    report.figure = await rerun(context, units.short, ['"simulated":0.', '"simulated":0.9']);
    report.first = await first(context, false);
    report.hovered = await first(context, true);
    report.abort = await abort(context);
    report.deaf = await deaf(context);
    report.tampered = await tampered(context);
  }
  await context.close();
}
await browser.close();
process.stdout.write(JSON.stringify(report));
