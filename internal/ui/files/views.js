// The views of a source. Each view draws the JSON of a command.
import { h, table } from "./dom.js";
import { address, allSources, ask, base, go, link, source, state } from "./address.js";
import { history } from "./history.js";
import { live } from "./live.js";
import { builtOtherwise, load, manifest } from "./load.js";
import { kindOf, request } from "./request.js";
import { trace } from "./trace.js";
import { digits, nanoseconds, percent, quantity } from "./format.js";

const profiles = ["recording", "profile", "trace"];

/** @param {string} name a page of the server @param {string} title */
function frame(name, title) {
  const q = state();
  q.delete("view");
  q.set("src", source().id);
  const fn = q.get("sandwich"), hash = fn ? "#" + new URLSearchParams({ view: "sandwich", function: fn }) : "";
  q.delete("sandwich");
  const e = /** @type {HTMLIFrameElement} */ (h("iframe", { src: `/page/${name}?${q}${hash}`, title, sandbox: "allow-scripts" }));
  if (base()) {
    const known = verdicts("cum").catch(() => ({}));
    e.addEventListener("load", async () => e.contentWindow?.postMessage({ verdicts: await known }, "*"));
  }
  return e;
}

/** The verdict of hone diff on each function. @param {string} by what a sample is charged to: flat or cum @returns {Promise<Object<string, string>>} */
async function verdicts(by) {
  const r = await ask("diff", { by });
  return Object.fromEntries((r.rows || []).filter((/** @type {any} */ x) => x.function).map((/** @type {any} */ x) => [x.function, x.verdict]));
}

/** A verdict of hone diff, by word and sign, not by colour alone. @param {string|undefined} v */
function verdict(v) {
  return v ? h("span." + v, null, v === "better" ? "less" : v === "worse" ? "more" : v) : "";
}

/** A bar of a share with its interval. @param {{share: number, low?: number, high?: number}} p @param {number} full the share that fills it */
function bar(p, full) {
  const value = h("span", null), range = h("i", null);
  const at = (/** @type {any} */ x) => `${100 * Math.max(0, Math.min(1, (x || 0) / full))}%`;
  value.style.width = at(p.share);
  range.style.left = at(p.low);
  range.style.width = `calc(${at(p.high ?? p.share)} - ${at(p.low ?? p.share)})`;
  return h("div.scale", { role: "img", "aria-label": percent(p.share), title: `the whole bar is ${percent(full)}` }, value, p.low === undefined ? null : range);
}

function card(/** @type {any} */ f, /** @type {boolean} */ settings, full = 1, traced = false) {
  const exact = f.function ? { fn: f.function } : null;
  const anchored = f.function ? `^${f.function.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$` : "";
  const price = f.saving
    ? h("div.price", null, bar(f.saving, full), h("strong", null, `saves ${percent(f.saving.share)}`), `of ${f.saving.resource === "cpu" ? "CPU" : f.saving.of || f.saving.resource}`,
      f.saving.low === undefined ? null : h("span.faint", null, `95 %: ${percent(f.saving.low)} to ${percent(f.saving.high)}`))
    : f.cost?.cpu_and_gc ? h("div.price", null, bar(f.cost.cpu_and_gc, full), h("strong", null, `costs ${percent(f.cost.cpu_and_gc.share)}`), "of CPU") : null;
  return h("section.card", null,
    h("h2", null, settings ? null : h("span.rank", null, f.rank), f.title, h("span.tag", null, f.confidence), h("span.tag", null, f.rule)),
    price,
    f.function ? h("p", null, h("code", null, f.function), h("span.faint", null, ` ${f.file}:${f.line}`), f.entry ? h("span.faint", null, `, called from ${f.entry.file}:${f.entry.line}`) : null) : null,
    f.sites?.length ? h("table.lines", { "aria-label": "lines, with their shares and code" }, f.sites.map((/** @type {any} */ s) => h("tr", null, h("th.n", { scope: "row" }, s.role ? `${s.role} ${s.file.split("/").pop()}:${s.line}` : s.line), h("td.n", null, s.share ? percent(s.share) : ""), h("td.code.wide", null, (s.source || "").trim())))) : null,
    f.cause ? h("p", null, h("b", null, "why "), f.cause) : null,
    f.patch ? h("details.patch", { open: true }, h("summary", null, `in ${f.patch.release}`),
      h("table.lines", { "aria-label": "what the release changed" }, f.patch.lines.map((/** @type {any} */ l) => h("tr", null, h("th.n", { scope: "row" }, l.line || ""), h("td.code.wide", null, `${l.op} ${l.text}`))))) : null,
    f.fix ? h("p", null, h("b", null, "fix "), f.fix) : null,
    exact ? h("p.links", null, "show: ", link("source", "source", exact), " · ", link("flame", "flame graph", { focus: anchored }), " · ",
      link("peek", "callers and callees", exact), " · ", link("top", "callees", { focus: anchored }), " · ", link("graph", "call graph", { focus: anchored }), " · ", link("disasm", "disassembly", exact),
      traced ? [" · ", link("flame", "waiting", { part: "trace:blocking", focus: anchored, sample_index: null })] : null) : null,
    f.evidence?.length ? h("details", null, h("summary", null, "evidence"), f.evidence.map((/** @type {any} */ e) =>
      h("p", null, `${e.what}: ${e.value}`, e.command ? h("pre", null, e.command) : null))) : null);
}

