// Plots as SVG. The text beside a plot gives the same figures.
import { h } from "./dom.js";
import { bytes } from "./format.js";

const ns = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Object<string, any>} props @param {...(Node|string)} children */
function s(tag, props, ...children) {
  const e = document.createElementNS(ns, tag);
  for (const [k, v] of Object.entries(props)) e.setAttribute(k, String(v));
  e.append(...children);
  return e;
}

/**
 * @typedef {{name: string, points: Array<{x: number, y: number, low?: number, high?: number, title?: string}>}} Series
 * @typedef {{from: number, to: number, name: string}} Band
 * @typedef {{title: string, y: (v: number) => string, x: (v: number) => string, series: Series[], bands?: Band[], marks?: Array<{x: number, name: string}>, log?: boolean, even?: boolean}} Plot even: x is a quantity, marked at round values
 */

/** @param {number} most @param {boolean} binary of bytes @returns {number[]} three to six round steps up to most */
function ticks(most, binary) {
  const whole = binary ? 1024 ** Math.floor(Math.log2(most || 1) / 10) : 1; // steps are round in KiB, MiB, …
  const step = whole * 10 ** Math.floor(Math.log10(most / whole || 1));
  const by = most / step >= 5 ? step : most / step >= 2 ? step / 2 : step / 5;
  const out = [];
  for (let v = 0; v <= most * 1.0001; v += by) out.push(v);
  return out;
}

/** Three to seven round values within a range. @param {number} from @param {number} to */
function between(from, to) {
  const [, one = 0, two = 1] = ticks(to - from, false), by = two - one || 1;
  const out = [];
  for (let v = Math.ceil(from / by) * by; v <= to + by / 1e4; v += by) out.push(v);
  return out;
}

/** Powers of ten within a range, and 2 and 5 times those where there are few. @param {number} least @param {number} most */
function decades(least, most) {
  const out = [], factors = most / least < 1000 ? [1, 2, 5] : [1];
  for (let e = Math.floor(Math.log10(least)); 10 ** e <= most; e++) out.push(...factors.map((f) => f * 10 ** e));
  return out.filter((v) => v >= least && v <= most);
}

/**
 * A histogram over a logarithmic axis; the heights are shares of the total.
 * @param {{title: string, x: (v: number) => string, bins: Array<{low: number, high: number, count: number}>}} p
 */
export function bars(p) {
  if (!p.bins.length) return h("p.note", null, `${p.title}: nothing was recorded`);
  const width = 900, height = 180, left = 80, right = 10, top = 18, bottom = 22;
  const from = Math.log(p.bins[0].low), to = Math.log(/** @type {any} */ (p.bins.at(-1)).high);
  const all = p.bins.reduce((sum, b) => sum + b.count, 0), most = Math.max(...p.bins.map((b) => b.count));
  const at = (/** @type {number} */ x) => left + ((Math.log(x) - from) / (to - from || 1)) * (width - left - right);
  const up = (/** @type {number} */ n) => height - bottom - (n / most) * (height - top - bottom);
  const share = (/** @type {number} */ n) => `${(100 * n / all).toPrecision(2)} %`;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": p.title });
  for (const t of [0, most / 2, most]) svg.append(s("line", { x1: left, x2: width - right, y1: up(t), y2: up(t), class: "grid" }), s("text", { x: left - 6, y: up(t) + 4, "text-anchor": "end" }, share(t)));
  for (const t of decades(p.bins[0].low, Math.exp(to))) svg.append(s("text", { x: at(t), y: height - 6, "text-anchor": at(t) > width - right - 30 ? "end" : "middle" }, p.x(t)));
  let under = 0;
  for (const b of p.bins) {
    under += b.count;
    svg.append(s("rect", { x: at(b.low), y: Math.min(up(b.count), height - bottom - 0.7), width: Math.max(0.5, at(b.high) - at(b.low) - 1), height: Math.max(0.7, height - bottom - up(b.count)), class: "bin" },
      s("title", {}, `${p.x(b.low)} to ${p.x(b.high)}: ${share(b.count)}; ${share(under)} up to here`)));
  }
  return h("figure", null, h("figcaption", null, p.title), svg);
}

