// The timeline: rows of spans on a canvas, in a window of time that keys and pointer move.

/**
 * @typedef {object} Data what html.go writes
 * @property {string} title
 * @property {number} from nanoseconds since the trace started
 * @property {number} length of the window, nanoseconds
 * @property {{state: string, why: string}[]} kinds
 * @property {string[] | null} lines
 * @property {{name: string, group: string, spans: number[][]}[]} rows spans are from, length, kind, line or -1, 1 if several were merged, goroutine of a processor
 * @property {{name: string, why: string, from: number, length: number}[]} bands
 * @property {number[][]} wakes time, row of the waker or -1, row of the woken, line or -1
 * @property {string[]} notes
 */

/** @param {string} id @returns {any} */
const element = (id) => document.getElementById(id);
/** @type {Data} */
const data = JSON.parse(element("data").textContent);
const lines = data.lines ?? [];
const room = element("room");
const canvas = element("canvas");
/** @type {CanvasRenderingContext2D} */
const pen = canvas.getContext("2d");

const rowHeight = 20;
const nameWidth = 260;
const axisHeight = 26;

/** What is shown, in nanoseconds since the window's begin. */
let view = { from: 0, to: data.length };
let chosen = -1;

const styles = () => getComputedStyle(document.documentElement);
/** @param {string} name */
const ink = (name) => styles().getPropertyValue(name).trim();

/** The colour of a state; svg.go has the same. @param {{state: string, why: string}} kind */
function colour(kind) {
  switch (kind.state) {
    case "running": return "#3f9b57";
    case "runnable": return "#e0a030";
    case "syscall": return "#7a6fc0";
    case "waiting":
      if (kind.why === "sync" || kind.why === "sync.(*Cond).Wait") return "#c8504c";
      return kind.why === "network" || kind.why === "sleep" ? "#c9d3dc" : "#9fb3c8";
  }
  return "#dddddd";
}

/** @param {number} ns */
function duration(ns) {
  for (const [unit, size] of /** @type {[string, number][]} */ ([["s", 1e9], ["ms", 1e6], ["µs", 1e3]]))
    if (Math.abs(ns) >= size) return Number((ns / size).toPrecision(4)) + " " + unit;
  return Math.round(ns) + " ns";
}

const width = () => canvas.clientWidth - nameWidth - 8;
/** @param {number} t */
const x = (t) => nameWidth + ((t - view.from) / (view.to - view.from)) * width();
/** @param {number} px */
const time = (px) => view.from + ((px - nameWidth) / width()) * (view.to - view.from);