/** What limits the throughput, in words. @param {any} res */
function limits(res) {
  if (res.limiting === "latency") return res.run ? "the work of one goroutine" : res.benchmarks ? "" : "waiting, not CPU";
  return res.limiting === "none" ? "" : res.limiting === "cpu" ? "CPU" : res.limiting;
}

/** Why there is no finding, as hone findings says it. @param {any} res @param {any} m the manifest */
function silence(res, m) {
  if ((res.cpu_samples || 0) >= 20) return "None of the mistakes that hone knows costs enough here to be worth fixing.";
  if (!m.load && !["program", "bench"].includes(m.target?.kind)) return "The program had almost nothing to do while hone recorded it: send it requests with -load.";
  return "The CPU profile has too few samples: give the program more work, or a longer -duration.";
}

async function findings() {
  const [r, m] = await Promise.all([ask("findings"), manifest().catch(() => ({}))]);
  const traced = (m.parts || []).some((/** @type {any} */ p) => p.name === "trace.out");
  const res = r.resources || {};
  const facts = [
    ["target", r.recording.target], ["Go", r.recording.go],
    ["throughput", res.requests_per_second ? digits(res.requests_per_second) + " requests/s" : ""],
    ["CPU", res.cpu_seconds_per_request ? nanoseconds(res.cpu_seconds_per_request * 1e9) + (res.run ? " per run" : " per request") : res.cpu_seconds ? digits(res.cpu_seconds) + " s" : ""],
    ["limited by", limits(res), res.limiting_why], ["garbage collector", res.gc_cpu_share ? percent(res.gc_cpu_share) + " of CPU" : ""],
  ].filter(([, v]) => v);
  const real = (r.findings || []).filter((/** @type {any} */ f) => !f.generic), rest = (r.findings || []).filter((/** @type {any} */ f) => f.generic);
  const full = Math.min(1, 1.05 * Math.max(0.05, ...[...real, ...rest, ...(r.settings || [])].map((/** @type {any} */ f) => Math.max(f.saving?.share || 0, f.saving?.high || 0, f.cost?.cpu_and_gc?.share || 0))));
  return [
    h("dl.figures", null, facts.map(([k, v, why]) => h("div", why ? { title: why } : null, h("dt", null, k), h("dd", null, v)))),
    real.length ? real.map((/** @type {any} */ f) => card(f, false, full, traced)) : h("p.note", null, "No findings in the code. " + silence(res, m)),
    r.settings?.length ? [h("h2", null, "Settings to try"), r.settings.map((/** @type {any} */ f) => card(f, true, full, traced))] : null,
    rest.length ? h("details", null, h("summary", null, `${rest.length} other lines that cost, and that no rule explains`), rest.map((/** @type {any} */ f) => card(f, false, full, traced))) : null,
    (r.notes || []).map((/** @type {any} */ n) => h("p.note", null, "note: " + (n.text || n))),
  ].flat(Infinity).filter(Boolean);
}

