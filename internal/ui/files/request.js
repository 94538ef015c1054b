// One request: the parts of its time, along its path through goroutines, down to the line.
import { h, table } from "./dom.js";
import { ask, link, state } from "./address.js";
import { digits, nanoseconds, percent } from "./format.js";

const place = (/** @type {any} */ l) => (l?.function ? [link("source", l.function, { fn: l.function }), h("span.faint", null, ` ${l.file.split("/").pop()}:${l.line}`)] : "");
const at = (/** @type {any} */ l) => (l?.function ? `${l.function} ${l.file.split("/").pop()}:${l.line}` : "");

/** The kind of a part of a request, for its colour. @param {string} part */
export function kindOf(part) {
  if (part === "running") return "running";
  if (part.startsWith("runnable")) return "runnable";
  if (part.startsWith("syscall")) return "syscall";
  return "waiting";
}

export async function request() {
  const id = state().get("request");
  if (!id) return h("p.note", null, "Choose one: ", link("requests", "requests, slowest first"));
  let r;
  try {
    r = await ask("trace-critical", { request: id });
  } catch (e) {
    return [h("p.note", null, e instanceof Error ? e.message : String(e)), h("p", null, link("requests", "the slowest requests"), " · ", link("timeline", "its timeline", { request: id }))];
  }
  const q = r.request, path = r.path, whole = path.length_ns || 1;
  const from = Math.max(0, q.begin_ns - q.latency_ns * 0.05), to = q.begin_ns + q.latency_ns * 1.05;
  const spot = (/** @type {any} */ x) => (x.request ? `held by request #${x.request}` : x.object ? "for " + x.object : "");
  return [
    h("h1", null, `Request #${q.id}: `, h("b", null, nanoseconds(q.latency_ns))),
    h("p", null, h("code", null, q.route || "(route not known)"), " ", h("span.tag", null, q.protocol), " ", q.task ? h("span.tag", null, q.task) : null, " ",
      link("trace", "in the trace", { from: `${Math.round(from)}ns`, to: `${Math.round(to)}ns` }), " · ", link("timeline", "as a timeline", { request: q.id }), " · ", link("requests", "other requests")),
    h("dl.figures", null, [["before it was read", q.queued_ns], ["reading its head", q.head_ns], ["in the handler", q.handler_ns], ["after the handler", q.after_ns]].map(([k, v]) => h("div", null, h("dt", null, k), h("dd", null, nanoseconds(v))))),
    h("h2", null, "Where its time went"),
    table([
      { head: "time", of: (s) => s.ns, text: (s) => nanoseconds(s.ns), number: true },
      { head: "share", of: (s) => s.share, text: (s) => percent(s.share), number: true, bar: (s) => s.share },
      { head: "what", of: (s) => s.part, cell: (s) => [h("i.key." + kindOf(s.part), null), s.part] },
      { head: "", of: spot },
      { head: "line", of: (s) => at(s.line), cell: (s) => place(s.line) || (s.function ? h("span.faint", null, s.function) : "") },
      { head: "ended by", of: (s) => at(s.waker), cell: (s) => place(s.waker) },
      { head: "times", of: (s) => s.count, text: (s) => digits(s.count), number: true },
    ], path.steps || [], { most: 15 }),
    h("h2", null, "Its path, in order"),
    h("p.note", null, "While the request waits for another goroutine, the path follows that goroutine."),
    table([
      { head: "after", of: (s) => s.begin_ns, text: (s) => nanoseconds(s.begin_ns - path.begin_ns), number: true },
      { head: "for", of: (s) => s.ns, text: (s) => nanoseconds(s.ns), number: true },
      { head: "", of: (s) => s.begin_ns, text: () => "", cell: (s) => lane(s, path, whole) },
      { head: "goroutine", of: (s) => s.goroutine, number: true, cell: (s) => link("timeline", s.goroutine, { goroutine: s.goroutine, from: `${Math.round(from)}ns`, to: `${Math.round(to)}ns` }) },
      { head: "what", of: (s) => s.part, text: (s) => [s.part, spot(s)].filter(Boolean).join(", ") },
      { head: "line", of: (s) => at(s.line), cell: (s) => place(s.line) },
    ], path.segments || [], { most: 60 }),
  ];
}

/** A segment of a path as a bar. */
function lane(/** @type {any} */ s, /** @type {any} */ path, /** @type {number} */ whole) {
  const b = h("span." + kindOf(s.part), null);
  b.style.left = `${(100 * (s.begin_ns - path.begin_ns)) / whole}%`;
  b.style.width = `${Math.max(0.3, (100 * s.ns) / whole)}%`;
  return h("div.lane", null, b);
}