function draw() {
  const ratio = window.devicePixelRatio || 1;
  const height = Math.max(room.clientHeight, axisHeight + data.rows.length * rowHeight + 8);
  canvas.style.height = height + "px";
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(height * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, canvas.clientWidth, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  axis(height);
  pen.fillStyle = ink("--text");
  pen.globalAlpha = 0.09;
  for (const b of data.bands) pen.fillRect(x(b.from), axisHeight, Math.max(0.5, x(b.from + b.length) - x(b.from)), height);
  pen.globalAlpha = 1;
  data.rows.forEach(row);
  pen.fillStyle = ink("--back");
  pen.fillRect(0, 0, nameWidth - 4, height);
  data.rows.forEach(name);
  arrows();
  element("note").textContent = [`${duration(view.from + data.from)} to ${duration(view.to + data.from)}`, ...data.notes].join(" · ");
}

/** Draws the ticks of time. @param {number} height */
function axis(height) {
  const span = view.to - view.from;
  let step = Math.pow(10, Math.floor(Math.log10(span / 5)));
  while (span / step > 10) step *= step.toString().startsWith("2") ? 2.5 : 2;
  pen.strokeStyle = ink("--line");
  pen.fillStyle = ink("--faint");
  pen.textAlign = "left";
  for (let t = Math.ceil((view.from + data.from) / step) * step; t <= view.to + data.from; t += step) {
    const at = Math.round(x(t - data.from)) + 0.5;
    pen.beginPath();
    pen.moveTo(at, 16);
    pen.lineTo(at, height);
    pen.stroke();
    pen.fillText(duration(t), at + 4, 10);
  }
}

/** Draws a row's spans; neighbours narrower than a pixel become one. @param {Data["rows"][0]} row @param {number} i */
function row(row, i) {
  const top = axisHeight + i * rowHeight;
  let end = -1;
  for (let k = first(row.spans, view.from); k < row.spans.length && row.spans[k][0] < view.to; k++) {
    const [from, length, kind, , mixed] = row.spans[k];
    const a = Math.max(nameWidth, x(from)), b = Math.max(a, x(from + length));
    if (b - a < 0.4 && a - end < 0.4) continue;
    pen.fillStyle = colour(data.kinds[kind]);
    pen.fillRect(a, top + 2, Math.max(0.6, b - a), rowHeight - 4);
    if (mixed && b - a > 3) {
      pen.fillStyle = ink("--back");
      pen.fillRect(a + 1, top + rowHeight - 5, Math.min(3, b - a - 2), 2);
    }
    end = b;
  }
  if (i === chosen) {
    pen.strokeStyle = ink("--accent");
    pen.strokeRect(0.5, top + 0.5, canvas.clientWidth - 1, rowHeight - 1);
  }
}

/** The first span that ends after t. @param {number[][]} spans @param {number} t */
function first(spans, t) {
  let lo = 0, hi = spans.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (spans[mid][0] + spans[mid][1] <= t) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** @param {Data["rows"][0]} row @param {number} i */
function name(row, i) {
  const top = axisHeight + i * rowHeight;
  pen.textAlign = "left";
  pen.fillStyle = i === chosen ? ink("--accent") : row.group === "processors" ? ink("--faint") : ink("--text");
  let text = row.name;
  while (text.length > 4 && pen.measureText(text).width > nameWidth - 20) text = text.slice(0, -2);
  pen.fillText(text === row.name ? text : text.slice(0, -1) + "…", 10, top + rowHeight / 2);
}

/** Draws who woke the chosen row. */
function arrows() {
  if (chosen < 0) return;
  pen.strokeStyle = pen.fillStyle = ink("--accent");
  const middle = (/** @type {number} */ r) => axisHeight + r * rowHeight + rowHeight / 2;
  for (const [at, from, to] of data.wakes) {
    if (to !== chosen || at < view.from || at > view.to) continue;
    const px = x(at);
    pen.beginPath();
    if (from >= 0) {
      pen.moveTo(px, middle(from));
      pen.lineTo(px, middle(to));
    }
    pen.stroke();
    pen.beginPath();
    pen.arc(px, middle(to), 2.5, 0, 7);
    pen.fill();
  }
}

/** What is under the pointer. @param {{offsetX: number, offsetY: number}} e */
function under(e) {
  const r = Math.floor((e.offsetY - axisHeight) / rowHeight);
  if (r < 0 || r >= data.rows.length) return undefined;
  if (e.offsetX < nameWidth) return { row: r, span: undefined };
  const t = time(e.offsetX), spans = data.rows[r].spans;
  const k = first(spans, t);
  return { row: r, span: k < spans.length && spans[k][0] <= t ? spans[k] : undefined };
}

/** A span in words. @param {number} r @param {number[]} span */
function words(r, [from, length, kind, line, mixed, g]) {
  const k = data.kinds[kind];
  const out = [`${k.state}${k.why ? ", " + k.why : ""}: ${duration(length)}`, `from ${duration(from + data.from)}`];
  if (g) out.push(`goroutine ${g}`);
  if (line >= 0 && lines[line]) out.push(lines[line]);
  const woken = data.wakes.find((w) => w[2] === r && w[0] === from + length);
  if (woken) out.push(`ended by ${woken[1] >= 0 ? data.rows[woken[1]].name : "network, timer or runtime"}${woken[3] >= 0 ? " at " + lines[woken[3]] : ""}`);
  if (mixed) out.push("with shorter spans in it");
  return out.join("\n");
}

/** Shows a part of time. @param {number} from @param {number} to */
function show(from, to) {
  const least = Math.min(100, data.length);
  const span = Math.min(data.length, Math.max(least, to - from));
  from = Math.max(0, Math.min(data.length - span, from));
  view = { from, to: from + span };
  draw();
}

/** @param {number} factor @param {number} at */
function zoom(factor, at) {
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

/** @param {number} r */
function choose(r) {
  chosen = Math.max(-1, Math.min(data.rows.length - 1, r));
  const wakes = data.wakes.filter((w) => w[2] === chosen).length;
  element("status").textContent = chosen < 0 ? "" : `${data.rows[chosen].name}: ${data.rows[chosen].spans.length} spans, woken ${wakes} times`;
  if (chosen >= 0) {
    const top = axisHeight + chosen * rowHeight;
    if (top < room.scrollTop + axisHeight) room.scrollTop = top - axisHeight;
    else if (top + rowHeight > room.scrollTop + room.clientHeight) room.scrollTop = top + rowHeight - room.clientHeight;
  }
  draw();
}

function turn() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  draw();
}

/** @type {{x: number, from: number, to: number} | undefined} */
let drag;
canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
  drag = { x: e.offsetX, ...view };
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => {
  const still = drag && Math.abs(e.offsetX - drag.x) < 3;
  drag = undefined;
  const at = under(e);
  if (still) choose(at ? at.row : -1);
});
canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
  const tip = element("tip");
  if (drag && e.buttons) {
    const moved = ((e.offsetX - drag.x) / width()) * (drag.to - drag.from);
    show(drag.from - moved, drag.to - moved);
    tip.hidden = true;
    return;
  }
  const at = under(e);
  tip.hidden = !at || !at.span;
  if (at && at.span) {
    tip.textContent = data.rows[at.row].name + "\n" + words(at.row, at.span);
    tip.style.left = Math.min(e.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(e.clientY + 14, window.innerHeight - tip.offsetHeight - 8) + "px";
  }
});
canvas.addEventListener("pointerleave", () => (element("tip").hidden = true));
canvas.addEventListener("dblclick", (/** @type {MouseEvent} */ e) => {
  const at = under(e);
  if (at && at.span) show(at.span[0] - at.span[1] * 0.2, at.span[0] + at.span[1] * 1.2);
});
canvas.addEventListener("wheel", (/** @type {WheelEvent} */ e) => {
  if (e.shiftKey) return; // scrolls the rows
  e.preventDefault();
  zoom(Math.exp(e.deltaY / 400), time(e.offsetX));
}, { passive: false });

