// Opens a site in headless Chromium and reports what a reader would meet, as JSON on stdout.
// Arguments: the address of the site, and a JSON object of page paths by name.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [base, pagesJSON] = process.argv.slice(2);
const pages = JSON.parse(pagesJSON);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const report = { pages: {} };

// open returns a page whose charts are drawn, and the list of what went wrong on it.
async function open(context, url) {
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (m) => wrong.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  page.on("request", (r) => { if (!r.url().startsWith(base)) wrong.push(`request off the host: ${r.url()}`); });
  page.on("response", (r) => { if (r.status() >= 400) wrong.push(`status ${r.status()}: ${r.url()}`); });
  await page.goto(base + url);
  const ready = () => [...document.querySelectorAll(".plot[data-chart]")].every((p) => p.querySelector("svg")) && !document.querySelector(".explorer:not(:has(table))");
  await page.waitForFunction(ready).catch((e) => wrong.push(`never ready: ${e.message}`));
  return { page, wrong };
}

async function visit(context, url) {
  const { page, wrong } = await open(context, url);
  const seen = await page.evaluate(() => ({
    heading: document.querySelector("h1")?.textContent,
    background: getComputedStyle(document.body).backgroundColor,
    charts: [...document.querySelectorAll(".plot")].map((p) => ({ live: !!p.dataset.chart, marks: p.querySelectorAll("svg path").length, picture: !!p.querySelector("img") })),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  }));
  await page.evaluate(axe); // evaluated by the debugger, so the page's own policy stays in force
  const result = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  const violations = result.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)}`);
  await page.setViewportSize({ width: 360, height: 740 });
  const narrow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await page.close();
  return { ...seen, wrong, violations, narrow };
}

for (const scheme of ["light", "dark"]) {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 900 } });
  for (const [name, url] of Object.entries(pages)) {
    (report.pages[name] ??= {})[scheme] = await visit(context, url);
  }
  await context.close();
}

async function withoutScripts() {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const out = {};
  for (const [name, url] of Object.entries(pages)) {
    const page = await context.newPage();
    await page.goto(base + url);
    out[name] = { rows: await page.locator("tbody tr").count(), pictures: await page.locator(".plot img").count(), text: (await page.locator("main").innerText()).length };
    await page.close();
  }
  await context.close();
  return out;
}

const rows = (page) => page.locator("#points tbody tr").count();
const column = (page, n) => page.locator(`#points tbody tr > :nth-child(${n})`).allInnerTexts();

async function explorer() {
  const context = await browser.newContext();
  const { page, wrong } = await open(context, pages.points);
  const out = { wrong, first: await rows(page), count: await page.locator(".pager output").innerText() };
  await page.locator(".filters label", { hasText: /^Engine/ }).locator("select").selectOption("sglang");
  out.filtered = [...new Set(await column(page, 3))];
  out.filteredURL = new URL(page.url()).search;
  const sort = page.locator("#points th button", { hasText: "Concurrency" });
  await sort.click();
  await sort.click();
  out.sorted = (await column(page, 7)).map(Number);
  out.ariaSort = await page.locator('#points th[aria-sort]').getAttribute("aria-sort");
  out.sortedURL = new URL(page.url()).search;
  await page.getByRole("button", { name: "Next" }).click();
  out.pageURL = new URL(page.url()).search;
  const before = await column(page, 1), again = await open(context, pages.points + new URL(page.url()).search);
  out.permalinkHolds = JSON.stringify(before) === JSON.stringify(await column(again.page, 1));
  await page.getByRole("button", { name: "Clear all" }).click();
  await page.locator(".filters input").fill("no such thing");
  out.none = await rows(page);
  await page.getByRole("button", { name: "Clear all" }).click();
  out.cleared = new URL(page.url()).search;
  const link = page.locator("#points tbody a").first();
  await link.click();
  await page.waitForLoadState();
  out.opened = new URL(page.url()).pathname;
  await context.close();
  return out;
}

async function tableAndSearch() {
  const context = await browser.newContext();
  const { page, wrong } = await open(context, pages.lane);
  const errors = () => page.locator("#t-points tbody tr > :nth-child(8)").evaluateAll((cells) => cells.map((c) => c.dataset.v ?? ""));
  await page.locator("#t-points th button", { hasText: "error" }).first().click();
  const out = { wrong, sorted: (await errors()).map((v) => (v === "" ? null : Number(v))), ariaSort: await page.locator("#t-points th[aria-sort]").getAttribute("aria-sort") };
  await page.locator("body").press("/");
  out.focused = await page.evaluate(() => document.activeElement.id);
  await page.keyboard.type("glossary");
  await page.waitForSelector('#found li[aria-selected="true"]');
  await page.keyboard.press("Enter");
  await page.waitForURL(/glossary/);
  out.found = new URL(page.url()).pathname;
  await context.close();
  return out;
}

async function keyboardAndPrint() {
  const context = await browser.newContext();
  const { page } = await open(context, pages.home);
  await page.keyboard.press("Tab");
  const out = { firstStop: await page.evaluate(() => document.activeElement.textContent) };
  out.pdf = (await page.pdf({ format: "A4" })).length;
  await context.close();
  return out;
}

report.plain = await withoutScripts();
report.explorer = await explorer();
report.table = await tableAndSearch();
report.print = await keyboardAndPrint();
await browser.close();
process.stdout.write(JSON.stringify(report));
