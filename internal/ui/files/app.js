// The page: what its address says is what it shows.
import { h } from "./dom.js";
import { listen } from "./keys.js";
import { views } from "./views.js";

/** @typedef {{id: string, name: string, kind: string}} Source */

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const nav = /** @type {HTMLElement} */ (document.getElementById("views"));
const select = /** @type {HTMLSelectElement} */ (document.getElementById("source"));
const filters = /** @type {HTMLFormElement} */ (document.getElementById("filters"));
/** @type {Source[]} */
let sources = [];
let drawing = 0;

/** State is what stands in the address. */
export function state() {
  return new URLSearchParams(location.search);
}

/**
 * The address of a view: the source and its filters stay, unless given.
 * @param {string} view @param {Object<string, string|number|null>} [more] null takes a parameter out
 */
export function address(view, more = {}) {
  const now = state();
  const q = new URLSearchParams();
  for (const k of ["src", "sample_index", ...(profileViews.includes(view) ? kept : [])]) if (now.get(k)) q.set(k, now.get(k) || "");
  q.set("view", view);
  for (const [k, v] of Object.entries(more)) if (v !== null && v !== undefined && v !== "") q.set(k, String(v));
  return "/?" + q;
}

/** Views of profiles, between which these parameters stay: which part of a source, and which window of a trace. */
const profileViews = ["flame", "graph", "top", "source", "peek", "disasm"];
const kept = ["part", "from", "to", "granularity"];

/** @param {string} to an address of this page */
export function go(to) {
  history.pushState(null, "", to);
  draw();
}

/** @param {string} view @param {any} text @param {Object<string, any>} [more] */
export function link(view, text, more) {
  return h("a", { href: address(view, more) }, text);
}

/**
 * Asks the server for a view's JSON.
 * @param {string} name @param {Object<string, string|number>} [more] parameters beside those of the address
 */
export async function ask(name, more = {}) {
  const q = state();
  q.delete("view");
  q.set("src", source().id);
  for (const [k, v] of Object.entries(more)) q.set(k, String(v));
  const r = await fetch(`/api/${name}?${q}`);
  if (!r.ok) throw new Error((await r.text()).trim());
  return r.json();
}

/** The source that the address names, by its ID or its number in the list; else the first. @returns {Source} */
export function source() {
  const wanted = state().get("src") || "0";
  return sources.find((s) => s.id === wanted) || sources[Number(wanted)] || sources[0] || { id: "", name: "", kind: "" };
}

export function allSources() {
  return sources;
}

function fitting() {
  const kind = source().kind;
  return Object.entries(views).filter(([, v]) => v.kinds.includes(kind) && (!v.pair || sources.length > 1));
}

async function draw() {
  const turn = ++drawing;
  const q = state();
  const fit = fitting();
  const wanted = q.get("view") || "";
  const name = fit.some(([n]) => n === wanted) ? wanted : fit[0]?.[0] || "";
  const view = views[name];
  select.replaceChildren(...sources.map((s) => h("option", { value: s.id, selected: s.id === source().id }, s.name)));
  nav.replaceChildren(...fit.filter(([, v]) => !v.hidden).map(([n, v]) => h("a", { href: address(n), "aria-current": n === name ? "page" : null }, v.title)));
  document.body.dataset.view = name;
  document.body.dataset.state = "drawing"; // for tests
  document.title = view ? `${view.title} · ${source().name} · hone` : "hone";
  filters.hidden = !view?.filters;
  if (view?.filters) fill(q);
  if (!view) {
    document.body.dataset.state = "drawn";
    main.replaceChildren(h("p.note", null, "Nothing to look at yet. Record something: hone run ./cmd/server -load URL"));
    return;
  }
  const wait = setTimeout(() => { if (turn === drawing) main.replaceChildren(h("p.note", null, "working …")); }, 150);
  try {
    const content = await view.draw();
    if (turn === drawing) main.replaceChildren(...[content].flat());
  } catch (e) {
    if (turn === drawing) main.replaceChildren(h("p.error", null, e instanceof Error ? e.message : String(e)));
  } finally {
    clearTimeout(wait);
    if (turn === drawing) document.body.dataset.state = "drawn";
  }
}

/** What there is to see of a source: the part of a recording or trace, and the value. @type {Array<[string, string]>} */
const ofRecording = [["|cpu", "CPU"], ["|alloc_space", "allocated bytes"], ["|alloc_objects", "allocated objects"], ["|inuse_space", "bytes in use"], ["|inuse_objects", "objects in use"], ["|delay", "lock delay"], ["|contentions", "contentions"],
  ["trace:blocking|", "trace: waiting"], ["trace:cpu|", "trace: CPU samples"], ["trace:sched|", "trace: ready, not running"], ["trace:syscalls|", "trace: system calls"]];
/** @type {Array<[string, string]>} */
const ofTrace = [["blocking|", "waiting"], ["cpu|", "CPU samples"], ["sched|", "ready, not running"], ["syscalls|", "system calls"], ["goroutines|", "all time of goroutines"]];
/** @type {Array<[string, string]>} */
const ofProfile = [["|", "the profile's own"], ["|cpu", "cpu"], ["|samples", "samples"], ["|alloc_space", "alloc_space"], ["|alloc_objects", "alloc_objects"], ["|inuse_space", "inuse_space"], ["|inuse_objects", "inuse_objects"], ["|delay", "delay"], ["|contentions", "contentions"]];