document.addEventListener("keydown", (e) => {
  if (element("keys").open || e.ctrlKey || e.metaKey || e.altKey) return;
  const span = view.to - view.from, middle = (view.from + view.to) / 2;
  switch (e.key) {
    case "ArrowLeft": show(view.from - span / 5, view.to - span / 5); break;
    case "ArrowRight": show(view.from + span / 5, view.to + span / 5); break;
    case "ArrowUp": choose(Math.max(0, chosen - 1)); break;
    case "ArrowDown": choose(chosen + 1); break;
    case "+": case "=": zoom(0.5, middle); break;
    case "-": zoom(2, middle); break;
    case "0": show(0, data.length); break;
    case "Escape": choose(-1); break;
    case "t": turn(); break;
    case "?": element("keys").showModal(); break;
    default: return;
  }
  e.preventDefault();
});
element("theme").addEventListener("click", turn);
element("help").addEventListener("click", () => element("keys").showModal());
window.addEventListener("resize", draw);

element("title").textContent = data.title;
/** @type {[string, {state: string, why: string}][]} */
const legend = [["running", { state: "running", why: "" }], ["ready, waits for a processor", { state: "runnable", why: "" }], ["system call", { state: "syscall", why: "" }],
  ["waits for a lock", { state: "waiting", why: "sync" }], ["for a channel or else", { state: "waiting", why: "" }], ["for network or sleep", { state: "waiting", why: "sleep" }]];
for (const [text, kind] of legend) {
  const li = document.createElement("li"), box = document.createElement("i");
  box.style.background = colour(kind);
  li.append(box, text);
  element("legend").append(li);
}
if (window.matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.dataset.theme = "dark";
room.focus();
draw();
