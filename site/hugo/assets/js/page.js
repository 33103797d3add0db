// What every page gets: sortable tables, site search, copy buttons.
import { sortable } from "./table";
import { search } from "./search";

document.querySelectorAll("table[data-sortable]").forEach(sortable);
document.querySelectorAll(".search").forEach(search);
document.querySelectorAll("div.code").forEach((box) => {
  if (!navigator.clipboard) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  box.append(button);
});
