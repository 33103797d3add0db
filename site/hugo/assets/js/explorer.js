// The explorer: all points from one JSON file, 100 rows a page, the whole state in the URL.
import { el } from "./dom";
import { compared, most, show } from "./compared";
import { compare } from "./table";

const perPage = 100;
const box = document.querySelector(".explorer");
const defaults = { q: "", sort: "", page: 1 };

let short = 12; // characters of an id in an address, or as many as tell points apart
const longest = 200; // characters of a text: what is longer matches nothing, and would not fit an address

// read takes the state from the address, and leaves out what names no page, column or value.
function read(columns, values, rows) {
  const state = { ...defaults, filters: {}, beside: [] };
  for (const [k, v] of new URLSearchParams(location.search)) {
    if (k === "page") state.page = Math.max(1, Math.floor(Number(v)) || 1);
    else if (k === "with") state.beside = [...new Set(v.split(",").slice(0, most).map((id) => id.length >= 12 && rows.find((r) => r[0].startsWith(id))))].filter(Boolean);
    else if (k === "q") state.q = v.slice(0, longest);
    else if (k === "sort") state.sort = columns.some((c) => c.label && c.id === v.replace(/^-/, "")) ? v : "";
    else if (Object.hasOwn(values, k) && values[k].some((known) => String(known) === v)) state.filters[k] = v;
  }
  return state;
}

function write(state) {
  const p = new URLSearchParams();
  for (const k of ["q", "sort", "page"]) if (state[k] !== defaults[k]) p.set(k, state[k]);
  for (const [k, v] of Object.entries(state.filters)) if (v !== "") p.set(k, v);
  if (state.beside.length) p.set("with", state.beside.map((r) => r[0].slice(0, short)).join());
  const query = p.toString();
  try {
    history.replaceState(null, "", query ? `?${query}` : location.pathname);
  } catch { /* a browser allows so many a minute; the next change writes it */ }
}

function select(rows, columns, state) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const at = Object.fromEntries(columns.map((c, i) => [c.id, i]));
  let found = rows.filter((r) => Object.entries(state.filters).every(([k, v]) => v === "" || String(r[at[k]]) === v));
  if (words.length) found = found.filter((r) => { const t = r.join(" ").toLowerCase(); return words.every((w) => t.includes(w)); });
  const down = state.sort.startsWith("-");
  const by = at[state.sort.replace(/^-/, "")];
  if (by !== undefined) {
    found = [...found].sort((a, b) => {
      const x = a[by] ?? "", y = b[by] ?? "";
      return x === "" || y === "" || !down ? compare(x, y) : -compare(x, y);
    });
  }
  return found;
}

function cell(c, row, mark) {
  const v = row[c.at];
  const td = el(mark ? "th" : "td", { className: c.num ? "num" : "" });
  if (mark) {
    td.scope = "row";
    td.append(mark, el("a", { href: `${box.dataset.root}points/${row[0]}/`, textContent: v }));
  } else {
    td.textContent = show(c, v);
    if (c.id === "grade") td.className = `grade ${String(v).toLowerCase()}`;
  }
  return td;
}

// cells of a row; where a unit was not scored its reason stands below its name, the widest column.
function cells(shown, row, mark, reason) {
  return shown.map((c, i) => {
    const td = cell(c, row, i === 0 && mark);
    if (i === 0 && row[reason]) td.append(el("span", { className: "reason", textContent: row[reason].replaceAll("_", " ") }));
    return td;
  });
}

