// The page shows what its address says.
import { address, allSources, base, go, link, refresh, source, state } from "./address.js";
import { h } from "./dom.js";
import { duration } from "./format.js";
import { listen } from "./keys.js";
import { views } from "./views.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const nav = /** @type {HTMLElement} */ (document.getElementById("views"));
const select = /** @type {HTMLSelectElement} */ (document.getElementById("source"));
const filters = /** @type {HTMLFormElement} */ (document.getElementById("filters"));
let drawing = 0;

function fitting() {
  const kind = source().kind;
  return Object.entries(views).filter(([, v]) => v.kinds.includes(kind) && (!v.pair || allSources().length > 1));
}

async function draw() {
  const turn = ++drawing;
  const q = state();
  const fit = fitting();
  const wanted = q.get("view") || "";
  const name = fit.some(([n]) => n === wanted) ? wanted : fit[0]?.[0] || "";
  const view = views[name];
  select.replaceChildren(...allSources().map((s) => h("option", { value: s.id, selected: s.id === source().id }, s.name)));
  nav.replaceChildren(...fit.filter(([, v]) => !v.under).map(([n, v]) => h("a", { href: address(n), "aria-current": n === name || n === view?.under ? "page" : null }, v.title)));
  document.body.dataset.view = name;
  document.body.dataset.state = "drawing"; // for tests
  if (select.parentElement) select.parentElement.dataset.title = `${view?.title || ""} · ${source().name}`; // on paper
  document.title = view ? `${view.title} · ${source().name} · hone` : "hone";
  filters.hidden = !view?.filters;
  if (view?.filters) fill(q);
  if (!view) {
    document.body.dataset.state = "drawn";
    main.replaceChildren(h("p.note", null, "There is nothing to show yet. Record a program: hone run ./cmd/server -load URL"));
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
const ofProfile = [["|", "the default value"], ["|cpu", "cpu"], ["|samples", "samples"], ["|alloc_space", "alloc_space"], ["|alloc_objects", "alloc_objects"], ["|inuse_space", "inuse_space"], ["|inuse_objects", "inuse_objects"], ["|delay", "delay"], ["|contentions", "contentions"]];

const texts = ["focus", "ignore", "hide", "show", "show_from", "tagfocus", "tagignore"];

/** @param {URLSearchParams} q */
function fill(q) {
  const control = (/** @type {string} */ name) => /** @type {HTMLInputElement | HTMLSelectElement} */ (filters.elements.namedItem(name));
  const kind = source().kind, values = kind === "recording" ? ofRecording : kind === "trace" ? ofTrace : ofProfile;
  const now = `${q.get("part") || ""}|${q.get("sample_index") || ""}`;
  const at = values.some(([v]) => v === now) ? now : values[0][0];
  control("value").replaceChildren(...values.map(([v, name]) => h("option", { value: v, selected: v === at }, name)));
  const others = allSources().filter((s) => s.id !== source().id && (s.kind === "recording" || s.kind === "profile"));
  const against = /** @type {HTMLElement} */ (document.getElementById("against"));
  against.hidden = !others.length || kind === "trace" || q.get("view") === "diff" || q.get("view") === "disasm";
  control("base").replaceChildren(h("option", { value: "" }, "nothing"), ...others.map((s) => h("option", { value: s.id, selected: s.id === base()?.id }, s.name)));
  for (const name of texts) control(name).value = q.get(name) || "";
  control("granularity").value = q.get("granularity") || "";
  if (["hide", "show", "show_from", "tagfocus", "tagignore"].some((n) => q.get(n))) document.getElementById("more")?.setAttribute("open", "");
  const span = /** @type {HTMLElement} */ (document.getElementById("window"));
  span.hidden = !q.get("from") && !q.get("to");
  const ms = (/** @type {string} */ k) => (duration(q.get(k) || "0") / 1e6).toFixed(3) + " ms";
  span.replaceChildren(`only ${ms("from")} to ${q.get("to") ? ms("to") : "the end"} of the trace `, link("trace", "show it", { from: q.get("from"), to: q.get("to") }));
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
  for (const [k, v] of [["part", part], ["sample_index", value], ["granularity", String(data.get("granularity") || "")], ["base", String(data.get("base") || "")], ...texts.map((n) => [n, String(data.get(n) || "")])]) v ? q.set(k, v) : q.delete(k);
  return q;
}

filters.addEventListener("submit", (e) => {
  e.preventDefault();
  go("/?" + filtered());
});
for (const name of ["value", "granularity", "base"]) /** @type {HTMLElement} */ (filters.elements.namedItem(name)).addEventListener("change", () => go("/?" + filtered()));
const reset = () => {
  const q = state();
  for (const k of [...texts, "part", "sample_index", "granularity", "from", "to", "inverted", "sandwich", ...(q.get("view") === "diff" ? [] : ["base"])]) q.delete(k);
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
    const sources = allSources(), i = sources.findIndex((s) => s.id === source().id);
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
addEventListener("hone-address", draw);
// The pages in frames (flame graph, call graph) send messages to this page.
addEventListener("message", (e) => {
  const frame = /** @type {HTMLIFrameElement|null} */ (main.querySelector("iframe"));
  if (!frame || e.source !== frame.contentWindow) return;
  const { hone, fn, key } = /** @type {{hone?: unknown, fn?: unknown, key?: unknown}} */ (e.data || {});
  if (hone === "key" && typeof key === "string" && key.length === 1) dispatchEvent(new KeyboardEvent("keydown", { key }));
  if (hone === "source" && typeof fn === "string") go(address("source", { fn }));
  if (hone === "callers") go(address("flame", { ...Object.fromEntries(state()), sandwich: null, inverted: 1 }));
  if (hone === "callees") go(address("flame", { ...Object.fromEntries(state()), sandwich: null, inverted: null }));
  if (hone === "sandwich" && typeof fn === "string") go(address("flame", { ...Object.fromEntries(state()), sandwich: fn, inverted: null }));
});
document.addEventListener("click", (e) => {
  const a = e.target instanceof Element ? e.target.closest("a") : null;
  const to = a?.getAttribute("href");
  if (!to?.startsWith("/?") || e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return;
  e.preventDefault();
  go(to);
});

await refresh();
if (state().get("token")) { // it is in the cookie now, and must not get into shared addresses
  const q = state();
  q.delete("token");
  history.replaceState(null, "", "/?" + q);
}
draw();
setInterval(async () => { if (await refresh().catch(() => false)) draw(); }, 5000);
