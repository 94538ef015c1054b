// A trace over time: curves and lanes of a window, which wheel, keys and buttons zoom. Dragging selects an interval; its flame
// graph covers exactly that interval.
import { h, table } from "./dom.js";
import { address, ask, go, link, source, state } from "./address.js";
import { bytes, digits, nanoseconds, percent } from "./format.js";

const paper = "718px"; // between the margins of A4 and of Letter
const left = 190, right = 14, trackHeight = 46, laneHeight = 15, gap = 10;

/** Colours that people with any colour vision can tell apart (Okabe and Ito), by theme. */
function palette() {
  const css = getComputedStyle(document.documentElement);
  const v = (/** @type {string} */ n) => css.getPropertyValue(n).trim();
  return { ink: v("--ink"), faint: v("--faint"), line: v("--line"), back: v("--back"), card: v("--card"), running: v("--running"), runnable: v("--runnable"), syscall: v("--syscall"), waiting: v("--waiting"), gc: v("--gc"), stopped: v("--bad"), picked: v("--range") };
}

/** Which flame graphs there are of a window, by the trace's view. */
export const kinds = [["blocking", "waiting", "w"], ["cpu", "CPU samples", "c"], ["sched", "ready, not running", "r"], ["syscalls", "system calls", "y"]];

/** @param {string} view of hone's traces @param {number} from @param {number} to */
export function flameOf(view, from, to) {
  const part = source().kind === "recording" ? "trace:" + view : view;
  return address("flame", { part, from: `${Math.round(from)}ns`, to: `${Math.round(to)}ns`, sample_index: null });
}

/** A time since the trace's start, as precise as the window needs. @param {number} ns @param {number} width */
export function clock(ns, width) {
  const places = width > 1e10 ? 1 : width > 1e9 ? 2 : width > 1e8 ? 3 : width > 1e7 ? 4 : width > 1e6 ? 5 : width > 1e5 ? 6 : width > 1e4 ? 7 : 9;
  return (ns / 1e9).toFixed(places) + " s";
}

/** @typedef {{name: string, unit: (v: number) => string, most: number, layers: Array<{of: number[], colour: string, line?: boolean}>}} Track */

/** The curves of an overview, top to bottom. @param {any} o @param {ReturnType<typeof palette>} c @returns {Track[]} */
function tracks(o, c) {
  const top = (/** @type {number[]} */ ...v) => Math.max(1e-9, ...v);
  const count = (/** @type {number} */ v) => digits(v);
  /** @type {Track[]} */
  const all = [
    { name: "goroutines running", unit: count, most: Math.max(o.gomaxprocs || 1, ...o.running), layers: [{ of: o.running, colour: c.running }] },
    { name: "ready, not running", unit: count, most: top(...o.runnable), layers: [{ of: o.runnable, colour: c.runnable }] },
    { name: "in system calls", unit: count, most: top(...o.syscall), layers: [{ of: o.syscall, colour: c.syscall }] },
    { name: "blocked", unit: count, most: top(...o.waiting), layers: [{ of: o.waiting, colour: c.waiting }] },
  ];
  if (o.heap.some((/** @type {number} */ v) => v >= 0)) all.push({ name: "heap, and its goal", unit: bytes, most: top(...o.heap, ...o.goal), layers: [{ of: o.heap, colour: c.gc }, { of: o.goal, colour: c.faint, line: true }] });
  if (o.requests) all.push({ name: "requests per second", unit: count, most: top(...o.requests.per_second), layers: [{ of: o.requests.per_second, colour: c.running, line: true }] });
  return all;
}

/** @typedef {{name: string, cells?: number[], most?: number, spans?: any[], id?: number, kind: string}} Lane */