async function start() {
  const { columns, rows } = await (await fetch(box.dataset.points)).json();
  columns.forEach((c, i) => (c.at = i));
  while (new Set(rows.map((r) => r[0].slice(0, short))).size < rows.length && short < 64) short++;
  const shown = columns.filter((c) => c.label), reason = columns.findIndex((c) => c.id === "reason");
  const values = Object.fromEntries(columns.filter((c) => c.filter).map((c) => [c.id, [...new Set(rows.map((r) => r[c.at]))].filter((v) => v !== "" && v !== null).sort(compare)]));
  const state = read(columns, values, rows);
  const count = el("output", { ariaLive: "polite" });
  const form = el("form", { className: "filters", role: "search", ariaLabel: "Filter points" });
  form.addEventListener("submit", (e) => e.preventDefault());

  const text = el("input", { type: "search", value: state.q, maxLength: longest, placeholder: "every word" });
  text.addEventListener("input", () => change({ q: text.value }));
  form.append(el("label", {}, "Text", text));
  for (const c of columns.filter((c) => c.filter)) {
    const pick = el("select", {}, el("option", { value: "", textContent: "any" }), ...values[c.id].map((v) => el("option", { value: v, textContent: v })));
    pick.value = state.filters[c.id] ?? "";
    pick.addEventListener("change", () => change({ filters: { ...state.filters, [c.id]: pick.value } }));
    form.append(el("label", {}, c.filter, pick));
  }
  const reset = el("button", { type: "button", className: "plain", textContent: "Clear all" });
  reset.addEventListener("click", () => {
    form.querySelectorAll("input, select").forEach((i) => (i.value = ""));
    change({ q: "", sort: "", filters: {}, beside: [] });
  });
  form.append(el("div", {}, reset));

  const heads = shown.map((c) => {
    const button = el("button", { type: "button" }, c.label, ...(c.unit ? [" ", el("small", { textContent: c.unit })] : []));
    button.addEventListener("click", () => change({ sort: state.sort === c.id ? `-${c.id}` : c.id }));
    return el("th", { scope: "col", className: c.num ? "num" : "" }, button);
  });
  const body = el("tbody");
  const table = el("table", { id: "points" }, el("caption", { className: "off", textContent: "Points that match the filters" }),
    el("thead", {}, el("tr", {}, ...heads)), body);
  const scroll = el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Points" }, table);
  const step = (by, name) => {
    const b = el("button", { type: "button", className: "plain", textContent: name });
    b.addEventListener("click", () => change({ page: state.page + by }, false));
    return b;
  };
  const back = step(-1, "Previous"), next = step(1, "Next"), where = el("span");
  const side = el("div", { className: "side" });
  const lay = (chosen) => { // leaves the rows in place, and with them the focus
    state.beside = chosen;
    side.replaceChildren(...compared(shown, chosen, box.dataset.root, away));
    body.querySelectorAll("input").forEach((i) => (i.checked = chosen.some((r) => `u-${r[0]}` === i.closest("tr").id)));
    write(state);
  };
  const away = (row) => lay(state.beside.filter((r) => r !== row));
  const mark = (row) => {
    const tick = el("input", { type: "checkbox", ariaLabel: `Put ${row.slice(1, 8).join(", ")} beside others`, title: "Put beside others" });
    tick.addEventListener("change", () => (tick.checked ? lay([...state.beside, row].slice(-most)) : away(row)));
    return tick;
  };
  const pager = el("nav", { className: "pager", ariaLabel: "Pages of points" }, back, where, next, count, el("small", { textContent: "Tick points to see them side by side." }));

  function render() {
    const found = select(rows, columns, state);
    const pages = Math.max(1, Math.ceil(found.length / perPage));
    state.page = Math.min(state.page, pages);
    const from = (state.page - 1) * perPage;
    body.replaceChildren(...found.slice(from, from + perPage).map((r) => el("tr", { id: `u-${r[0]}` }, ...cells(shown, r, mark(r), reason))));
    if (!found.length) body.append(el("tr", {}, el("td", { colSpan: shown.length, className: "few", textContent: "No point matches all of this. Fewer words, or “Clear all”, bring some back." })));
    table.setAttribute("aria-rowcount", String(found.length + 1));
    shown.forEach((c, i) => {
      const order = state.sort === c.id ? "ascending" : state.sort === `-${c.id}` ? "descending" : null;
      if (order) heads[i].setAttribute("aria-sort", order);
      else heads[i].removeAttribute("aria-sort");
    });
    count.textContent = `${found.length} of ${rows.length} points`;
    lay(state.beside);
    where.textContent = `Page ${state.page} of ${pages}`;
    back.disabled = state.page === 1;
    next.disabled = state.page === pages;
  }
  function change(part, restart = true) {
    Object.assign(state, part);
    if (restart && !("page" in part)) state.page = 1;
    render();
  }
  box.replaceChildren(form, side, pager, scroll);
  render();
}
start().catch((e) => box.append(el("p", { role: "alert", textContent: `The points could not be read: ${e.message}` })));