const texts = ["focus", "ignore", "hide", "show", "show_from", "tagfocus", "tagignore"];

/** @param {URLSearchParams} q */
function fill(q) {
  const control = (/** @type {string} */ name) => /** @type {HTMLInputElement | HTMLSelectElement} */ (filters.elements.namedItem(name));
  const kind = source().kind, values = kind === "recording" ? ofRecording : kind === "trace" ? ofTrace : ofProfile;
  const now = `${q.get("part") || ""}|${q.get("sample_index") || ""}`;
  const at = values.some(([v]) => v === now) ? now : values[0][0];
  control("value").replaceChildren(...values.map(([v, name]) => h("option", { value: v, selected: v === at }, name)));
  for (const name of texts) control(name).value = q.get(name) || "";
  control("granularity").value = q.get("granularity") || "";
  if (["hide", "show", "show_from", "tagfocus", "tagignore"].some((n) => q.get(n))) document.getElementById("more")?.setAttribute("open", "");
  const span = /** @type {HTMLElement} */ (document.getElementById("window"));
  span.hidden = !q.get("from");
  const ms = (/** @type {string} */ k) => (Number((q.get(k) || "0").replace("ns", "")) / 1e6).toFixed(3);
  span.replaceChildren(`only ${ms("from")} to ${ms("to")} ms of the trace `, link("trace", "show it", { from: q.get("from"), to: q.get("to") }));
  const menu = /** @type {HTMLSelectElement} */ (document.getElementById("saved"));
  menu.replaceChildren(h("option", { value: "" }, "choose"), ...Object.keys(saved()).map((n) => h("option", { value: n }, n)));
}

/** Named filters, in this browser. @returns {Object<string, string>} */
function saved() {
  try {
    return JSON.parse(localStorage.getItem("hone-filters") || "{}");
  } catch {
    return {};
  }
}

/** The filters of the form on top of an address. */
function filtered() {
  const q = state(), data = new FormData(filters);
  const [part, value] = String(data.get("value")).split("|");
  for (const [k, v] of [["part", part], ["sample_index", value], ["granularity", String(data.get("granularity") || "")], ...texts.map((n) => [n, String(data.get(n) || "")])]) v ? q.set(k, v) : q.delete(k);
  return q;
}

filters.addEventListener("submit", (e) => {
  e.preventDefault();
  go("/?" + filtered());
});
for (const name of ["value", "granularity"]) /** @type {HTMLElement} */ (filters.elements.namedItem(name)).addEventListener("change", () => go("/?" + filtered()));
const reset = () => {
  const q = state();
  for (const k of [...texts, "part", "sample_index", "granularity", "from", "to"]) q.delete(k);
  go("/?" + q);
};
document.getElementById("reset")?.addEventListener("click", reset);
document.getElementById("save")?.addEventListener("click", () => {
  const name = prompt("Save these filters as");
  if (!name) return;
  const q = new URLSearchParams();
  for (const [k, v] of filtered()) if (texts.includes(k) || k === "granularity") q.set(k, v);
  localStorage.setItem("hone-filters", JSON.stringify({ ...saved(), [name]: q.toString() }));
  fill(state());
});
document.getElementById("saved")?.addEventListener("change", (e) => {
  const q = state();
  for (const k of texts) q.delete(k);
  for (const [k, v] of new URLSearchParams(saved()[/** @type {HTMLSelectElement} */ (e.target).value] || "")) q.set(k, v);
  go("/?" + q);
});
document.getElementById("forget")?.addEventListener("click", () => {
  const name = prompt("Delete which saved filter? " + Object.keys(saved()).join(", "));
  const { [name || ""]: _, ...rest } = saved();
  localStorage.setItem("hone-filters", JSON.stringify(rest));
  fill(state());
});
listen({
  jump: (view) => { if (fitting().some(([n]) => n === view)) go(address(view)); },
  next: (by) => {
    const i = sources.findIndex((s) => s.id === source().id);
    const to = sources[(i + by + sources.length) % sources.length];
    if (to) go("/?" + new URLSearchParams({ src: to.id, view: state().get("view") || "" }));
  },
  reset,
});
select.addEventListener("change", () => {
  const q = new URLSearchParams({ src: select.value });
  q.set("view", state().get("view") || "");
  go("/?" + q);
});
addEventListener("popstate", draw);
document.addEventListener("click", (e) => {
  const a = e.target instanceof Element ? e.target.closest("a") : null;
  const to = a?.getAttribute("href");
  if (!to?.startsWith("/?") || e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return;
  e.preventDefault();
  go(to);
});

/** Asks for the list of sources; reports whether it changed. */
export async function refresh() {
  const r = await fetch("/api/sources");
  const now = await r.json();
  if (JSON.stringify(now) === JSON.stringify(sources)) return false;
  sources = now;
  return true;
}

await refresh();
if (state().get("token")) history.replaceState(null, "", "/");
draw();
setInterval(async () => { if (await refresh().catch(() => false)) draw(); }, 5000);