/** @param {any} r a table of nodes with flat and cum */
function costs(r, /** @type {any} */ rows, /** @type {any} */ more = []) {
  const share = (/** @type {any} */ x) => (r.total ? percent(x / r.total) : "");
  return table([
    { head: "flat", of: (x) => x.flat, text: (x) => quantity(x.flat, r.unit), number: true },
    { head: "flat %", of: (x) => x.flat, text: (x) => share(x.flat), number: true },
    { head: "cum", of: (x) => x.cum, text: (x) => quantity(x.cum, r.unit), number: true },
    { head: "cum %", of: (x) => x.cum, text: (x) => share(x.cum), number: true },
    { head: "function", of: (x) => x.function || x.file || "", text: (x) => [x.function, x.file && `${x.file}${x.line ? ":" + x.line : ""}`].filter(Boolean).join("  "),
      cell: (x) => [x.function ? link("source", x.function, { fn: x.function }) : "", x.file ? h("span.faint", null, ` ${x.file}${x.line ? ":" + x.line : ""}`) : ""] },
    ...more,
  ], rows, { note: `${r.sample_type}, ${quantity(r.total, r.unit)} in all` });
}

async function top() {
  const [r, known] = await Promise.all([ask("top", { top: state().get("top") || 200 }), base() ? verdicts("flat").catch(() => null) : null]);
  return costs(r, r.rows || [], known ? [{ head: "verdict on flat", of: (/** @type {any} */ x) => known[x.function] || "", cell: (/** @type {any} */ x) => verdict(known[x.function]) }] : []);
}

async function picker(/** @type {any} */ view) {
  const r = await ask("top", { sort: "cum", top: 200 });
  return [h("p", null, "Choose a function:"), table([
    { head: "cum", of: (x) => x.cum, text: (x) => quantity(x.cum, r.unit), number: true },
    { head: "cum %", of: (x) => x.cum, text: (x) => percent(x.cum / (r.total || 1)), number: true },
    { head: "function", of: (x) => x.function, cell: (x) => link(view, x.function, { fn: x.function }) },
  ], (r.rows || []).filter((/** @type {any} */ x) => x.function))];
}

/** Files as a tree, each with what its functions cost. */
async function sourceTree() {
  const r = await ask("top", { granularity: "filefunctions", sort: "flat", top: 600 });
  const unknown = "(no file)";
  const cut = common((r.rows || []).map((/** @type {any} */ x) => x.file).filter(Boolean));
  /** @type {any} */
  const root = { flat: 0, dirs: new Map(), functions: [] };
  for (const x of r.rows || []) {
    let at = root;
    at.flat += x.flat;
    for (const part of (x.file ? x.file.slice(x.file.startsWith(cut) ? cut.length : 0) : unknown).split("/").filter(Boolean)) {
      if (!at.dirs.has(part)) at.dirs.set(part, { flat: 0, dirs: new Map(), functions: [] });
      at = at.dirs.get(part);
      at.flat += x.flat;
    }
    at.functions.push(x);
  }
  const total = r.total || 1;
  const heat = (/** @type {any} */ name, /** @type {number} */ flat, cum = 0) => {
    const row = h("span.row", null, name, h("span.n", null, [flat ? `${quantity(flat, r.unit)}  ${percent(flat / total)}` : "", cum > flat ? `with callees ${quantity(cum, r.unit)}  ${percent(cum / total)}` : ""].filter(Boolean).join(" · ")));
    row.style.setProperty("--w", `${(100 * flat) / total}%`);
    return row;
  };
  /** @type {(name: string, d: any, depth: number) => HTMLElement} */
  const node = (name, d, depth) => {
    while (d.dirs.size === 1 && !d.functions.length) {
      const [next, inner] = [...d.dirs][0];
      name += "/" + next;
      d = inner;
    }
    return h("details", { open: depth < 2 && d.flat > total / 20 }, h("summary", null, heat(name, d.flat)),
      [...d.dirs].sort((a, b) => b[1].flat - a[1].flat).map(([n, x]) => node(n, x, depth + 1)),
      d.functions.sort((/** @type {any} */ a, /** @type {any} */ b) => b.flat - a.flat).map((/** @type {any} */ f) => h("div", null, heat(link("source", f.function, { fn: f.function }), f.flat, f.cum))));
  };
  return [h("p.note", null, `${r.sample_type}, ${quantity(r.total, r.unit)} in all. Folders and files show what their functions cost themselves; choose a function to see its lines.`),
    h("div.tree", null, [...root.dirs].sort((a, b) => b[1].flat - a[1].flat).map(([n, x]) => node(n === unknown ? n : cut + n, x, 0)))];
}