/**
 * A figure with one or more lines over a common axis, from 0 upwards, or with log on a logarithmic scale where the values span
 * more than a factor of 30.
 * @param {Plot} p
 */
export function plot(p) {
  const width = 900, height = 180, left = 80, right = 10, top = 18, bottom = 22;
  const all = p.series.flatMap((l) => l.points);
  if (!all.length) return h("p.note", null, `${p.title}: nothing was recorded`);
  const x0 = Math.min(...all.map((q) => q.x), ...(p.bands || []).map((b) => b.from)), x1 = Math.max(...all.map((q) => q.x), ...(p.bands || []).map((b) => b.to));
  const most = Math.max(...all.map((q) => q.high ?? q.y)) || 1;
  const at = (/** @type {number} */ x) => left + ((x - x0) / (x1 - x0 || 1)) * (width - left - right);
  const positive = all.map((q) => q.low ?? q.y).filter((v) => v > 0), least = Math.min(...positive);
  const log = p.log && positive.length > 0 && most / least > 30;
  const share = (/** @type {number} */ y) => (log ? Math.max(0, Math.log(Math.max(y, least) / least) / Math.log(most / least)) : y / most);
  const up = (/** @type {number} */ y) => height - bottom - share(y) * (height - top - bottom);
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": p.title });
  (p.bands || []).forEach((b, i) => svg.append(
    s("rect", { x: at(b.from), y: top, width: Math.max(0, at(b.to) - at(b.from)), height: height - top - bottom, class: i % 2 ? "band odd" : "band" }, s("title", {}, b.name)),
    s("text", { x: at(b.from) + 3, y: top - 5, class: "faint" }, at(b.to) - at(b.from) > 6.5 * b.name.length ? b.name : "")));
  for (const t of log ? decades(least, most) : ticks(most, p.y === bytes)) svg.append(s("line", { x1: left, x2: width - right, y1: up(t), y2: up(t), class: "grid" }), s("text", { x: left - 6, y: up(t) + 4, "text-anchor": "end" }, p.y(t)));
  const shown = p.even ? between(x0, x1) : [0, 0.25, 0.5, 0.75, 1].map((f) => x0 + f * (x1 - x0));
  for (const x of shown) svg.append(s("text", { x: at(x), y: height - 6, "text-anchor": at(x) < left + 20 ? "start" : at(x) > width - right - 20 ? "end" : "middle" }, p.x(x)));
  for (const m of p.marks || []) svg.append(s("line", { x1: at(m.x), x2: at(m.x), y1: top, y2: height - bottom, class: "mark" }, s("title", {}, m.name)),
    s("text", { x: at(m.x), y: top - 5, "text-anchor": at(m.x) > width - 150 ? "end" : at(m.x) < left + 80 ? "start" : "middle" }, m.name));
  p.series.forEach((l, i) => {
    const kind = `series s${i % 4}`;
    for (const q of l.points) if (q.low !== undefined && q.high !== undefined) svg.append(s("line", { x1: at(q.x), x2: at(q.x), y1: up(q.low), y2: up(q.high), class: kind }));
    svg.append(s("polyline", { points: l.points.map((q) => `${at(q.x).toFixed(1)},${up(q.y).toFixed(1)}`).join(" "), class: kind }));
    if (l.points.length <= 120) for (const q of l.points) svg.append(s("circle", { cx: at(q.x), cy: up(q.y), r: 2.5, class: kind }, s("title", {}, q.title || `${l.name}: ${p.y(q.y)} at ${p.x(q.x)}`)));
  });
  const legend = p.series.length > 1 ? h("p.legend", null, p.series.map((l, i) => h("span." + `s${i % 4}`, null, l.name))) : null;
  return h("figure", null, h("figcaption", null, p.title + (log ? " (logarithmic)" : "")), svg, legend);
}
