import { Tree, sandwich, search, fullName, shortName, formatValue, formatShare, sign } from "./tree.js";
import { paint, rowHeight } from "./paint.js";

// The page, and its reactions to keys and pointer.

/** @typedef {"callees" | "callers" | "sandwich"} View */
/** @typedef {{view: View, fn: number, box: number, from: number, to: number, label: string}} Step */

/** @param {string} id @returns {any} */
const element = (id) => document.getElementById(id);
/** @type {import("./tree.js").Data} */
const data = JSON.parse(element("data").textContent);
/** The graphs of the page: both, or only one. */
const whole = { callees: data.callees ? new Tree(data.callees) : null, callers: data.callers ? new Tree(data.callers) : null };
const first = /** @type {Tree} */ (whole.callees || whole.callers);
const main = element("graph");
const canvas = element("canvas");

/** Steps that led here; the last is what is shown. @type {Step[]} */
let trail = [{ view: whole.callees ? "callees" : "callers", fn: -1, box: 0, from: 0, to: first.width[0], label: whole.callees ? "all" : "inverted" }];
/** @type {import("./paint.js").Pane[]} */
let panes = [];
/** @type {{pane: number, box: number}} */
let selected = { pane: 0, box: 0 };
/** @type {boolean[] | undefined} */
let wanted;
/** Verdicts of hone diff by function, where the page that holds this one sent them. @type {Map<number, string>} */
const verdicts = new Map();

/** Tells the page of hone ui that holds this one in a frame. @param {{hone: string, [more: string]: string}} message */
const tell = (message) => parent.postMessage(message, "*");
const framed = parent !== window;

const now = () => trail[trail.length - 1];
const rows = () => panes[0].row + panes[0].tree.rows.length;

/** Shows the last step of the trail. @param {{keep?: boolean}} [how] keep the selection and the scroll position */
function show(how = {}) {
  const step = now();
  if (step.view === "sandwich" && whole.callees) {
    const both = sandwich(whole.callees, step.fn);
    const row = both.callers.rows.length - 1;
    panes = [{ tree: both.callees, row, dir: 1 }, { tree: both.callers, row, dir: -1 }];
  } else panes = [{ tree: step.view === "callers" && whole.callers || first, row: 0, dir: 1 }];
  if (!how.keep) {
    selected = { pane: 0, box: step.box };
    main.scrollTop = step.view === "sandwich" ? Math.max(0, panes[0].row * rowHeight - main.clientHeight / 2) : 0;
  }
  for (const view of ["callees", "callers", "sandwich"]) element(view).setAttribute("aria-pressed", String(view === step.view));
  showTrail();
  showGaps();
  match();
  remember();
}

/** Says how much is not in the picture. */
function showGaps() {
  const { view, fn } = now();
  let text = "";
  if (!first.width[0]) text = `no sample has any ${data.type}; other sample types may: hone flame -sample_index`;
  else if (view !== "sandwich") {
    const gaps = panes[0].tree.dropped;
    if (gaps) text = `${formatShare(gaps, data.total)} in boxes too narrow to show; hone flame -focus shows more`;
  } else if (!first.signed) {
    const shown = panes[0].tree.width[0];
    const all = data.functions[fn][3];
    if (shown < all) text = `${formatShare(shown, all)} of the function; the rest is in boxes too narrow to show`;
  }
  element("note").textContent = text;
}

/** The width in pixels between the margins of A4 and of Letter, less those of the graph. */
const paper = 670;

function draw(printed = false) {
  const { from, to } = now();
  element("room").style.height = rows() * rowHeight + 8 + "px";
  const width = printed ? paper : main.clientWidth - 24;
  const height = Math.min(printed ? Infinity : main.clientHeight, rows() * rowHeight + 8);
  const dark = !printed && document.documentElement.dataset.theme === "dark";
  const doubtful = new Set([...verdicts].filter(([, verdict]) => verdict !== "better" && verdict !== "worse").map(([fn]) => fn));
  paint(canvas, data, { panes, rows: rows(), from, to, selected, wanted, doubtful, dark, scroll: main.scrollTop }, width, height);
  const { tree } = panes[selected.pane];
  element("status").textContent = `${sign(tree, selected.box)}${fullName(data, tree.fn[selected.box])}: ${summary(tree, selected.box)}`;
}

/** @param {Tree} tree @param {number} box */
function summary(tree, box) {
  const value = tree.value[box];
  const self = panes[1]?.tree === tree ? "" : `, self ${formatValue(data, tree.self[box])}`;
  return `${formatValue(data, value)}, ${formatShare(value, data.total)} of all${self}${tree.inlined[box] ? ", inlined" : ""}`;
}

