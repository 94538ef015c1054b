// Keys for everything that the pointer can do; ? lists them.
import { h } from "./dom.js";

/** @type {Array<[string, string]>} */
const listed = [
  ["g then a letter", "go to a view: f findings, l flame, g graph, t top, s source, p peek, d disassembly, c trace, r requests, o load, m compare, i diff, h history, e recording"],
  ["j, k", "next, previous card or row"],
  ["Enter", "open the marked card or row"],
  ["/", "search in the table, or the first filter"],
  ["n", "next source; N: previous source"],
  ["x", "remove all filters"],
  ["+  −  0", "trace: zoom in, out, whole"],
  ["←  →", "trace: earlier, later"],
  ["[  ]", "trace: select, and widen the selection"],
  ["w c r y", "trace: flame graph of waiting, CPU, ready or system calls in the selection or window"],
  ["l", "flame, graph: the source of the selected function; ? in a flame graph lists its other keys"],
  ["Tab, Enter", "graph: next box; its callers and callees. Arrows move, + and − zoom, 0 shows all"],
  ["Esc", "trace: clear the selection; close this list"],
  ["?", "this list"],
];

const jumps = /** @type {Object<string, string>} */ ({ f: "findings", l: "flame", g: "graph", t: "top", s: "source", p: "peek", d: "disasm", c: "trace", r: "requests", o: "load", m: "compare", i: "diff", h: "history", e: "recording" });

/** @param {{jump: (view: string) => void, next: (by: number) => void, reset: () => void}} act */
export function listen(act) {
  let pending = false;
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { id: "keys", "aria-label": "keys" }, h("h2", null, "Keys"),
    h("dl", null, listed.map(([k, what]) => [h("dt", null, h("kbd", null, k)), h("dd", null, what)])), h("form", { method: "dialog" }, h("button", null, "close"))));
  document.body.append(dialog);
  document.getElementById("help")?.addEventListener("click", () => dialog.showModal());
  addEventListener("keydown", (e) => {
    const t = e.target instanceof Element ? e.target : null;
    if (e.ctrlKey || e.metaKey || e.altKey || t?.closest("input, select, textarea, dialog[open]")) return;
    if (pending) {
      pending = false;
      if (jumps[e.key]) {
        e.preventDefault();
        act.jump(jumps[e.key]);
      }
      return;
    }
    const canvas = document.querySelector("canvas[data-keys]");
    if (canvas && !canvas.dispatchEvent(new CustomEvent("hone-key", { detail: e.key, cancelable: true }))) return e.preventDefault();
    const keys = /** @type {Object<string, () => void>} */ ({
      "?": () => dialog.showModal(), g: () => { pending = true; }, j: () => mark(1), k: () => mark(-1), n: () => act.next(1), N: () => act.next(-1), x: act.reset,
      "/": () => /** @type {HTMLElement|null} */ (document.querySelector("main input[type=search]") ?? document.querySelector("#filters:not([hidden]) input"))?.focus(),
    });
    if (!keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
}

/** Moves the focus to the next link of a row or card. @param {number} by */
function mark(by) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("main section.card, main tbody tr")]).map((r) => /** @type {HTMLElement|null} */ (r.querySelector("a"))).filter((a) => a !== null);
  const now = all.findIndex((a) => a === document.activeElement);
  all[Math.max(0, Math.min(all.length - 1, now + by))]?.focus();
}
