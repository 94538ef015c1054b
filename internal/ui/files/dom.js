// Elements. Text is only ever set as text: names in profiles are data.

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
 * A table that sorts by its heads, searches, and copies as text.
 * @param {Array<{head: string, of: (row: any) => any, text?: (row: any) => string, cell?: (row: any) => any, number?: boolean}>} columns
 * @param {Array<any>} rows
 * @param {string} [note]
 */
export function table(columns, rows, note) {
  let by = -1, down = true, search = "";
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
  const draw = () => body.replaceChildren(...shown().map((row) => h("tr", null, columns.map((c) => {
    const content = c.cell ? c.cell(row) : text(c, row);
    return h(c.number ? "td.n" : "td.name", null, content);
  }))));
  const heads = columns.map((c, i) => h(c.number ? "th.n" : "th", null, h("button", { type: "button", onclick: () => {
    down = by === i ? !down : Boolean(c.number);
    by = i;
    draw();
  } }, c.head)));
  draw();
  return h("div", null,
    h("div.tools", null,
      h("input", { type: "search", placeholder: "search", "aria-label": "search", oninput: (/** @type {any} */ e) => { search = e.target.value.toLowerCase(); draw(); } }),
      h("button", { type: "button", onclick: () => navigator.clipboard.writeText(
        [columns.map((c) => c.head), ...shown().map((row) => columns.map((c) => text(c, row)))].map((r) => r.join("\t")).join("\n")) }, "copy"),
      note ? h("span.note", null, note) : null),
    h("table.rows", null, h("thead", null, h("tr", null, heads)), body));
}
