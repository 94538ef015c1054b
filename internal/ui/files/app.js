// The page: what its address says is what it shows.
import { h } from "./dom.js";
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
  for (const k of ["src", "sample_index"]) if (now.get(k)) q.set(k, now.get(k) || "");
  q.set("view", view);
  for (const [k, v] of Object.entries(more)) if (v !== null && v !== undefined && v !== "") q.set(k, String(v));
  return "/?" + q;
}

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
  nav.replaceChildren(...fit.map(([n, v]) => h("a", { href: address(n), "aria-current": n === name ? "page" : null }, v.title)));
  document.title = view ? `${view.title} · ${source().name} · hone` : "hone";
  filters.hidden = !view?.filters;
  if (view?.filters) fill(q);
  if (!view) {
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
  }
}

/** @param {URLSearchParams} q */
function fill(q) {
  const control = (/** @type {string} */ name) => /** @type {HTMLInputElement | HTMLSelectElement} */ (filters.elements.namedItem(name));
  const menu = control("sample_index");
  const values = source().kind === "recording"
    ? ["cpu", "alloc_space", "alloc_objects", "inuse_space", "inuse_objects", "delay", "contentions"]
    : ["", "cpu", "alloc_space", "alloc_objects", "inuse_space", "inuse_objects", "delay", "contentions"];
  menu.replaceChildren(...values.map((v) => h("option", { value: v, selected: v === (q.get("sample_index") || values[0]) }, v || "the profile's own")));
  for (const name of ["focus", "ignore", "hide", "show_from"]) control(name).value = q.get(name) || "";
  control("granularity").value = q.get("granularity") || "";
}

filters.addEventListener("submit", (e) => {
  e.preventDefault();
  const q = state();
  for (const [k, v] of new FormData(filters)) v ? q.set(k, String(v)) : q.delete(k);
  go("/?" + q);
});
document.getElementById("reset")?.addEventListener("click", () => go(address(state().get("view") || "")));
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