/** Rows below the curves: spans when there are any, else how busy. @param {any} o @returns {Lane[]} */
function lanes(o) {
  if (o.lanes) {
    const rows = (o.lanes.processors || []).map((/** @type {any} */ p) => ({ name: `processor ${p.id}`, spans: p.spans, kind: "processor", id: p.id }));
    const busy = (/** @type {any} */ g) => g.spans.reduce((/** @type {number} */ sum, /** @type {any} */ s) => sum + (s.state === "running" ? s.to - s.from : 0), 0);
    const gs = (o.lanes.goroutines || []).map((/** @type {any} */ g) => ({ g, busy: busy(g) })).sort((/** @type {any} */ a, /** @type {any} */ b) => b.busy - a.busy).slice(0, 120);
    return [...rows, ...gs.map((/** @type {any} */ x) => ({ name: `${x.g.id} ${short(x.g.name || "")}`, spans: x.g.spans, kind: "goroutine", id: x.g.id }))];
  }
  return [
    ...(o.processors || []).map((/** @type {number[]} */ cells, /** @type {number} */ i) => ({ name: `processor ${i}`, cells, most: 1, kind: "processor" })),
    ...(o.groups || []).slice(0, 24).map((/** @type {any} */ g) => ({ name: short(g.name), cells: g.running, most: Math.max(1e-9, ...g.running), kind: "group" })),
  ];
}

const short = (/** @type {string} */ name) => name.slice(name.lastIndexOf("/") + 1);

