// Draws each chart's option, a JSON file beside its data, in place of its static picture.
import * as echarts from "echarts/core";
import { LineChart, ScatterChart, TreemapChart } from "echarts/charts";
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { SVGRenderer } from "echarts/renderers";

echarts.use([LineChart, ScatterChart, TreemapChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent, SVGRenderer]);

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const onDark = matchMedia("screen and (prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const drawn = new Map();

// ticks are 1, 2 and 5 of each power of ten, or more where those are few; a log axis would label its ends otherwise.
function ticks(a) {
  for (const steps of [[1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9]]) {
    const at = [];
    for (let e = -6; e < 12; e++) for (const m of steps) {
      const v = Number(`${m}e${e}`);
      if (v >= a.min && v <= a.max) at.push(v);
    }
    if (at.length > 2 || steps.length > 3) return at;
  }
}

function axis(a, labels, room) {
  const label = { ...a.axisLabel, color: css("--ink") };
  if (a.type === "category" && room < 480) Object.assign(label, { fontSize: 9, lineHeight: 10, width: 0.38 * room, overflow: "break" });
  if (a.type === "log") {
    label.customValues = labels ?? ticks(a);
    label.hideOverlap = true;
  } else if (a.type === "value") {
    label.showMinLabel = label.showMaxLabel = false; // the ends are wherever the marks end
    label.hideOverlap = true;
  }
  return { ...a, axisLabel: label, nameTextStyle: { color: css("--soft") }, nameLocation: "middle", nameGap: a.nameGap || 32,
    axisLine: { lineStyle: { color: css("--strong") } }, splitLine: { lineStyle: { color: css("--rule") } },
    axisTick: { customValues: label.customValues, lineStyle: { color: css("--strong") } } };
}

function dress(option, tones, room) {
  const list = (x) => (Array.isArray(x) ? x : x ? [x] : []);
  return {
    ...option,
    animation: !still.matches && option.series.every((s) => (s.data || []).length < 300),
    backgroundColor: "transparent",
    aria: { enabled: true },
    textStyle: { fontFamily: css("--sans"), color: css("--ink") },
    legend: { ...list(option.legend)[0], itemWidth: 12, itemHeight: 10, top: 0, left: "center", textStyle: { color: css("--ink") }, inactiveColor: css("--strong") },
    tooltip: { renderMode: "richText", trigger: "item", backgroundColor: css("--panel"), borderColor: css("--strong"),
      textStyle: { color: css("--ink"), fontSize: 12 }, formatter: (p) => (p.treePathInfo ? `${p.treePathInfo.slice(1).map((n) => n.name).join(", ")}: ${p.value}` : p.name || p.seriesName) },
    xAxis: option.xAxis && list(option.xAxis).map((a) => axis(a, option.ticks)),
    yAxis: option.yAxis && list(option.yAxis).map((a) => ({ ...axis(a, undefined, room), inverse: a.type === "category" })), // categories read from the top
    series: option.series.map((s, i) => (s.type === "treemap" ? areas(s) : tones[i] < 0 ? neutral(s) : coloured(s, tones[i]))),
  };
}

const shapes = ["circle", "triangle", "rect", "diamond", "arrow", "pin"];
function coloured(s, tone) {
  const color = css(`--tone-${tone % 6}`);
  const hollow = s.lineStyle?.type === "dashed"; // a line of one mark shows no dash
  const fill = hollow ? { color: css("--ground"), borderColor: color, borderWidth: 1.6 } : { color };
  return { ...s, symbol: s.symbol === "none" ? "none" : shapes[tone % 6], silent: s.symbol === "none", symbolSize: 7, itemStyle: { ...s.itemStyle, ...fill, opacity: hollow ? 1 : 0.75 }, lineStyle: { ...s.lineStyle, color },
    emphasis: { scale: 1.6, itemStyle: { opacity: 1 } } };
}
function neutral(s) {
  return { ...s, silent: true, lineStyle: { ...s.lineStyle, color: css("--soft") } };
}

// areas colours a tree by grade: a leaf's tone is a step of the sequential scale.
function areas(s) {
  const dark = onDark.matches;
  const leaf = (n) => {
    const ink = (n.tone < 2) === dark ? "#10222c" : "#ffffff";
    return { ...n, itemStyle: { color: css(`--g${n.tone + 1}`) }, label: { color: n.tone > 1 && !dark ? "#10222c" : ink } };
  };
  const group = { color: css("--ground") }; // where parts are too small to draw
  return { ...s, childrenVisibleMin: 0, visibleMin: 0, width: "100%", height: "100%", top: 0, left: 0, roam: false, nodeClick: false, breadcrumb: { show: false },
    data: s.data.map((g) => ({ ...g, itemStyle: group, children: g.children?.map(leaf) })),
    label: { show: true, fontSize: 11, formatter: "{b}: {c}", overflow: "truncate" }, upperLabel: { show: true, height: 20, color: css("--ink"), fontWeight: 600, backgroundColor: "transparent" },
    itemStyle: { borderColor: css("--ground"), borderWidth: 1, gapWidth: 1 },
    levels: [{ itemStyle: { borderWidth: 0, gapWidth: 4 }, upperLabel: { show: false } }, { itemStyle: { borderColor: css("--ground"), borderWidth: 2, gapWidth: 1 } }] };
}

const options = new Map();
async function draw(plot) {
  if (!options.has(plot)) options.set(plot, fetch(plot.dataset.chart).then((r) => r.json()).catch(() => null));
  const option = await options.get(plot);
  if (!option) return; // out of reach: the picture stays
  const tones = (plot.dataset.tones || "").split(",").map(Number);
  let chart = drawn.get(plot);
  if (!chart) {
    const picture = plot.querySelector("picture");
    const box = plot.getBoundingClientRect();
    plot.style.height = `${Math.max(box.height, 240)}px`;
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", picture.querySelector("img").alt);
    picture.remove();
    chart = echarts.init(plot, null, { renderer: "svg" });
    chart.on("click", (p) => {
      const link = p.data && (p.data.link ?? (p.data.value && p.data.value[2]));
      if (link) location.href = new URL(link, new URL(plot.dataset.root, location.href)).href;
    });
    new ResizeObserver(() => chart.resize()).observe(plot);
    drawn.set(plot, chart);
  }
  chart.setOption(dress(option, tones, plot.clientWidth), true);
}

const all = () => document.querySelectorAll(".plot[data-chart]").forEach(draw);
all();
onDark.addEventListener("change", all);
matchMedia("print").addEventListener("change", () => {
  drawn.forEach((chart) => chart.resize());
  all();
});
