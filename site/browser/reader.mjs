// A reader's browser: headless Chromium at the site whose address is the first argument.
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export const base = process.argv[2];
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// open returns a page, once ready() holds on it, and the list of what went wrong on it.
export async function open(context, url, ready) {
  const page = await context.newPage();
  const wrong = [];
  page.on("console", (m) => wrong.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  page.on("request", (r) => { if (!r.url().startsWith(base)) wrong.push(`request off the host: ${r.url()}`); });
  page.on("response", (r) => { if (r.status() >= 400) wrong.push(`status ${r.status()}: ${r.url()}`); });
  await page.goto(base + url);
  await page.waitForFunction(ready).catch((e) => wrong.push(`never ready: ${e.message}`));
  return { page, wrong };
}

// violations of accessibility rules, of all or of those named. axe is evaluated by the debugger, so
// the page's own policy stays in force. Of a long table or text it meets the beginning: the rest is
// made by the same code, and took most of the time.
export async function violations(page, rules) {
  await page.evaluate(axe);
  const result = await page.evaluate(async (rules) => {
    const rest = [...document.querySelectorAll("tbody")].flatMap((b) => [...b.rows].slice(25)).concat([...document.querySelectorAll(".prose > *")].slice(60)).filter((e) => !e.hidden);
    rest.forEach((e) => (e.hidden = true));
    const found = await window.axe.run({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
    rest.forEach((e) => (e.hidden = false));
    return found;
  }, rules);
  return result.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)}`);
}

export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