/** The folder that all files have in common. @param {string[]} files */
function common(files) {
  let cut = files[0] || "";
  for (const f of files) while (!f.startsWith(cut)) cut = cut.slice(0, -1);
  return cut.slice(0, cut.lastIndexOf("/") + 1);
}

/** What a line costs besides the chosen value. @typedef {{head: string, title: string, unit: string, of: Map<string, number>}} More */

/**
 * Costs of lines of other profiles of a recording, by function and line. They are asked for when the page is there: reading a large
 * trace for the first time takes seconds.
 * @returns {Promise<More[]>}
 */
async function moreCosts() {
  const q = state();
  if (source().kind !== "recording" || base() || q.get("part") || (q.get("sample_index") || "cpu") !== "cpu") return [];
  /** @type {Array<{head: string, title: string, params: Object<string, string>}>} */
  const ways = [
    { head: "allocated", title: "bytes that the line and its callees allocate, in the profile of allocations", params: { sample_index: "alloc_space" } },
    { head: "waiting", title: "time for which goroutines wait in the line and its callees, in the execution trace", params: { part: "trace:blocking" } },
  ];
  const all = await Promise.allSettled(ways.map((w) => ask("list", w.params)));
  return ways.flatMap((w, i) => {
    const r = all[i].status === "fulfilled" ? all[i].value : {};
    const of = new Map((r.functions || []).flatMap((/** @type {any} */ f) => f.lines.filter((/** @type {any} */ l) => l.cum).map((/** @type {any} */ l) => [`${f.function}:${l.line}`, l.cum])));
    return of.size ? [{ ...w, unit: r.unit, of }] : [];
  });
}

async function listing() {
  const fn = state().get("fn");
  if (!fn) return sourceTree();
  const r = await ask("list");
  const box = h("div", { "aria-busy": "true" }, listed(r, []));
  const done = (/** @type {More[]} */ more) => {
    if (more.length) box.replaceChildren(...listed(r, more));
    box.removeAttribute("aria-busy");
  };
  moreCosts().then(done, () => done([]));
  return [
    h("p", null, h("code", null, fn), " · ", link("peek", "callers and callees", { fn }), " · ", link("disasm", "disassembly", { fn }), " · ", link("source", "other functions")),
    box,
    ...(r.notes || []).map((/** @type {any} */ n) => h("p.note", null, "note: " + n)),
  ];
}

/** The lines of functions with their costs. @param {any} r @param {More[]} more */
function listed(r, more) {
  const most = Math.max(1, ...(r.functions || []).flatMap((/** @type {any} */ f) => f.lines.map((/** @type {any} */ l) => Math.abs(l.cum))));
  const runs = r.executions_per ? [["runs per " + r.executions_per, "how often the line ran, counted in a phase of its own"]] : [];
  const heads = [["line"], ["flat", "what the line costs itself"], ["cum", "with its callees"], ...more.map((m) => [m.head, m.title]), ...runs, [""]];
  return (r.functions || []).map((/** @type {any} */ f) => {
    const remarks = new Map();
    for (const m of f.remarks || []) remarks.set(m.line, [...(remarks.get(m.line) || []), counted.includes(m.kind) ? m.text : "compiler: " + m.text]);
    return h("section.card", null,
      h("h2", null, f.function, h("span.faint", null, f.file), h("span.tag", null, `cum ${quantity(f.cum, r.unit)}, ${percent(f.cum / (r.total || 1))}`)),
      h("table.lines", null, h("thead", null, h("tr", null, heads.map(([t, title]) => h("th.n", { scope: "col", title }, t)))), h("tbody", null, f.lines.map((/** @type {any} */ l) => {
        const cost = (/** @type {number|undefined} */ x, unit = r.unit) => h("td.n", null, x ? quantity(x, unit) : "");
        const row = h("tr", null, h("td.n", null, l.line), cost(l.flat), cost(l.cum), more.map((m) => cost(m.of.get(`${f.function}:${l.line}`), m.unit)),
          runs.length ? h("td.n", null, l.executions === undefined ? "" : digits(l.executions)) : null, h("td.code.wide", null, (l.source || "").replaceAll("\t", "    ")));
        if (l.cum) row.className = "hot";
        if (l.cum) row.style.background = l.cum > 0 ? `rgba(var(--hot), ${0.05 + 0.45 * Math.min(1, l.cum / most)})` : `rgba(var(--cold), ${0.05 + 0.45 * Math.min(1, -l.cum / most)})`;
        return [row, ...(remarks.get(l.line) || []).map((/** @type {any} */ t) => h("tr.remark", null, heads.slice(1).map(() => h("td", null)), h("td.wide", null, "    " + t)))];
      }))));
  });
}