export async function trace() {
  const q = state();
  const o = await ask("trace-overview", { columns: 500 });
  const from = o.from_ns, to = o.to_ns, width = to - from;
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas.time", { tabindex: 0, role: "img", "aria-label": `trace from ${clock(from, width)} to ${clock(to, width)}; the tables below have the figures` }));
  const said = h("p.note", { role: "status" }, "Drag to select an interval. The wheel zooms, ? lists the keys.");
  /** @type {{from: number, to: number}|null} */
  let picked = null;
  const rows = lanes(o);

  const window = (/** @type {number} */ a, /** @type {number} */ b) => {
    const least = 100;
    if (b - a < least) b = a + least;
    a = Math.max(0, a);
    b = Math.min(o.length_ns, b);
    return a <= 0 && b >= o.length_ns ? address("trace") : address("trace", { from: `${Math.round(a)}ns`, to: `${Math.round(b)}ns` });
  };
  const zoom = (/** @type {number} */ by, /** @type {number} */ at = (from + to) / 2) => go(window(at - (at - from) * by, at + (to - at) * by));
  const pan = (/** @type {number} */ by) => {
    const d = Math.max(-from, Math.min(o.length_ns - to, by * width));
    if (d) go(window(from + d, to + d));
  };
  const chosen = () => picked || { from, to };
  const bar = h("div.tools", null);
  const tools = () => bar.replaceChildren(...[
    h("b", null, `${clock(from, width)} to ${clock(to, width)}`), h("span.faint", null, `${nanoseconds(width)} of ${nanoseconds(o.length_ns)}`),
    button("whole", "0", () => go(address("trace"))), button("−", "-", () => zoom(3), "zoom out"), button("+", "+", () => zoom(1 / 3), "zoom in"), button("◂", "←", () => pan(-0.4), "earlier"), button("▸", "→", () => pan(0.4), "later"),
    picked ? button(`zoom to ${nanoseconds(picked.to - picked.from)}`, "Enter", () => picked && go(window(picked.from, picked.to))) : null,
    h("span.group", null, h("span.faint", null, picked ? "flame graph of the selection:" : "flame graph of this window:"),
      kinds.map(([view, name]) => h("a.button", { href: flameOf(view, chosen().from, chosen().to), id: "flame-" + view }, name))),
  ].filter((e) => e !== null));

  const x = (/** @type {number} */ t) => left + ((t - from) / width) * (canvas.clientWidth - left - right);
  const time = (/** @type {number} */ px) => from + ((px - left) / (canvas.clientWidth - left - right)) * width;

  const draw = () => {
    const c = palette(), list = tracks(o, c);
    const height = list.length * (trackHeight + gap) + 22 + rows.length * (laneHeight + 2) + 16;
    const scale = devicePixelRatio || 1;
    canvas.style.height = height + "px";
    canvas.width = canvas.clientWidth * scale;
    canvas.height = height * scale;
    const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    g.scale(scale, scale);
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    const w = canvas.clientWidth - left - right;
    let y = 4;
    const step = (o.step_ns / width) * w, first = x(from);
    for (const [i, share] of o.gc.entries()) if (share > 0) fill(g, c.gc, 0.16 * Math.min(1, share), first + i * step, y, step, height - 30);
    for (const [i, share] of o.stopped.entries()) if (share > 0) fill(g, c.stopped, 0.55 * Math.min(1, share), first + i * step, y, step, height - 30);
    for (const t of list) {
      g.fillStyle = c.ink;
      g.fillText(fit(g, t.name, left - 14), 2, y + 10);
      g.fillStyle = c.faint;
      g.fillText("up to " + t.unit(t.most), 2, y + 27);
      fill(g, c.card, 1, left, y, w, trackHeight);
      for (const l of t.layers) curve(g, l, t.most, first, step, y, left + w);
      g.strokeStyle = c.line;
      g.strokeRect(left, y, w, trackHeight);
      y += trackHeight + gap;
    }
    axis(g, c, y, w);
    y += 22;
    for (const r of rows) {
      g.fillStyle = c.ink;
      g.fillText(fit(g, r.name, left - 14), 2, y + laneHeight / 2);
      if (r.cells) for (const [i, v] of r.cells.entries()) fill(g, c.running, Math.min(1, v / (r.most || 1)), first + i * step, y, step + 0.3, laneHeight);
      for (const s of r.spans || []) {
        const a = Math.max(left, x(s.from)), b = Math.min(left + w, x(s.to));
        fill(g, r.kind === "processor" ? c.running : /** @type {any} */ (c)[s.state] || c.waiting, r.kind === "processor" ? 0.55 + 0.45 * ((s.g * 7) % 5) / 5 : s.state === "waiting" ? 0.35 : 1, a, y, Math.max(0.6, b - a), laneHeight);
      }
      y += laneHeight + 2;
    }
    if (picked) {
      fill(g, c.running, 0.18, x(picked.from), 0, x(picked.to) - x(picked.from), height);
      g.strokeStyle = c.running;
      g.strokeRect(x(picked.from), 1, x(picked.to) - x(picked.from), height - 2);
    }
  };
  const axis = (/** @type {CanvasRenderingContext2D} */ g, /** @type {any} */ c, /** @type {number} */ y, /** @type {number} */ w) => {
    g.fillStyle = c.faint;
    for (let i = 0; i <= 5; i++) {
      g.textAlign = i === 0 ? "left" : i === 5 ? "right" : "center";
      g.fillText(clock(from + (width * i) / 5, width), left + (w * i) / 5, y + 6);
    }
    g.textAlign = "left";
  };
  const at = (/** @type {PointerEvent|WheelEvent|MouseEvent} */ e) => {
    const r = canvas.getBoundingClientRect();
    return { t: Math.max(from, Math.min(to, time(e.clientX - r.left))), y: e.clientY - r.top };
  };
  const laneAt = (/** @type {number} */ y) => {
    const begin = 4 + tracks(o, palette()).length * (trackHeight + gap) + 22;
    return rows[Math.floor((y - begin) / (laneHeight + 2))];
  };
  const spanAt = (/** @type {Lane|undefined} */ lane, /** @type {number} */ t) => lane?.spans?.find((s) => s.from <= t && t < s.to);
  const words = (/** @type {number} */ t, /** @type {number} */ y) => {
    const lane = laneAt(y), s = spanAt(lane, t);
    if (lane && s) {
      const l = s.line >= 0 ? o.lanes.lines[s.line] : null;
      return `${lane.name}: ${s.state}${s.why ? ", " + s.why : ""} for ${nanoseconds(s.to - s.from)}${s.g ? ", goroutine " + s.g : ""}${s.mixed ? " and shorter states" : ""}${l ? ` · ${short(l.function)} ${l.file.split("/").pop()}:${l.line}` : ""}`;
    }
    const i = Math.min(o.running.length - 1, Math.floor((t - from) / o.step_ns));
    return `${clock(t, width)}: ${digits(o.running[i])} running, ${digits(o.runnable[i])} ready, ${digits(o.syscall[i])} in system calls, ${digits(o.waiting[i])} blocked${o.heap[i] >= 0 ? ", heap " + bytes(o.heap[i]) : ""}${o.requests ? `, ${digits(o.requests.per_second[i])} requests/s` : ""}${o.gc[i] ? ", collecting" : ""}`;
  };
  let down = -1;
  canvas.addEventListener("pointerdown", (e) => { down = at(e).t; picked = null; canvas.setPointerCapture?.(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    const p = at(e);
    if (down >= 0) {
      picked = { from: Math.min(down, p.t), to: Math.max(down, p.t) };
      draw();
    }
    said.textContent = words(p.t, p.y);
  });
  canvas.addEventListener("pointerup", (e) => {
    const p = at(e);
    const wide = picked && x(picked.to) - x(picked.from) > 3;
    if (!wide) picked = null;
    down = -1;
    tools();
    draw();
    if (wide) return;
    const lane = laneAt(p.y), s = spanAt(lane, p.t);
    if (lane && s) detail(lane, s);
  });
  const detail = (/** @type {Lane} */ lane, /** @type {any} */ s) => {
    const l = s.line >= 0 ? o.lanes.lines[s.line] : null, g = lane.kind === "goroutine" ? lane.id : s.g;
    said.replaceChildren(`${lane.name}: ${s.state}${s.why ? ", " + s.why : ""} from ${clock(s.from, width)} for ${nanoseconds(s.to - s.from)}. `,
      l ? link("source", `${short(l.function)} ${l.file.split("/").pop()}:${l.line}`, { fn: l.function }) : "", " ",
      link("timeline", `goroutine ${g}`, { goroutine: g, from: `${Math.round(from)}ns`, to: `${Math.round(to)}ns` }), " ",
      h("a", { href: window(s.from - (s.to - s.from) * 0.2, s.to + (s.to - s.from) * 0.2) }, "zoom to it"));
  };
  canvas.addEventListener("dblclick", (e) => zoom(1 / 4, at(e).t));
  canvas.addEventListener("wheel", (e) => {
    if (!e.deltaY || e.shiftKey) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.6 : 1 / 1.6, at(e).t);
  }, { passive: false });
  /** @type {Object<string, () => void>} */
  const keys = {
    "+": () => zoom(1 / 3), "=": () => zoom(1 / 3), "-": () => zoom(3), "0": () => go(address("trace")), ArrowLeft: () => pan(-0.4), ArrowRight: () => pan(0.4),
    Enter: () => { if (picked) go(window(picked.from, picked.to)); },
    Escape: () => { picked = null; tools(); draw(); },
    "[": () => { picked = { from: Math.max(from, (picked?.from ?? from + width * 0.4) - width / 50), to: picked?.to ?? from + width * 0.6 }; tools(); draw(); },
    "]": () => { picked = { from: picked?.from ?? from + width * 0.4, to: Math.min(to, (picked?.to ?? from + width * 0.6) + width / 50) }; tools(); draw(); },
  };
  for (const [view, , key] of kinds) keys[key] = () => go(flameOf(view, chosen().from, chosen().to));
  canvas.addEventListener("hone-key", (e) => { const f = keys[/** @type {CustomEvent} */ (e).detail]; if (f) { e.preventDefault(); f(); } });
  canvas.dataset.keys = "";
  tools();
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  requestAnimationFrame(draw);
  const onPaper = (/** @type {string} */ width) => { // scaled down from a wide window, texts would be too small
    canvas.style.width = width;
    draw();
  };
  addEventListener("beforeprint", () => onPaper(paper));
  addEventListener("afterprint", () => onPaper(""));

  const t = o.totals;
  const states = [["running", t.running_seconds, "running"], ["ready, not running", t.runnable_seconds, "runnable"], ["in system calls", t.syscall_seconds, "syscall"], ["blocked", t.waiting_seconds, "waiting"], ["garbage collection running", t.gc_seconds, "gc"], ["the world stopped", t.stopped_seconds, "stopped"]];
  return [
    bar, said, canvas,
    o.exact ? null : h("p.note", null, `Columns of ${nanoseconds(o.step_ns)}. Zoom in to see each processor and goroutine.`),
    h("div.columns", null,
      h("section", null, h("h2", null, "In this window"), table([
        { head: "", of: (s) => s[0], cell: (s) => [h("i.key." + s[2], null), s[0]] },
        { head: "time", of: (s) => s[1], text: (s) => nanoseconds(s[1] * 1e9), number: true },
        { head: "on average", of: (s) => s[1], text: (s) => digits(s[1] / (width / 1e9)), number: true },
      ], states, { plain: true })),
      o.requests ? h("section", null, h("h2", null, `${digits(o.requests.count)} requests finished in it; the slowest:`), table([
        { head: "request", of: (r) => r.id, text: (r) => "#" + r.id, cell: (r) => link("request", "#" + r.id, { request: r.id }), number: true },
        { head: "latency", of: (r) => r.latency_ns, text: (r) => nanoseconds(r.latency_ns), number: true },
        { head: "started", of: (r) => r.begin_ns, text: (r) => clock(r.begin_ns, width), number: true },
        { head: "", of: () => "", cell: (r) => h("a", { href: window(r.begin_ns - r.latency_ns * 0.1, r.begin_ns + r.latency_ns * 1.1) }, "zoom to it") },
      ], o.requests.slowest, { plain: true })) : null,
      h("section", null, h("h2", null, "Goroutines by the function that they were started with"), table([
        { head: "running", of: (g) => g.running_seconds, text: (g) => nanoseconds(g.running_seconds * 1e9), number: true },
        { head: "share", of: (g) => g.running_seconds, text: (g) => percent(g.running_seconds / (t.running_seconds || 1)), number: true },
        { head: "function", of: (g) => g.name },
      ], o.groups || [], { most: 12 }))),
    q.get("from") ? null : h("p", null, link("summary", "the trace in words"), " · ", link("requests", "requests by route")),
  ].flat().filter(Boolean);
}