function showTrail() {
  const nav = element("trail");
  nav.replaceChildren();
  trail.forEach((step, i) => {
    const here = i === trail.length - 1;
    const crumb = document.createElement(here ? "span" : "button");
    crumb.textContent = step.label;
    if (here) crumb.setAttribute("aria-current", "step");
    else crumb.addEventListener("click", () => { trail.length = i + 1; show(); });
    nav.append(...(i ? ["›"] : []), crumb);
  });
  nav.scrollLeft = nav.scrollWidth;
}

/** @param {Partial<Step> & {label: string}} step what differs from now */
function go(step) {
  trail.push({ ...now(), ...step });
  if (trail.length > 60) trail.splice(1, 1);
  show();
}

function back() {
  if (trail.length === 1) return;
  trail.pop();
  show();
}

/** Zooms to a box. @param {number} pane @param {number} box */
function focus(pane, box) {
  const { tree } = panes[pane];
  const [from, to] = [tree.x[box], tree.x[box] + tree.width[box]];
  selected = { pane, box };
  if (from === now().from && to === now().to) return draw();
  trail.push({ ...now(), box: pane === 0 ? box : 0, from, to, label: shortName(data, tree.fn[box]) });
  show({ keep: true });
}

/** @param {View} view */
function change(view) {
  const { tree } = panes[selected.pane];
  const fn = tree.fn[selected.box];
  if (view === "sandwich") {
    if (fn < 0) return say("Select a function first, then press s.");
    if (!whole.callees) return missing("sandwich", fullName(data, fn));
    const width = sandwich(whole.callees, fn).callees.width[0];
    if (!width) return say("All boxes of this function are too narrow to show.");
    return go({ view, fn, box: 0, from: 0, to: width, label: "sandwich of " + shortName(data, fn) });
  }
  const all = whole[view];
  if (!all) return missing(view);
  if (view !== now().view) go({ view, box: 0, from: 0, to: all.width[0], label: view === "callers" ? "inverted" : "all" });
}

/** Asks the page around this one for a view that needs the graph that is not here. @param {View} view @param {string} [fn] */
const missing = (view, fn = "") => framed ? tell({ hone: view, fn }) : say("This page contains only one of the graphs; hone flame -direction both writes both.");

/** @param {string} text */
const say = (text) => (element("status").textContent = text);

// Search

function match() {
  const field = element("search");
  field.setCustomValidity("");
  wanted = undefined;
  let text = "";
  if (field.value) {
    try {
      wanted = search(data, field.value);
      const width = panes[0].tree.matched(wanted);
      const upper = panes[1] ? panes[1].tree.matched(wanted) : 0;
      text = formatShare(Math.max(width, upper), data.total) + " matched";
    } catch {
      field.setCustomValidity("not a regular expression");
      text = "not a regexp";
    }
  }
  element("matched").textContent = text;
  draw();
}

/** Selects the next box that matches, in the order of a walk. */
function nextMatch() {
  const { tree } = panes[0];
  for (let i = 1; i <= tree.fn.length; i++) {
    const box = (selected.box + i) % tree.fn.length;
    if (wanted?.[tree.fn[box]]) return select(0, box);
  }
}

// Selection

/** @param {number} pane @param {number} box @returns {void} */
function select(pane, box) {
  selected = { pane, box };
  const { tree, row, dir } = panes[pane];
  const step = now();
  if (tree.x[box] >= step.to || tree.x[box] + tree.width[box] <= step.from) {
    // Not visible: zoom out to the nearest box above that contains both.
    let up = box;
    while (up > 0 && (tree.x[up] > step.from || tree.x[up] + tree.width[up] < step.to)) up = tree.parent[up];
    focus(pane, up);
    return select(pane, box);
  }
  const top = (row + dir * tree.depth[box]) * rowHeight;
  if (top < main.scrollTop) main.scrollTop = top;
  if (top + rowHeight > main.scrollTop + main.clientHeight) main.scrollTop = top + rowHeight - main.clientHeight;
  draw();
}

/** @param {"up" | "down" | "left" | "right"} where */
function move(where) {
  const { pane, box } = selected;
  const { tree, dir } = panes[pane];
  if (where === "left" || where === "right") {
    const row = tree.rows[tree.depth[box]];
    const next = row[row.indexOf(box) + (where === "right" ? 1 : -1)];
    return next === undefined ? undefined : select(pane, next);
  }
  if ((where === "down") === (dir === 1)) {
    const { from, to } = now();
    const below = tree.children(box).filter((c) => tree.x[c] < to && tree.x[c] + tree.width[c] > from);
    return below.length ? select(pane, below[0]) : undefined;
  }
  if (box > 0) return select(pane, tree.parent[box]);
  if (panes.length > 1 && panes[1 - pane].tree.children(0).length) return select(1 - pane, panes[1 - pane].tree.children(0)[0]);
}

// Zoom