/** Kinds of remarks that come from counting, not from the compiler. */
const counted = ["executions", "inputs"];

async function disassembly() {
  const fn = state().get("fn");
  if (!fn) return picker("disasm");
  const r = await ask("disasm");
  return [
    h("p", null, h("code", null, fn), " · ", link("source", "source", { fn }), " · ", link("disasm", "other functions")),
    ...(r.functions || []).map((/** @type {any} */ f) => {
      const most = Math.max(1, ...f.instructions.map((/** @type {any} */ i) => i.flat));
      let last = "";
      return h("section.card", null,
        h("h2", null, f.function, h("span.faint", null, `${f.arch} ${f.address}`), h("span.tag", null, `flat ${quantity(f.flat, r.unit)}`)),
        h("table.lines", null, h("tbody", null, h("tr", null, ["address", "flat", "cum", "instruction"].map((t) => h("th.n", { scope: "col" }, t))), f.instructions.map((/** @type {any} */ i) => {
          const at = i.frames?.[0], where = at ? `${at.file.split("/").pop()}:${at.line}` : "";
          const head = where && where !== last ? h("tr.remark", null, h("td", null), h("td", null), h("td", null), h("td.wide", null, `${where}  ${(i.source || "").trim()}`)) : null;
          last = where || last;
          const row = h("tr", null, h("td.n", null, i.address), h("td.n", null, i.flat ? quantity(i.flat, r.unit) : ""), h("td.n", null, i.cum ? quantity(i.cum, r.unit) : ""), h("td.code.wide", null, "    " + i.text));
          if (i.flat) row.className = "hot";
          if (i.flat) row.style.background = `rgba(var(--hot), ${0.05 + 0.45 * (i.flat / most)})`;
          return [head, row, ...(i.remarks || []).map((/** @type {any} */ m) => h("tr.remark", null, h("td", null), h("td", null), h("td", null), h("td.wide", null, "    compiler: " + m.text)))];
        }))));
    }),
    ...(r.notes || []).map((/** @type {any} */ n) => h("p.note", null, "note: " + n)),
  ];
}

async function peek() {
  const fn = state().get("fn");
  if (!fn) return picker("peek");
  const r = await ask("peek");
  return (r.shown || []).map((/** @type {any} */ i) => {
    const n = r.nodes[i];
    const side = (/** @type {any} */ title, /** @type {any} */ edges, /** @type {any} */ other) => h("div", null, h("h3", null, title), edges.length ? table([
      { head: r.sample_type, of: (e) => e.value ?? e.weight, text: (e) => quantity(e.value ?? e.weight, r.unit), number: true },
      { head: "share", of: (e) => e.value ?? e.weight, text: (e) => percent((e.value ?? e.weight) / (n.cum || 1)), number: true },
      { head: "function", of: (e) => r.nodes[other(e)].function, cell: (e) => link("peek", r.nodes[other(e)].function, { fn: r.nodes[other(e)].function }) },
    ], edges) : h("p.note", null, "none"));
    const from = (/** @type {any} */ e) => e.from ?? e.caller, to = (/** @type {any} */ e) => e.to ?? e.callee;
    return h("section.card", null,
      h("h2", null, n.function, h("span.tag", null, `flat ${quantity(n.flat, r.unit)}`), h("span.tag", null, `cum ${quantity(n.cum, r.unit)}`)),
      h("p", null, link("source", "source", { fn: n.function })),
      side("callers", (r.edges || []).filter((/** @type {any} */ e) => to(e) === i), from), side("callees", (r.edges || []).filter((/** @type {any} */ e) => from(e) === i), to));
  });
}