function button(/** @type {string} */ text, /** @type {string} */ key, /** @type {() => void} */ act, title = text) {
  return h("button", { type: "button", onclick: act, title: `${title} (${key})`, "aria-label": title }, text);
}

function fill(/** @type {CanvasRenderingContext2D} */ g, /** @type {string} */ colour, /** @type {number} */ alpha, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ height) {
  g.globalAlpha = alpha;
  g.fillStyle = colour;
  g.fillRect(x, y, w, height);
  g.globalAlpha = 1;
}

function curve(/** @type {CanvasRenderingContext2D} */ g, /** @type {any} */ l, /** @type {number} */ most, /** @type {number} */ first, /** @type {number} */ step, /** @type {number} */ y, /** @type {number} */ end) {
  const up = (/** @type {number} */ v) => y + trackHeight - 1 - (Math.max(0, v) / most) * (trackHeight - 4);
  g.beginPath();
  g.moveTo(first, l.line ? up(l.of[0]) : y + trackHeight);
  for (const [i, v] of l.of.entries()) {
    g.lineTo(Math.min(end, first + i * step), up(v));
    g.lineTo(Math.min(end, first + (i + 1) * step), up(v));
  }
  if (l.line) {
    g.strokeStyle = l.colour;
    g.lineWidth = 1.4;
    g.stroke();
    g.lineWidth = 1;
    return;
  }
  g.lineTo(Math.min(end, first + l.of.length * step), y + trackHeight);
  g.closePath();
  g.globalAlpha = 0.8;
  g.fillStyle = l.colour;
  g.fill();
  g.globalAlpha = 1;
}

function fit(/** @type {CanvasRenderingContext2D} */ g, /** @type {string} */ text, /** @type {number} */ width) {
  if (g.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 3 && g.measureText(text.slice(0, n) + "…").width > width) n--;
  return text.slice(0, n) + "…";
}