/** @param {number} factor below 1 shows less @param {number} at what stays in place, from 0 to 1 */
function zoom(factor, at) {
  const step = now();
  const width = panes[0].tree.width[0];
  const span = Math.min(width, Math.max((step.to - step.from) * factor, width / 1e6));
  const from = Math.min(Math.max(0, step.from + (step.to - step.from - span) * at), width - span);
  range(from, from + span);
}

/** Zooming by hand is one step, however often the wheel turns. @param {number} from @param {number} to */
function range(from, to) {
  if (now().label !== "zoomed") trail.push({ ...now(), label: "zoomed" });
  Object.assign(now(), { from, to });
  showTrail();
  draw();
}

// Pointer

/** @param {MouseEvent} e @returns {{pane: number, box: number} | undefined} */
function under(e) {
  const area = canvas.getBoundingClientRect();
  const { from, to } = now();
  const x = from + ((e.clientX - area.left) / area.width) * (to - from);
  const row = Math.floor((e.clientY - area.top + main.scrollTop) / rowHeight);
  for (const [pane, p] of panes.entries()) {
    const depth = (row - p.row) * p.dir;
    const box = depth < 0 ? -1 : p.tree.at(depth, x);
    if (box >= 0) return { pane, box };
  }
}

/** @type {{x: number, from: number, to: number, moved: boolean} | undefined} */
let drag;
canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
  if (e.button === 0) drag = { x: e.clientX, from: now().from, to: now().to, moved: false };
});
window.addEventListener("pointermove", (e) => {
  if (!drag) return;
  const shift = ((drag.x - e.clientX) / canvas.clientWidth) * (drag.to - drag.from);
  drag.moved ||= Math.abs(drag.x - e.clientX) > 4;
  const from = Math.min(Math.max(0, drag.from + shift), panes[0].tree.width[0] - (drag.to - drag.from));
  if (drag.moved && from !== now().from) range(from, from + drag.to - drag.from);
});
window.addEventListener("pointerup", (e) => {
  const click = drag && !drag.moved && e.target === canvas;
  drag = undefined;
  const hit = click && under(e);
  if (hit) focus(hit.pane, hit.box);
});
canvas.addEventListener("mousemove", (/** @type {MouseEvent} */ e) => tip(e, drag?.moved ? undefined : under(e)));
canvas.addEventListener("mouseleave", () => (element("tip").hidden = true));
main.addEventListener("wheel", (/** @type {WheelEvent} */ e) => {
  if (!e.ctrlKey && !e.metaKey) return;
  e.preventDefault();
  const area = canvas.getBoundingClientRect();
  zoom(Math.exp(e.deltaY / 200), (e.clientX - area.left) / area.width);
}, { passive: false });

/** @param {MouseEvent} e @param {{pane: number, box: number} | undefined} hit */
function tip(e, hit) {
  const box = element("tip");
  box.hidden = !hit;
  canvas.style.cursor = hit ? "pointer" : "default";
  if (hit) {
    fillTip(box, panes[hit.pane].tree, hit.box, hit.pane === 0);
    const left = Math.min(e.clientX + 14, innerWidth - box.offsetWidth - 8);
    const below = e.clientY + 18;
    box.style.left = Math.max(8, left) + "px";
    box.style.top = (below + box.offsetHeight > innerHeight ? e.clientY - box.offsetHeight - 10 : below) + "px";
  }
}

/** @param {HTMLElement} box @param {Tree} tree @param {number} i @param {boolean} withSelf */
function fillTip(box, tree, i, withSelf) {
  const name = document.createElement("b");
  const fn = tree.fn[i];
  name.textContent = fullName(data, fn);
  const table = document.createElement("table");
  /** @param {string} what @param {number} v */
  const line = (what, v) => {
    const row = table.insertRow();
    row.insertCell().textContent = what;
    row.insertCell().textContent = formatValue(data, v);
    row.insertCell().textContent = formatShare(v, data.total);
  };
  line("here, cum", tree.value[i]);
  if (withSelf) line("here, flat", tree.self[i]);
  if (fn >= 0) {
    line("everywhere, cum", data.functions[fn][3]);
    line("everywhere, flat", data.functions[fn][2]);
  }
  box.replaceChildren(name, table);
  if (tree.inlined[i]) {
    const mark = document.createElement("i");
    mark.textContent = "inlined into its caller";
    box.append(mark);
  }
  const verdict = verdicts.get(fn);
  if (verdict) {
    const mark = document.createElement("p");
    mark.textContent = "hone diff: " + (/** @type {Record<string, string>} */ ({ better: "costs less", worse: "costs more", same: "the same", unknown: "unknown, the difference may be chance" })[verdict] ?? verdict);
    box.append(mark);
  }
}

// Keys