function parts(/** @type {any} */ list, /** @type {any} */ total) {
  return h("div.parts", null, list.filter((/** @type {any} */ p) => p.ns > 0).map((/** @type {any} */ p) => {
    const s = h("span." + kindOf(p.part), { title: `${p.part}: ${nanoseconds(p.ns)}, ${percent(p.ns / total)}` });
    s.style.width = `${100 * p.ns / total}%`;
    return s;
  }));
}

const seconds = (/** @type {any} */ s) => nanoseconds(s * 1e9);

async function requests() {
  const r = await ask("trace-requests");
  const latency = (/** @type {any} */ x) => `p50 ${seconds(x.latency.p50)} · p99 ${seconds(x.latency.p99)} · max ${seconds(x.latency.max)}`;
  const words = (/** @type {any} */ list, /** @type {any} */ total) => (list || []).filter((/** @type {any} */ p) => p.ns > total / 100).map((/** @type {any} */ p) => `${p.part} ${percent(p.ns / total)}`).join(", ");
  return [
    h("p", null, `${digits(r.count)} requests · `, r.all ? latency(r.all) : ""),
    h("h2", null, "Routes"),
    table([
      { head: "requests", of: (x) => x.count, number: true, text: (x) => digits(x.count) },
      { head: "p50", of: (x) => x.latency.p50, text: (x) => seconds(x.latency.p50), number: true },
      { head: "p99", of: (x) => x.latency.p99, text: (x) => seconds(x.latency.p99), number: true },
      { head: "where the time goes", of: (x) => words(x.parts, x.ns), cell: (x) => [parts(x.parts || [], x.ns), h("div.faint", null, words(x.parts, x.ns))] },
      { head: "route", of: (x) => x.name },
    ], r.routes || []),
    h("h2", null, "Slowest"),
    table([
      { head: "request", of: (x) => x.id, cell: (x) => link("request", `#${x.id}`, { request: x.id }), number: true },
      { head: "latency", of: (x) => x.latency_ns, text: (x) => nanoseconds(x.latency_ns), number: true },
      { head: "where the time goes", of: (x) => words(x.parts, x.latency_ns), cell: (x) => [parts(x.parts || [], x.latency_ns), h("div.faint", null, words(x.parts, x.latency_ns))] },
      { head: "route", of: (x) => x.route },
      { head: "longest wait", of: (x) => x.waits?.[0]?.ns || 0, text: (x) => (x.waits?.[0] ? `${x.waits[0].part} ${nanoseconds(x.waits[0].ns)} ${x.waits[0].waiter ? `at ${x.waits[0].waiter.function} ${x.waits[0].waiter.file.split("/").pop()}:${x.waits[0].waiter.line}` : ""}` : "") },
    ], r.slowest || []),
  ];
}

async function summary() {
  const r = await ask("trace-summary");
  return [
    h("dl.figures", null, [
      ["length", seconds(r.length_seconds)], ["events", digits(r.events)], ["goroutines", digits(r.goroutines)],
      ["goroutines running", digits(r.mean_running) + " on average"], ["processors busy", `${digits(r.mean_busy)} of ${r.gomaxprocs}`],
    ].map(([k, v]) => h("div", null, h("dt", null, k), h("dd", null, v)))),
    h("p", null, link("trace", "the trace over time"), " · ", link("requests", "requests"), " · ", link("timeline", "timeline"), ...(r.remarks || []).map((/** @type {any} */ m) => h("p", null, m.text))),
    h("h2", null, "Where goroutines spend their time"),
    table([
      { head: "time", of: (x) => x.seconds, text: (x) => seconds(x.seconds), number: true },
      { head: "times", of: (x) => x.count, text: (x) => digits(x.count), number: true },
      { head: "longest", of: (x) => x.max_seconds, text: (x) => seconds(x.max_seconds), number: true },
      { head: "what", of: (x) => x.what }, { head: "why", of: (x) => x.why || "" },
    ], r.goroutine_time || []),
  ];
}

