// What every page gets: tables that sort and sift, site search, copy buttons.
import { copyable } from "./dom";
import { point, sift, sortable } from "./table";
import { search } from "./search";

document.querySelectorAll("table[data-sortable]").forEach(sortable);
document.querySelectorAll(".sift").forEach(sift);
point();
document.querySelectorAll(".search").forEach(search);
document.querySelectorAll("div.code").forEach(copyable);
