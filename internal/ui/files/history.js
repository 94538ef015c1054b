// Results per commit: series, and where their level changed.
import { h, table } from "./dom.js";
import { address, allSources, ask, go, state } from "./address.js";
import { digits, measured } from "./format.js";
import { takeFile } from "./live.js";
import { plot } from "./plot.js";

const commit = (/** @type {any} */ run) => (run?.commit || "").slice(0, 10);
/** Formats a time for an axis of a span: with the time of day (UTC) if all days would be the same. */
const moment = (/** @type {number} */ span) => (/** @type {number} */ ms) => new Date(ms).toISOString().slice(...(span < 4 * 86400e3 ? [5, 16] : [0, 10])).replace("T", " ");
const when = (/** @type {any} */ run) => Date.parse(run.commit_time || run.made || "") || 0;

/** @param {any} t a track */
function title(t) {
  return [t.package, t.name, t.unit, t.machine].filter(Boolean).join(" · ");
}

/** The recording of a run, if it is among the sources, and its profiles in the database. @param {any} run @param {string[]} files */
function recorded(run, files) {
  const rec = run.kind === "recording" ? allSources().find((s) => s.kind === "recording" && s.name === run.note) : undefined;
  const open = async (/** @type {Event} */ e, /** @type {string} */ name) => {
    const button = /** @type {HTMLButtonElement} */ (e.target);
    button.disabled = true;
    try {
      go(`/?src=${await takeFile(`file:${run.id}/${name}`)}`);
    } catch (err) {
      button.replaceWith(h("span.error", { role: "status" }, err instanceof Error ? err.message : String(err)));
    }
  };
  return [...(rec ? [h("a", { href: `/?src=${rec.id}` }, rec.name), " "] : []),
    ...files.filter((f) => f.endsWith(".pprof")).map((f) => [h("button", { type: "button", title: "open this profile of the run", onclick: (/** @type {Event} */ e) => open(e, f) }, f), " "])];
}

export async function history() {
  const all = await ask("history-runs");
  const tracks = all.runs?.length ? (await ask("history")).tracks || [] : [];
  /** @type {Map<string, string[]>} */
  const files = new Map((all.runs || []).map((/** @type {any} */ x) => [x.id, x.files || []]));
  if (!tracks.length) return h("p.note", null, "This history is empty: hone bench -history adds its results.");
  const wanted = Number(state().get("track") ?? -1);
  const list = table([
    { head: "series", of: title, cell: (t) => h("a", { href: address("history", { track: tracks.indexOf(t) }) }, title(t)) },
    { head: "runs", of: (t) => t.points.length, text: (t) => digits(t.points.length), number: true },
    { head: "now", of: (t) => t.points.at(-1).median, text: (t) => `${measured(t.points.at(-1).median, t.unit)}`, number: true },
    { head: "changes", of: (t) => t.steps?.length || 0, text: (t) => String(t.steps?.length || 0), number: true },
    { head: "the last change", of: (t) => { const s = t.steps?.at(-1); return s ? s.after / s.before : 1; },
      text: (t) => { const s = t.steps?.at(-1); return s ? `${change(s)} at ${commit(s.bad)}${s.provisional ? ", provisional" : ""}` : ""; } },
  ], tracks);
  const t = tracks[wanted];
  if (!t) return list;
  const short = (/** @type {number} */ v) => measured(v, t.unit).replace(/\/.*/, ""); // without "per request"
  const byRun = t.points.some((/** @type {any} */ p) => !when(p.run)) || new Set(t.points.map((/** @type {any} */ p) => when(p.run))).size < t.points.length;
  const at = (/** @type {any} */ p, /** @type {number} */ i) => (byRun ? i : when(p.run));
  const times = t.points.map((/** @type {any} */ p) => when(p.run));
  const day = moment(Math.max(...times) - Math.min(...times));
  return [
    h("p", null, h("select", { "aria-label": "series", onchange: (/** @type {any} */ e) => go(address("history", { track: e.target.value })) }, tracks.map((/** @type {any} */ x, /** @type {number} */ i) => h("option", { value: i, selected: i === wanted }, title(x)))),
      " ", h("a", { href: address("history") }, "all series")),
    plot({
      title: `${title(t)}: median of each run, with its smallest and largest sample`, x: byRun ? (i) => commit(t.points[Math.round(i)]?.run) : day, y: short,
      series: [{ name: t.unit, points: t.points.map((/** @type {any} */ p, /** @type {number} */ i) => ({ x: at(p, i), y: p.median, low: p.low, high: p.high, title: `${commit(p.run)} ${p.run.subject || ""}: ${measured(p.median, t.unit)}, ${p.n} samples` })) }],
      marks: (t.steps || []).map((/** @type {any} */ s) => ({ x: at(t.points[s.at], s.at), name: `${change(s)} at ${commit(s.bad)}` })),
    }),
    t.steps?.length ? [h("h2", null, "Where the level changed"), table([
      { head: "change", of: (s) => s.after / s.before, text: change, number: true },
      { head: "before", of: (s) => s.before, text: (s) => measured(s.before, t.unit), number: true },
      { head: "after", of: (s) => s.after, text: (s) => measured(s.after, t.unit), number: true },
      { head: "after commit", of: (s) => commit(s.good) }, { head: "up to commit", of: (s) => commit(s.bad) },
      { head: "by", of: (s) => s.by + (s.provisional ? ", provisional" : "") },
      { head: "recorded", of: () => "", cell: (s) => [["before: ", s.good], ["after: ", s.bad]].map(([name, run]) => [name, recorded(run, files.get(run.id) || [])]).filter(([, found]) => found.length) },
    ], t.steps)] : h("p.note", null, "The level of this series has not changed significantly."),
    h("h2", null, "Runs, the newest first"),
    table([
      { head: "commit", of: (p) => commit(p.run) },
      { head: "of (UTC)", of: (p) => when(p.run), text: (p) => (when(p.run) > 0 ? new Date(when(p.run)).toISOString().slice(0, 16).replace("T", " ") : ""), number: true },
      { head: "median", of: (p) => p.median, text: (p) => measured(p.median, t.unit), number: true },
      { head: "smallest", of: (p) => p.low, text: (p) => short(p.low), number: true }, { head: "largest", of: (p) => p.high, text: (p) => short(p.high), number: true },
      { head: "samples", of: (p) => p.n, number: true },
      { head: "Go", of: (p) => p.run.go || "" },
      { head: "recorded", of: (p) => (files.get(p.run.id) || []).join(" "), cell: (p) => recorded(p.run, files.get(p.run.id) || []) },
      { head: "subject", of: (p) => p.run.subject || "" },
    ], t.points.slice().reverse(), { most: 50 }),
  ].flat();
}

function change(/** @type {any} */ s) {
  const c = 100 * (s.after / s.before - 1);
  return `${c >= 0 ? "+" : "−"}${digits(Math.abs(c))} %`;
}