/** @type {Record<string, () => unknown>} */
const keys = {
  ArrowUp: () => move("up"), ArrowDown: () => move("down"), ArrowLeft: () => move("left"), ArrowRight: () => move("right"),
  Enter: () => focus(selected.pane, selected.box),
  Escape: () => (element("search").value ? clearSearch() : back()),
  Backspace: back,
  "/": () => element("search").select(),
  "?": () => element("keys").showModal(),
  i: () => change(now().view === "callers" ? "callees" : "callers"),
  s: () => change("sandwich"),
  t: toggleTheme,
  ...(framed ? { l: openSource } : {}),
  0: () => { trail.length = 1; show(); },
  "+": () => zoom(0.7, 0.5), "=": () => zoom(0.7, 0.5), "-": () => zoom(1 / 0.7, 0.5),
};

let jumping = false;

/** Asks the page around this one for the source of the selected function. */
function openSource() {
  const fn = panes[selected.pane].tree.fn[selected.box];
  if (fn < 0) return say("Select a function first, then press l.");
  tell({ hone: "source", fn: fullName(data, fn) });
}

window.addEventListener("message", (e) => {
  if (!framed || e.source !== parent || typeof e.data?.verdicts !== "object") return;
  for (let fn = 0; fn < data.functions.length; fn++) {
    const verdict = e.data.verdicts[fullName(data, fn)];
    if (typeof verdict === "string") verdicts.set(fn, verdict);
  }
  draw();
});

window.addEventListener("keydown", (e) => {
  const target = /** @type {HTMLElement} */ (e.target);
  if (e.ctrlKey || e.metaKey || e.altKey || element("keys").open || target.tagName === "INPUT") return;
  if (target.tagName === "BUTTON" && e.key === "Enter") return;
  const act = jumping ? undefined : keys[e.key];
  if (!act) {
    if (!framed || e.key.length > 1) return;
    jumping = e.key === "g" && !jumping; // the next key selects a view
    return tell({ hone: "key", key: e.key });
  }
  e.preventDefault();
  element("tip").hidden = true;
  act();
});

function clearSearch() {
  element("search").value = "";
  match();
  remember();
}

element("search").addEventListener("input", () => { match(); remember(); });
element("search").addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (e.key === "Enter") nextMatch();
  else if (e.key === "Escape") { clearSearch(); main.focus(); }
  else if (e.key === "ArrowDown") main.focus();
  else return;
  e.preventDefault();
});
for (const view of /** @type {View[]} */ (["callees", "callers", "sandwich"])) element(view).addEventListener("click", () => { change(view); main.focus(); });
element("source").hidden = element("outer").hidden = !framed;
element("source").addEventListener("click", () => { openSource(); main.focus(); });
element("legend").hidden = !first.signed;
element("help").addEventListener("click", () => element("keys").showModal());
element("theme").addEventListener("click", toggleTheme);

// Theme

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
/** @type {string | null} */
let chosenTheme = null;

function applyTheme() {
  document.documentElement.dataset.theme = chosenTheme ?? (prefersDark.matches ? "dark" : "light");
  if (panes.length) draw();
}

function toggleTheme() {
  chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  applyTheme();
  remember();
}
prefersDark.addEventListener("change", applyTheme);

// The address contains the page's state, so that it can be reloaded and bookmarked.

function remember() {
  const state = new URLSearchParams();
  const step = now();
  if (step.view !== trail[0].view) state.set("view", step.view);
  if (step.fn >= 0 && step.view === "sandwich") state.set("function", fullName(data, step.fn));
  if (step.box > 0) state.set("box", String(step.box));
  if (element("search").value) state.set("search", element("search").value);
  if (chosenTheme) state.set("theme", chosenTheme);
  try {
    history.replaceState(null, "", "#" + state);
  } catch {
    // A frame without an address of its own cannot have one.
  }
}

function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  const view = state.get("view");
  const fn = data.functions.findIndex((_, i) => fullName(data, i) === state.get("function"));
  const box = Number(state.get("box"));
  const theme = state.get("theme");
  chosenTheme = theme === "dark" || theme === "light" ? theme : null;
  element("search").value = state.get("search") ?? "";
  applyTheme();
  show();
  if (view === "callers") change("callers");
  if (view === "sandwich" && fn >= 0) {
    const at = first.topmost(fn)[0];
    if (at !== undefined) { selected = { pane: 0, box: at }; change("sandwich"); }
  }
  if (box > 0 && box < panes[0].tree.fn.length) focus(0, box);
}

function begin() {
  const title = element("title");
  const more = document.createElement("small");
  more.textContent = ` · ${data.type} · ${formatValue(data, data.total)}${data.duration ? " over " + data.duration : ""}`;
  title.append(/:\/\//.test(data.source) ? data.source : data.source.replace(/\S*[/\\]/g, ""), more);
  title.title = data.source;
  new ResizeObserver(() => draw()).observe(main);
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw());
  main.addEventListener("scroll", () => draw());
  recall();
  main.focus();
}

begin();
