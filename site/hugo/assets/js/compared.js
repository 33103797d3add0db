// Points side by side: a column each, a row for each of what the explorer knows of them.
import { el } from "./dom";

const percent = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "exceptZero" });
export const show = (c, v) => (v === null || v === "" ? "" : c.format === "percent" ? percent.format(v).replace("-", "\u2212") : c.format === "number" ? v.toLocaleString("en", { minimumFractionDigits: c.digits, maximumFractionDigits: c.digits }) : String(v));

export const most = 6; // columns a screen has room for

// compared is empty for no rows; away takes one out.
export function compared(columns, rows, root, away) {
  if (!rows.length) return [];
  const head = rows.map((r) => {
    const out = el("button", { type: "button", className: "plain", textContent: "Remove" });
    out.addEventListener("click", () => away(r));
    return el("th", { scope: "col" }, el("a", { href: `${root}points/${r[0]}/`, textContent: r[columns[0].at] }), el("div", {}, out));
  });
  const lines = columns.slice(1).map((c) => {
    const values = rows.map((r) => show(c, r[c.at]));
    return el("tr", { className: new Set(values).size > 1 ? "differs" : "" }, el("th", { scope: "row" }, c.label, ...(c.unit ? [" ", el("small", { textContent: c.unit })] : [])),
      ...values.map((v) => el("td", { textContent: v || "–" })));
  });
  return [el("h2", { textContent: "Side by side" }), el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Points side by side" },
    el("table", { id: "compared" }, el("caption", { className: "off", textContent: "Points side by side" }), el("thead", {}, el("tr", {}, el("td"), ...head)), el("tbody", {}, ...lines)))];
}