async function recording() {
  const q = new URLSearchParams({ src: source().id });
  const m = await manifest();
  const observer = (/** @type {any} */ p) => {
    const o = p.observer, seen = [];
    if (!o) { // phases that use their own build have none: their factor explains why
      const each = (/** @type {any} */ x) => (x && !m.target?.bench ? x.cpu_seconds / Math.max(x.requests || 0, x.runs || 0) : NaN);
      const factor = each(p) / each((m.phases || []).find((/** @type {any} */ x) => x.name === "clean"));
      return builtOtherwise.includes(p.name) && factor > 0 && Number.isFinite(factor) ? `×${factor.toPrecision(2)} CPU` : "";
    }
    const signed = (/** @type {number} */ x) => (x >= 0 ? "+" : "−") + percent(Math.abs(x));
    if (!o.no_throughput && (o.throughput_low > 0 || o.throughput_high < 0)) seen.push(`${signed(-o.throughput_loss)} throughput`);
    if (!o.no_cpu && (o.cpu_growth_low > 0 || o.cpu_growth_high < 0)) seen.push(`${signed(o.cpu_growth)} CPU`);
    return seen.join(", ") || "no effect seen";
  };
  return [
    h("dl.figures", null, [
      ["recorded", (m.created || "").slice(0, 19).replace("T", " ") + " UTC"], ["target", [/(^|\/)\.\.?\/?$/.test(m.target?.arg || "") && m.target.import_path || m.target?.arg, ...(m.target?.args || [])].filter(Boolean).join(" ")],
      ["Go", m.runtime?.go], ["machine", [m.machine?.cpu, m.machine?.cores && m.machine.cores + " cores", m.machine?.kernel].filter(Boolean).join(" · ")],
      ["load", m.load ? [m.load.connections && m.load.connections + " connections", m.load.rate ? m.load.rate + " requests/s" : "closed loop", ...(m.load.targets || [])].filter(Boolean).join(" · ") : ""],
    ].filter(([, v]) => v).map(([k, v]) => h("div", null, h("dt", null, k), h("dd", null, v)))),
    h("h2", null, "Phases"),
    table([
      { head: "phase", of: (p) => p.name }, { head: "seconds", of: (p) => p.seconds || 0, text: (p) => digits(p.seconds || 0), number: true },
      { head: "requests", of: (p) => p.requests || 0, text: (p) => (p.requests ? digits(p.requests) : ""), number: true },
      { head: "CPU seconds", of: (p) => p.cpu_seconds || 0, text: (p) => digits(p.cpu_seconds || 0), number: true },
      { head: "overhead", of: observer },
    ], m.phases || []),
    h("h2", null, "Parts"),
    table([
      { head: "file", of: (p) => p.name, cell: (p) => h("a", { href: `/part/${p.name}?${q}`, download: p.name.split("/").pop() }, p.name) },
      { head: "bytes", of: (p) => p.bytes, text: (p) => quantity(p.bytes, "bytes"), number: true },
    ], m.parts || []),
    (m.missing || []).map((/** @type {any} */ p) => h("p.note", null, `${p.part}: ${p.why}`)),
    (m.notes || []).map((/** @type {any} */ n) => h("p.note", null, "note: " + (n.text || n))),
  ].flat();
}

function basePicker(/** @type {any} */ view) {
  const q = state(), now = source().id;
  return h("p", null, "old side: ", h("select", { "aria-label": "old side", onchange: (/** @type {any} */ e) => go(address(view, { base: e.target.value })) },
    h("option", { value: "" }, "choose"), allSources().map((s, i) => (s.id === now ? null : h("option", { value: s.id, selected: s.id === q.get("base") || String(i) === q.get("base") }, s.name)))),
    ` · new side: ${source().name}`);
}

/** The sign of a change with a verdict: more of a metric may be better. @param {any} x a row of hone compare */
function direction(x) {
  return x.verdict === "better" || x.verdict === "worse" ? (x.ratio < 1 ? "▼ " : "▲ ") : "";
}

