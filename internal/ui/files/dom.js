// Elements. Text is always set as text, never as markup, because names in profiles are data.

/**
 * @param {string} tag name, with classes: "td.n"
 * @param {Object<string, any>|null} props attributes; on… are listeners
 * @param {...(Node|string|number|null|undefined|Array<any>)} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  const e = document.createElement(name);
  if (classes.length) e.className = classes.join(" ");
  for (const [k, v] of Object.entries(props || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : String(v));
  }
  for (const c of children.flat(Infinity)) {
    if (c !== null && c !== undefined) e.append(c instanceof Node ? c : String(c));
  }
  return e;
}

/**
 * A table that can be sorted by its heads, searched, and copied as text.
 * @typedef {{head: string, of: (row: any) => any, text?: (row: any) => string, cell?: (row: any) => any, number?: boolean, bar?: (row: any) => number}} Column
 * @param {Column[]} columns bar is a share from 0 to 1 that is drawn behind the text
 * @param {Array<any>} rows
 * @param {{note?: string, plain?: boolean, most?: number}} [o] plain: without search; most: number of rows to show at first
 */
export function table(columns, rows, o = {}) {
  let by = -1, down = true, search = "", most = o.most || Infinity;
  const body = h("tbody", null);
  const text = (/** @type {any} */ c, /** @type {any} */ row) => (c.text ? c.text(row) : String(c.of(row) ?? ""));
  const shown = () => {
    let out = rows.filter((row) => !search || columns.some((c) => text(c, row).toLowerCase().includes(search)));
    if (by >= 0) {
      const key = columns[by].of;
      out = out.slice().sort((a, b) => {
        const x = key(a), y = key(b);
        const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
        return down ? -order : order;
      });
    }
    return out;
  };
  const more = h("button", { type: "button", onclick: () => { most = Infinity; draw(); } });
  const draw = () => {
    const all = shown();
    body.replaceChildren(...all.slice(0, most).map((row) => h("tr", null, columns.map((c) => {
      const cell = h(c.number ? "td.n" : text(c, row).length > 48 ? "td.name.long" : "td.name", null, c.cell ? c.cell(row) : text(c, row));
      if (c.bar) {
        cell.classList.add("bar");
        cell.style.setProperty("--w", `${Math.max(0, Math.min(1, c.bar(row) || 0)) * 100}%`);
      }
      return cell;
    }))));
    more.hidden = all.length <= most;
    more.textContent = `all ${all.length} rows`;
    heads.forEach((head, i) => (i === by ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
  };
  const heads = columns.map((c, i) => h(c.number ? "th.n" : "th", { scope: "col" }, c.head ? h("button", { type: "button", onclick: () => {
    down = by === i ? !down : Boolean(c.number);
    by = i;
    draw();
  } }, c.head) : null));
  draw();
  const copy = h("button", { type: "button", title: "copy the rows as text", onclick: () => copyText(
    // A name may contain line ends, but each row is one line.
    [columns.map((c) => c.head), ...shown().map((row) => columns.map((c) => text(c, row).replace(/[\t\r\n]+/g, " ")))].map((r) => r.join("\t")).join("\n")) }, "copy");
  return h("div", null,
    o.plain ? null : h("div.tools", null,
      h("input", { type: "search", placeholder: "search", "aria-label": "search", oninput: (/** @type {any} */ e) => { search = e.target.value.toLowerCase(); draw(); } }),
      copy, o.note ? h("span.note", null, o.note) : null),
    h("table.rows", null, h("thead", null, h("tr", null, heads)), body),
    o.plain ? h("div.tools", null, copy, more, o.note ? h("span.note", null, o.note) : null) : more);
}

/** Copies a text. Browsers have the clipboard's interface only for loopback and https. @param {string} text */
function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = /** @type {HTMLTextAreaElement} */ (h("textarea", { "aria-label": "text to copy" }));
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
