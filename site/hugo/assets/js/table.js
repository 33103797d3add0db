// Sorting and sifting of a table that is already on the page. A cell's data-v, when present, is its value.
import { el } from "./dom";

const value = (row, i) => {
  const cell = row.cells[i];
  return cell.dataset.v ?? cell.textContent.trim();
};

// number reads a value as it is shown: thousands apart, a true minus, a percent sign.
const number = (v) => (v === "" ? NaN : Number(String(v).replace(/,/g, "").replace("\u2212", "-").replace(/ ?%$/, "")));

export function compare(a, b) {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1; // what has no value stays last in both orders
  const x = number(a), y = number(b);
  return Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b), "en", { numeric: true }) : x - y;
}

export function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => {
    if (!head.textContent.trim()) return;
    const button = el("button", { type: "button" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((a, b) => {
        const x = value(a, i), y = value(b, i);
        return x === "" || y === "" || !down ? compare(x, y) : -compare(x, y);
      });
      body.append(...rows);
    });
  });
}

// asked is what the address asks a page's tables for.
const asked = new URLSearchParams(location.search).get("rows")?.slice(0, 200) ?? "";

// sift fills the place above a long table with a field that leaves the rows that hold every word.
export function sift(place) {
  const rows = [...place.nextElementSibling.querySelectorAll("tbody tr")];
  const input = el("input", { type: "search", maxLength: 200 }), count = el("output");
  const say = (n) => (count.textContent = `${n} of ${rows.length} rows`);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((w) => text.includes(w));
      left += row.hidden ? 0 : 1;
    }
    say(left);
  });
  say(rows.length);
  place.append(el("label", {}, "Rows with", input), count);
  if (asked && rows.some((r) => r.textContent.includes(asked))) {
    input.value = asked;
    input.dispatchEvent(new Event("input"));
  }
}

// point leads to the first code in a table that begins with what the address asks for.
export function point() {
  const code = asked && [...document.querySelectorAll("td code, th code")].find((c) => c.textContent.startsWith(asked));
  if (!code) return;
  code.classList.add("hit");
  code.scrollIntoView({ block: "center" });
}
