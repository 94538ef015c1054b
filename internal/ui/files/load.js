// The load of a recording over time, phase after phase, from the windows of its manifest.
import { h, table } from "./dom.js";
import { source } from "./address.js";
import { bytes, digits, nanoseconds, percent } from "./format.js";
import { bars, plot } from "./plot.js";

/** The manifest of the source. */
export async function manifest() {
  const r = await fetch("/part/manifest.json?" + new URLSearchParams({ src: source().id }));
  if (!r.ok) throw new Error((await r.text()).trim());
  return r.json();
}

/** Phases with separate builds, whose figures are not those of the program. */
export const builtOtherwise = ["counts", "inputs"];

/** Windows with the time at which they end, in seconds from the first phase's start. @param {any} m */
export function timed(m) {
  const phases = (m.phases || []).filter((/** @type {any} */ p) => p.windows?.length && p.start && !builtOtherwise.includes(p.name));
  if (!phases.length) return { points: [], bands: [] };
  const zero = Math.min(...phases.map((/** @type {any} */ p) => Date.parse(p.start)));
  const points = [], bands = [];
  for (const p of phases) {
    const from = (Date.parse(p.start) - zero) / 1000;
    let x = from;
    for (const w of p.windows) points.push({ phase: p.name, x: (x += w.seconds), w });
    bands.push({ name: p.name, from, to: x });
  }
  points.sort((a, b) => a.x - b.x);
  bands.sort((a, b) => a.from - b.from);
  return { points, bands };
}

const seconds = (/** @type {number} */ s) => nanoseconds(s * 1e9);

/** The histogram of the requests of the clean phase; null if the recording has none. */
async function histogram() {
  const r = await fetch("/part/latency.json?" + new URLSearchParams({ src: source().id, inline: "1" }));
  return r.ok ? r.json() : null;
}

export async function load() {
  const [m, spread] = await Promise.all([manifest(), histogram()]);
  const { points, bands } = timed(m);
  const loaded = points.some((p) => p.w.requests > 0);
  const per = loaded ? "request" : "second";
  const of = (/** @type {string} */ name, /** @type {(v: number) => string} */ y, /** @type {(w: any) => number} */ f) => [{ name, points: points.filter((p) => p.w.seconds > 0 && (!loaded || p.w.requests > 0))
    .map((p) => ({ x: p.x, y: f(p.w), title: `${name}: ${y(f(p.w))} in ${p.phase}, at ${seconds(p.x)}` })) }];
  const base = (/** @type {any} */ w) => (loaded ? w.requests : w.seconds);
  const axis = { x: seconds, even: true, bands };
  const quantiles = points.some((p) => p.w.quantiles);
  const latency = ["p50", "p90", "p99"].map((q) => ({ name: q, points: points.filter((p) => p.w.quantiles).map((p) => ({ x: p.x, y: p.w.quantiles[q], title: `${q}: ${seconds(p.w.quantiles[q])} in ${p.phase}, at ${seconds(p.x)}` })) }));
  const rated = Boolean(m.load?.rate), errors = points.some((p) => p.w.failed);
  const failed = (m.phases || []).filter((/** @type {any} */ p) => p.requests > 0);
  return [
    m.load ? h("p", null, [m.load.connections && `${m.load.connections} connections`, m.load.rate ? `${m.load.rate} requests/s by schedule` : "closed loop", ...(m.load.targets || []).slice(0, 5)].filter(Boolean).join(" · "))
      : h("p.note", null, "hone sent no load: this is the program's own activity."),
    loaded ? plot({ ...axis, title: "requests per second", y: digits, series: of("rate", digits, (w) => w.requests / w.seconds) }) : null,
    quantiles ? plot({ ...axis, title: rated ? "latency from the schedule" : "service time", y: seconds, series: latency, log: true }) : null,
    spread ? bars({ title: `${spread.of === "latency" ? "latency from the schedule" : "service time"} of ${digits(spread.count)} requests in the clean phase`, x: seconds, bins: spread.bins }) : null,
    errors ? plot({ ...axis, title: "failed requests per second", y: digits, series: of("failed", digits, (w) => (w.failed || 0) / w.seconds) }) : null,
    points.some((p) => p.w.lag_p99) ? plot({ ...axis, title: "lag of the load generator, p99", y: seconds, series: of("lag", seconds, (w) => w.lag_p99 || 0) }) : null,
    plot({ ...axis, title: `CPU per ${per}`, y: seconds, series: of("CPU", seconds, (w) => (w.cpu_seconds || 0) / base(w)) }),
    plot({ ...axis, title: `allocated per ${per}`, y: bytes, series: of("bytes", bytes, (w) => (w.alloc_bytes || 0) / base(w)) }),
    failed.length ? [h("h2", null, "Requests"), table([
      { head: "phase", of: (p) => p.name },
      { head: "requests", of: (p) => p.requests, text: (p) => digits(p.requests), number: true },
      { head: "failed", of: (p) => p.failed || 0, text: (p) => (p.failed ? `${digits(p.failed)}, ${percent(p.failed / p.requests)}` : "0"), number: true },
      { head: "missed", of: (p) => p.missed || 0, text: (p) => digits(p.missed || 0), number: true },
      ...["p50", "p99", "max"].map((q) => ({ head: q, of: (/** @type {any} */ p) => (p.latency || p.service)?.[q] || 0, text: (/** @type {any} */ p) => ((p.latency || p.service)?.[q] ? seconds((p.latency || p.service)[q]) : ""), number: true })),
      { head: "lag p99", of: (p) => p.lag?.p99 || 0, text: (p) => (p.lag?.p99 ? seconds(p.lag.p99) : ""), number: true },
      { head: "load generator", of: (p) => p.verdict || "" },
    ], failed)] : null,
  ].flat().filter(Boolean);
}
