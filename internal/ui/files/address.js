// The address of the page contains its whole state. This module parses, builds and follows addresses, and requests their data.
import { h } from "./dom.js";

/** @typedef {{id: string, name: string, kind: string}} Source */

/** @type {Source[]} */
let sources = [];

/** State is what is in the address. */
export function state() {
  return new URLSearchParams(location.search);
}

/** Views of profiles, between which these parameters stay: which part of a source, which window of a trace, and what is subtracted. */
const profileViews = ["flame", "graph", "top", "source", "peek", "disasm"];
const kept = ["part", "from", "to", "granularity"];

/**
 * The address of a view: the source and its filters stay, unless given.
 * @param {string} view @param {Object<string, string|number|null>} [more] null removes a parameter
 */
export function address(view, more = {}) {
  const now = state();
  const q = new URLSearchParams();
  const stay = ["src", "sample_index", ...(profileViews.includes(view) ? kept : []), ...(profileViews.includes(view) || view === "diff" || view === "compare" ? ["base"] : [])];
  for (const k of stay) if (now.get(k)) q.set(k, now.get(k) || "");
  q.set("view", view);
  for (const [k, v] of Object.entries(more)) v === null || v === undefined || v === "" ? q.delete(k) : q.set(k, String(v));
  return "/?" + q;
}

/** Shows an address of this page: app.js draws it. @param {string} to */
export function go(to) {
  history.pushState(null, "", to);
  dispatchEvent(new Event("hone-address"));
}

/** @param {string} view @param {any} text @param {Object<string, any>} [more] */
export function link(view, text, more) {
  return h("a", { href: address(view, more) }, text);
}

/**
 * Requests a view's JSON from the server.
 * @param {string} name @param {Object<string, string|number>} [more] parameters in addition to those of the address
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
  return named(state().get("src") || "0") || sources[0] || { id: "", name: "", kind: "" };
}

/** The source that costs are compared with, if any. @returns {Source|undefined} */
export function base() {
  const wanted = state().get("base");
  return wanted ? named(wanted) : undefined;
}

/** @param {string} wanted an ID or a number in the list */
function named(wanted) {
  return sources.find((s) => s.id === wanted) || sources[Number(wanted)];
}

export function allSources() {
  return sources;
}

/** Asks for the list of sources; reports whether it changed. */
export async function refresh() {
  const r = await fetch("/api/sources");
  const now = await r.json();
  if (JSON.stringify(now) === JSON.stringify(sources)) return false;
  sources = now;
  return true;
}
