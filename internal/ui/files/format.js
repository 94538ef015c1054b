// Formats values. Units are those of the commands' JSON.

/** @param {number} x @returns {string} three significant digits */
export function digits(x) {
  const a = Math.abs(x);
  if (a === 0) return "0";
  if (a >= 100) return Math.round(x).toLocaleString("en");
  return String(Number(x.toPrecision(3)));
}

/** @param {number} ns */
export function nanoseconds(ns) {
  const a = Math.abs(ns);
  if (a === 0) return "0 s";
  if (a >= 1e9) return digits(ns / 1e9) + " s";
  if (a >= 1e6) return digits(ns / 1e6) + " ms";
  if (a >= 1e3) return digits(ns / 1e3) + " µs";
  return digits(ns) + " ns";
}

/** The nanoseconds of a duration as Go writes it: "1.5ms". @param {string} text */
export function duration(text) {
  const units = /** @type {Object<string, number>} */ ({ ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 });
  return [...text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)].reduce((sum, [, n, unit]) => sum + Number(n) * units[unit], 0);
}

/** @param {number} b */
export function bytes(b) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; Math.abs(b) >= 1024 && i < units.length - 1; i++) b /= 1024;
  return digits(b) + " " + units[i];
}

/** @param {number} share 0 to 1 */
export function percent(share) {
  const p = 100 * share;
  return (Math.abs(p) >= 10 ? Math.round(p).toString() : p.toFixed(1)) + " %";
}

/** @param {number} value @param {string} unit as of a profile's sample type */
export function quantity(value, unit) {
  if (unit === "nanoseconds") return nanoseconds(value);
  if (unit === "seconds") return nanoseconds(value * 1e9);
  if (unit === "bytes") return bytes(value);
  return digits(value);
}

/**
 * A value of a metric whose unit is as in benchmarks and histories: "ns/op", or with a name before it, "cpu s/request".
 * @param {number} value @param {string} unit
 */
export function measured(value, unit) {
  const [base, ...per] = (unit.split(" ").at(-1) || "").split("/"), rest = per.map((p) => "/" + p).join("");
  if (base === "s" || base === "sec") return nanoseconds(value * 1e9) + rest;
  if (base === "ns") return nanoseconds(value) + rest;
  if (base === "B") return bytes(value) + rest;
  return digits(value) + " " + base + rest;
}
