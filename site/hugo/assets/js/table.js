// Sorting of a table that is already on the page. A cell's data-v, when present, is its value.
const value = (row, i) => {
  const cell = row.cells[i];
  return cell.dataset.v ?? cell.textContent.trim();
};

export function compare(a, b) {
  if (a === b) return 0;
  if (a === "" || b === "") return a === "" ? 1 : -1; // what has no value stays last in both orders
  const x = Number(a), y = Number(b);
  return Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b), "en", { numeric: true }) : x - y;
}

export function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
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
