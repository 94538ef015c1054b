// Results per commit: series, and where their level changed.
import { h, table } from "./dom.js";
import { address, ask, go, state } from "./address.js";
import { digits } from "./format.js";
import { plot } from "./plot.js";

const commit = (/** @type {any} */ run) => (run?.commit || "").slice(0, 10);
/** Formats a time for an axis of a span: with the time of day (UTC) if all days would be the same. */
const moment = (/** @type {number} */ span) => (/** @type {number} */ ms) => new Date(ms).toISOString().slice(...(span < 4 * 86400e3 ? [5, 16] : [0, 10])).replace("T", " ");
const when = (/** @type {any} */ run) => Date.parse(run.commit_time || run.made || "") || 0;

/** @param {any} t a track */
function title(t) {
  return [t.package, t.name, t.unit, t.machine].filter(Boolean).join(" · ");
}

export async function history() {
  const r = await ask("history");
  const tracks = r.tracks || [];
  if (!tracks.length) return h("p.note", null, "This history is empty: hone bench -history adds its results.");
  const wanted = Number(state().get("track") ?? -1);
  const list = table([
    { head: "series", of: title, cell: (t) => h("a", { href: address("history", { track: tracks.indexOf(t) }) }, title(t)) },
    { head: "runs", of: (t) => t.points.length, text: (t) => digits(t.points.length), number: true },
    { head: "now", of: (t) => t.points.at(-1).median, text: (t) => `${digits(t.points.at(-1).median)} ${t.unit}`, number: true },
    { head: "changes", of: (t) => t.steps?.length || 0, text: (t) => String(t.steps?.length || 0), number: true },
    { head: "the last change", of: (t) => { const s = t.steps?.at(-1); return s ? s.after / s.before : 1; },
      text: (t) => { const s = t.steps?.at(-1); return s ? `${change(s)} at ${commit(s.bad)}${s.provisional ? ", provisional" : ""}` : ""; } },
  ], tracks);
  const t = tracks[wanted];
  if (!t) return list;
  const byRun = t.points.some((/** @type {any} */ p) => !when(p.run)) || new Set(t.points.map((/** @type {any} */ p) => when(p.run))).size < t.points.length;
  const at = (/** @type {any} */ p, /** @type {number} */ i) => (byRun ? i : when(p.run));
  const times = t.points.map((/** @type {any} */ p) => when(p.run));
  const day = moment(Math.max(...times) - Math.min(...times));
  return [
    h("p", null, h("select", { "aria-label": "series", onchange: (/** @type {any} */ e) => go(address("history", { track: e.target.value })) }, tracks.map((/** @type {any} */ x, /** @type {number} */ i) => h("option", { value: i, selected: i === wanted }, title(x)))),
      " ", h("a", { href: address("history") }, "all series")),
    plot({
      title: `${title(t)}: median of each run, with its smallest and largest sample`, x: byRun ? (i) => commit(t.points[Math.round(i)]?.run) : day, y: (v) => `${digits(v)} ${t.unit}`,
      series: [{ name: t.unit, points: t.points.map((/** @type {any} */ p, /** @type {number} */ i) => ({ x: at(p, i), y: p.median, low: p.low, high: p.high, title: `${commit(p.run)} ${p.run.subject || ""}: ${digits(p.median)} ${t.unit}, ${p.n} samples` })) }],
      marks: (t.steps || []).map((/** @type {any} */ s) => ({ x: at(t.points[s.at], s.at), name: `${change(s)} at ${commit(s.bad)}` })),
    }),
    t.steps?.length ? [h("h2", null, "Where the level changed"), table([
      { head: "change", of: (s) => s.after / s.before, text: change, number: true },
      { head: "before", of: (s) => s.before, text: (s) => `${digits(s.before)} ${t.unit}`, number: true },
      { head: "after", of: (s) => s.after, text: (s) => `${digits(s.after)} ${t.unit}`, number: true },
      { head: "after commit", of: (s) => commit(s.good) }, { head: "up to commit", of: (s) => commit(s.bad) },
      { head: "by", of: (s) => s.by + (s.provisional ? ", provisional" : "") },
    ], t.steps)] : h("p.note", null, "The level of this series has not changed significantly."),
  ].flat();
}

function change(/** @type {any} */ s) {
  const c = 100 * (s.after / s.before - 1);
  return `${c >= 0 ? "+" : "−"}${digits(Math.abs(c))} %`;
}