async function compare() {
  if (!state().get("base")) return basePicker("compare");
  const r = await ask("compare");
  const value = (/** @type {any} */ x, /** @type {any} */ unit) => quantity(x, unit === "s" || unit.startsWith("s/") ? "seconds" : unit.startsWith("B/") ? "bytes" : "count");
  return [basePicker("compare"), table([
    { head: "of", of: (x) => x.name || "" },
    { head: "metric", of: (x) => `${x.metric} ${x.unit}` },
    { head: "old", of: (x) => x.old, text: (x) => value(x.old, x.unit), number: true },
    { head: "new", of: (x) => x.new, text: (x) => value(x.new, x.unit), number: true },
    { head: "change", of: (x) => x.ratio ?? 1, text: (x) => (x.ratio === undefined ? "" : (x.ratio >= 1 ? "+" : "") + percent(x.ratio - 1)), number: true },
    { head: "95 %", of: (x) => x.low ?? 0, text: (x) => (x.low === undefined ? (x.exact ? "exact" : "") : `${percent(x.low - 1)} to ${percent(x.high - 1)}`), number: true },
    { head: "±", of: (x) => x.floor ?? 0, text: (x) => (x.floor ? percent(x.floor) : ""), number: true },
    { head: "verdict", of: (x) => x.verdict, text: (x) => direction(x) + x.verdict, cell: (x) => h(`span.${x.verdict}.said`, null, direction(x) + x.verdict) },
  ], r.rows || []), ...(r.notes || []).map((/** @type {any} */ n) => h("p.note", null, "note: " + n))];
}

async function diff() {
  if (!state().get("base")) return basePicker("diff");
  const r = await ask("diff");
  const cost = (/** @type {number} */ x) => (r.unit === "share" ? percent(x) : quantity(x, r.unit === "s" ? "seconds" : r.unit === "B" ? "bytes" : "count"));
  const moved = (/** @type {any} */ x) => x.difference?.value ?? x.new - x.old;
  return [basePicker("diff"), h("p", null, "the difference as: ", ["flame", "graph", "top"].map((v, i) => [i ? " · " : "", link(v, ["flame graph", "call graph", "table of flat and cum"][i])])), table([
    { head: "old", of: (x) => x.old, text: (x) => cost(x.old), number: true },
    { head: "new", of: (x) => x.new, text: (x) => cost(x.new), number: true },
    { head: "difference", of: moved, text: (x) => (moved(x) > 0 ? "+" : "") + cost(moved(x)), number: true },
    { head: "95 %", of: (x) => x.difference?.low ?? 0, text: (x) => (x.difference?.low === undefined ? "" : `${cost(x.difference.low)} to ${cost(x.difference.high)}`), number: true },
    { head: "verdict", of: (x) => x.verdict, cell: (x) => verdict(x.verdict) },
    { head: "function", of: (x) => x.function || x.file || "", cell: (x) => (x.function ? link("source", x.function, { fn: x.function }) : x.file || "") },
  ], r.rows || [], { note: [r.sample_type, r.per ? "per " + r.per : "", "charged to the function itself, including the runtime's work for it"].filter(Boolean).join(", ") }), h("p.note", null, "▼ blue costs less than before, ▲ orange costs more; unknown means that the difference may be due to chance.")];
}

/** @type {Object<string, {title: string, kinds: string[], filters?: boolean, pair?: boolean, under?: string, draw: () => any}>} */
export const views = {
  findings: { title: "Findings", kinds: ["recording"], draw: findings },
  trace: { title: "Trace", kinds: ["trace", "recording"], draw: trace },
  flame: { title: "Flame", kinds: profiles, filters: true, draw: () => frame("flame", "flame graph") },
  graph: { title: "Graph", kinds: profiles, filters: true, draw: () => frame("graph", "call graph") },
  top: { title: "Top", kinds: profiles, filters: true, draw: top },
  source: { title: "Source", kinds: profiles, filters: true, draw: listing },
  peek: { title: "Peek", kinds: profiles, filters: true, draw: peek },
  disasm: { title: "Disassembly", kinds: profiles, filters: true, draw: disassembly },
  load: { title: "Load", kinds: ["recording"], draw: load },
  requests: { title: "Requests", kinds: ["recording", "trace"], draw: requests },
  request: { title: "Request", kinds: ["recording", "trace"], under: "requests", draw: request },
  summary: { title: "Trace in words", kinds: ["recording", "trace"], under: "trace", draw: summary },
  timeline: { title: "Timeline", kinds: ["recording", "trace"], under: "trace", draw: () => frame("timeline", "timeline") },
  compare: { title: "Compare", kinds: ["recording"], pair: true, draw: compare },
  diff: { title: "Diff", kinds: ["recording", "profile"], filters: true, pair: true, draw: diff },
  history: { title: "History", kinds: ["history"], draw: history },
  recording: { title: "Recording", kinds: ["recording"], draw: recording },
  live: { title: "Live", kinds: ["service", "run"], draw: live },
};
