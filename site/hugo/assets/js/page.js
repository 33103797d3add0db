// What every page gets: sortable tables, site search, copy buttons.
import { copyable } from "./dom";
import { sortable } from "./table";
import { search } from "./search";

document.querySelectorAll("table[data-sortable]").forEach(sortable);
document.querySelectorAll(".search").forEach(search);
document.querySelectorAll("div.code").forEach(copyable);
