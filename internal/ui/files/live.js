// A service to take profiles from, or a recording in progress. Events arrive as server-sent events.
import { h } from "./dom.js";
import { go, refresh, source } from "./address.js";
import { bytes, digits, nanoseconds } from "./format.js";
import { plot } from "./plot.js";

/** What a page can request from a service, with its purpose; the first three take the chosen number of seconds. */
const wanted = [
  ["record", "everything, for findings"], ["profile", "CPU"], ["trace", "execution trace"],
  ["heap", "memory in use"], ["allocs", "allocations since the start"], ["goroutine", "where goroutines wait"],
  ["mutex", "contended locks"], ["block", "blocking"], ["threadcreate", "threads"],
];

const seconds = (/** @type {number} */ s) => nanoseconds(s * 1e9);

/** @param {string} path @param {any} body */
async function post(path, body) {
  const r = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return r.ok ? "" : (await r.text()).trim();
}

/**
 * Takes a file out of a history's database, and returns the ID of the source that it becomes.
 * @param {string} what "file:" with the run and the name of the file @returns {Promise<string>}
 */
export async function takeFile(what) {
  const said = await post("/api/take", { src: source().id, what });
  if (said) throw new Error(said);
  const job = `${what} of ${source().name}`;
  return new Promise((found, failed) => {
    const stream = new EventSource("/api/live");
    stream.onmessage = async (m) => {
      const e = JSON.parse(m.data);
      if (e.job !== job || !e.done) return; // of an earlier job
      stream.close();
      await refresh().catch(() => false);
      e.error ? failed(new Error(e.error)) : found(e.made);
    };
  });
}

/** Buttons that request something from a service. @param {HTMLElement} stop */
function form(stop) {
  const length = /** @type {HTMLInputElement} */ (h("input", { type: "number", min: 1, max: 600, value: 10, "aria-label": "seconds" }));
  const said = h("span.error", { role: "status" });
  const ask = async (/** @type {string} */ what) => said.replaceChildren(await post("/api/take", { src: source().id, what, seconds: Number(length.value) }));
  return h("div", null,
    h("p", null, h("label", null, length, " seconds "), wanted.slice(0, 3).map(([name, what]) => [h("button", { type: "button", onclick: () => ask(name) }, `${name} · ${what}`), " "])),
    h("p", null, "current state: ", wanted.slice(3).map(([name, what]) => [h("button", { type: "button", onclick: () => ask(name), title: what }, name), " "])),
    h("p", null, stop, " ", said));
}

/** The windows of a job's events as points, and its phases as bands. @param {any[]} events */
function timed(events) {
  const points = [];
  /** @type {Array<{name: string, from: number, to: number}>} */
  const bands = [];
  for (const e of events) {
    if (!e.window) continue;
    points.push({ x: e.at, e, w: e.window });
    const last = bands.at(-1);
    if (last && last.name === e.phase) last.to = e.at;
    else bands.push({ name: e.phase, from: e.at - e.window.seconds, to: e.at });
  }
  return { points, bands };
}

/** @param {any[]} events of one job */
function figures(events) {
  const { points, bands } = timed(events);
  if (points.length < 2) return [];
  const axis = { x: seconds, bands, even: true };
  const line = (/** @type {string} */ name, /** @type {(p: any) => number} */ of, some = points) => ({ name, points: some.map((p) => ({ x: p.x, y: of(p) })) });
  const whole = points.filter((p) => p.w.seconds > 0), asked = points.filter((p) => p.w.quantiles), heap = points.filter((p) => p.e.heap_live);
  return [
    points.some((p) => p.w.requests) ? plot({ ...axis, title: "requests per second", y: digits, series: [line("rate", (p) => (p.w.requests || 0) / p.w.seconds, whole)] }) : null,
    asked.length ? plot({ ...axis, title: "latency", y: seconds, series: ["p50", "p90", "p99"].map((q) => line(q, (p) => p.w.quantiles[q], asked)) }) : null,
    plot({ ...axis, title: "processors busy", y: digits, series: [line("CPU", (p) => (p.w.cpu_seconds || 0) / p.w.seconds, whole)] }),
    heap.length ? plot({ ...axis, title: "heap live after the last collection", y: bytes, series: [line("heap", (p) => p.e.heap_live, heap)] }) : null,
  ].filter((e) => e !== null);
}

/** The phases of a job, each with its progress. @param {any[]} events */
function phases(events) {
  /** @type {Map<string, any>} */
  const last = new Map();
  for (const e of events) if (e.phase) last.set(e.phase, e);
  const now = [...last.values()].at(-1);
  return h("table.rows", null, h("thead", null, h("tr", null, ["phase", "progress", "result"].map((t) => h("th", { scope: "col" }, h("small", null, t))))), h("tbody", null, [...last.values()].map((e) => h("tr", null,
    h("td", null, e.phase),
    h("td", null, e.end || e !== now ? "done" : e.of ? h("progress", { max: e.of, value: e.spent || 0, "aria-label": e.phase }) : "…"),
    h("td.name", null, e.text || "")))));
}

export function live() {
  const box = h("div", null), id = source().id;
  const stop = /** @type {HTMLButtonElement} */ (h("button", { type: "button", onclick: () => post("/api/stop", {}) }, "stop"));
  /** @type {any[]} */
  let events = [];
  let ticking = 0;
  const stream = new EventSource("/api/live");
  const draw = async () => {
    clearInterval(ticking);
    stop.disabled = !events.length || events.some((e) => e.done);
    if (!events.length) {
      box.replaceChildren(h("p.note", null, source().kind === "run" ? "Starting …" : "Nothing was recorded yet."));
      return;
    }
    const end = events.find((e) => e.done);
    box.replaceChildren(h("h2", null, events[0].job),
      end?.error ? h("p.error", null, end.error) : end ? h("p", null, "Done. ", end.made ? h("a", { href: `/?src=${end.made}` }, "show it") : "") : phases(events),
      ...figures(events));
    const bar = box.querySelector("progress");
    if (bar && !events.at(-1).window) ticking = setInterval(() => { bar.value = Math.min(bar.max, bar.value + 0.25); }, 250); // a profile reports no progress
  };
  stream.onmessage = async (m) => {
    if (!box.isConnected && events.length) return stream.close(); // another view is shown
    const e = JSON.parse(m.data);
    if (e.start) events = [];
    events.push(e);
    if (events.length > 20000) events.splice(0, 10000);
    if (e.done) await refresh().catch(() => false); // so that the link to the result leads there
    await draw();
    if (e.done && e.made && source().kind !== "service" && source().id !== id) go(`/?src=${e.made}`); // the recording that was shown in progress is finished
  };
  addEventListener("popstate", () => stream.close(), { once: true });
  draw();
  return [source().kind === "service" ? form(stop) : null, box].filter(Boolean);
}
