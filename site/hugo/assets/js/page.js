// What every page gets: tables that sort and sift, site search, copy buttons.
import { copyable } from "./dom";
import { sift, sortable } from "./table";
import { search } from "./search";

document.querySelectorAll("table[data-sortable]").forEach(sortable);
document.querySelectorAll(".sift").forEach(sift);
document.querySelectorAll(".search").forEach(search);
document.querySelectorAll("div.code").forEach(copyable);
