// Opens a site in headless Chromium and reports what a reader would meet, as JSON on stdout.
// Arguments: the address of the site, and a JSON object of page paths by name.
import { base, browser, open as visitPage, overflow, violations } from "./reader.mjs";

const pages = JSON.parse(process.argv[3]);
const report = { pages: {} };

// open returns a page whose charts are drawn, and the list of what went wrong on it.
const drawn = () => [...document.querySelectorAll(".plot[data-chart]")].every((p) => p.querySelector("svg")) && !document.querySelector(".explorer:not(:has(table))");
const open = (context, url) => visitPage(context, url, drawn);

// visit meets a page in both themes. Of the rules of accessibility only those of colour are asked
// again in the second: the document is the same.
async function visit(context, url) {
  const { page, wrong } = await open(context, url);
  const look = async (rules) => {
    const seen = await page.evaluate(() => ({
      heading: document.querySelector("h1")?.textContent,
      background: getComputedStyle(document.body).backgroundColor,
      charts: [...document.querySelectorAll(".plot")].map((p) => ({ live: !!p.dataset.chart, want: Number(p.dataset.marks), marks: p.querySelectorAll("svg path").length, picture: !!p.querySelector("img") })),
    }));
    return { ...seen, overflow: await overflow(page), wrong: wrong.splice(0), violations: await violations(page, rules) };
  };
  const light = await look();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction((before) => getComputedStyle(document.body).backgroundColor !== before, light.background).catch(() => {});
  const dark = await look(["color-contrast", "link-in-text-block"]);
  await page.setViewportSize({ width: 360, height: 740 });
  light.narrow = await overflow(page);
  await page.close();
  return { light, dark };
}

// visitAll opens pages two at a time.
async function visitAll() {
  const left = Object.entries(pages);
  const visitor = async () => {
    const context = await browser.newContext({ colorScheme: "light", viewport: { width: 1280, height: 900 } });
    for (let next; (next = left.shift()); ) report.pages[next[0]] = await visit(context, next[1]);
    await context.close();
  };
  await Promise.all([visitor(), visitor()]);
}

async function withoutScripts() {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const out = {};
  const page = await context.newPage();
  for (const [name, url] of Object.entries(pages)) {
    await page.goto(base + url);
    out[name] = await page.evaluate(() => ({ rows: document.querySelectorAll("tbody tr").length, pictures: document.querySelectorAll(".plot img").length, text: document.querySelector("main").textContent.length }));
  }
  await context.close();
  return out;
}

// narrow opens pages on a small screen in the dark: rows of charts keep their height, and plates, drawn
// for a light ground, have one.
async function narrow() {
  const context = await browser.newContext({ colorScheme: "dark", viewport: { width: 360, height: 740 } });
  const out = { rows: [] };
  const lanes = await open(context, pages.lanes);
  out.rows = await lanes.page.locator(".plot.tall").evaluateAll((all) => all.map((p) => p.clientHeight / p.querySelectorAll("svg text").length));
  const fits = await open(context, pages.fits);
  out.plates = await fits.page.locator(".plate img").evaluateAll((all) => [...new Set(all.map((i) => getComputedStyle(i).backgroundColor))]);
  const lost = await open(context, "404.html");
  out.lost = await lost.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  out.wrong = [...lanes.wrong, ...fits.wrong, ...lost.wrong];
  await context.close();
  return out;
}

const rows = (page) => page.locator("#points tbody tr:has(a)").count();
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
  out.sorted = (await column(page, 6)).map(Number);
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
  const box = (n) => page.locator("#points tbody input").nth(n);
  await box(0).check();
  await box(7).check();
  out.beside = await page.locator("#compared thead a").count();
  const link2 = await open(context, pages.points + new URL(page.url()).search);
  out.besideAgain = await link2.page.locator("#compared thead a").count();
  out.wrong.push(...(await violations(link2.page)));
  await page.locator("#compared").getByRole("button", { name: "Remove" }).first().click();
  out.besideLeft = [await page.locator("#compared thead a").count(), await page.locator("#points input:checked").count()];
  await page.getByRole("button", { name: "Clear all" }).click();
  const odd = await open(context, `${pages.points}?page=9999&sort=nonsense&grade=G9&constructor=x&with=,0,zzzzzzzzzzzzzz&engine=sglang&q=${"long ".repeat(2000)}`);
  out.odd = [await rows(odd.page), await odd.page.locator("#points tbody td.few").innerText(), new URL(odd.page.url()).search.length < 400];
  out.wrong.push(...odd.wrong);
  const unscored = await open(context, `${pages.points}?grade=G5`);
  out.reason = await unscored.page.locator("#points tbody .reason").first().innerText();
  const far = await open(context, `${pages.points}?page=2.7`);
  out.far = await far.page.locator(".pager span").innerText();
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
  const errors = () => page.locator("#t-points tbody tr > :nth-child(7)").evaluateAll((cells) => cells.map((c) => c.dataset.v ?? ""));
  await page.locator("#t-points th button", { hasText: "error" }).first().click();
  const out = { wrong, sorted: (await errors()).map((v) => (v === "" ? null : Number(v))), ariaSort: await page.locator("#t-points th[aria-sort]").getAttribute("aria-sort") };
  const rules = await open(context, pages.rules);
  await rules.page.getByLabel("Rows with").first().fill("cov-11");
  out.sifted = await rules.page.locator(".sift output").first().innerText();
  out.wrong.push(...rules.wrong);
  await rules.page.locator("#q-site").fill("--max-num-seqs");
  await rules.page.waitForSelector('#found li[aria-selected="true"]');
  await rules.page.locator("#q-site").press("Enter");
  await rules.page.waitForURL(/rows=/);
  out.setting = await rules.page.locator("code.hit").innerText();
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
  const context = await browser.newContext({ colorScheme: "dark" });
  const { page } = await open(context, pages.home);
  await page.keyboard.press("Tab");
  const out = { firstStop: await page.evaluate(() => document.activeElement.textContent) };
  out.pdf = (await page.pdf({ format: "A4" })).length;
  await page.emulateMedia({ media: "print" });
  await page.waitForFunction(() => document.querySelector(".plot svg text").getAttribute("fill") === "#333").catch(() => {});
  out.ink = await page.locator(".plot svg text").first().getAttribute("fill");
  await context.close();
  return out;
}

await visitAll();
report.plain = await withoutScripts();
report.explorer = await explorer();
report.table = await tableAndSearch();
report.print = await keyboardAndPrint();
report.narrow = await narrow();
await browser.close();
process.stdout.write(JSON.stringify(report));
