// Boxes as columns, and the queries of them that need no screen.

/**
 * @typedef {{depth: number[], code: number[], width: number[], self: number[], value?: number[], dropped: number}} TreeData
 * @typedef {{source: string, type: string, duration?: string, total: number, step: number,
 *   units: [number, string][], packages: [string, number, number][],
 *   functions: [number, string, number, number][], callees: TreeData | null, callers: TreeData | null}} Data
 */

/** Boxes in depth-first order: a parent, its first child and everything below that, its second child. */
export class Tree {
  /** @param {TreeData} data */
  constructor(data) {
    const n = data.depth.length;
    this.depth = data.depth;
    this.width = data.width;
    this.self = data.self;
    this.value = data.value ?? data.width;
    this.signed = data.value !== undefined;
    this.dropped = data.dropped;
    /** Numbers of the functions, -1 for the root. */
    this.fn = data.code.map((c) => (c < 0 ? -1 : c >> 1));
    this.inlined = data.code.map((c) => c >= 0 && (c & 1) === 1);
    /** @type {number[]} */
    this.x = new Array(n).fill(0);
    /** @type {number[]} */
    this.parent = new Array(n).fill(-1);
    /** The first box behind everything below. @type {number[]} */
    this.end = new Array(n).fill(n);
    /** The boxes of each depth, from left to right. @type {number[][]} */
    this.rows = [];
    const open = []; // the path to the box at hand
    const right = []; // where the next child of each of them begins
    for (let i = 0; i < n; i++) {
      const d = this.depth[i];
      while (open.length > d) {
        this.end[/** @type {number} */ (open.pop())] = i;
        right.pop();
      }
      if (d > 0) {
        this.parent[i] = open[d - 1];
        this.x[i] = right[d - 1];
        right[d - 1] += this.width[i];
      }
      open.push(i);
      right.push(this.x[i]);
      (this.rows[d] ??= []).push(i);
    }
  }

  /** The box of a row at a place, or -1. @param {number} row @param {number} x */
  at(row, x) {
    const boxes = this.rows[row] ?? [];
    const i = boxes[this.firstFrom(row, x)] ?? -1;
    return i >= 0 && this.x[i] <= x ? i : -1;
  }

  /** The place in a row of the first box that ends right of x. @param {number} row @param {number} x */
  firstFrom(row, x) {
    const boxes = this.rows[row] ?? [];
    let low = 0;
    let high = boxes.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.x[boxes[mid]] + this.width[boxes[mid]] > x) high = mid;
      else low = mid + 1;
    }
    return low;
  }

  /** Children of a box, from left to right. @param {number} i */
  children(i) {
    const out = [];
    for (let c = i + 1; c < this.end[i]; c = this.end[c]) out.push(c);
    return out;
  }

  /**
   * Width of the boxes with a wanted function, each sample counted once.
   * @param {boolean[]} wanted by function
   */
  matched(wanted) {
    let sum = 0;
    for (let i = 0; i < this.fn.length; ) {
      if (wanted[this.fn[i]]) {
        sum += this.width[i];
        i = this.end[i];
      } else i++;
    }
    return sum;
  }

  /** The topmost boxes of a function: one for each sample that has it. @param {number} fn */
  topmost(fn) {
    const out = [];
    for (let i = 0; i < this.fn.length; ) {
      if (this.fn[i] === fn) {
        out.push(i);
        i = this.end[i];
      } else i++;
    }
    return out;
  }
}

/**
 * A node of a trie under construction.
 * @typedef {{fn: number, width: number, self: number, value: number, plain: boolean, below: Map<number, Node>}} Node
 */

/** @param {number} fn @returns {Node} */
const newNode = (fn) => ({ fn, width: 0, self: 0, value: 0, plain: false, below: new Map() });

/**
 * What a function calls and what calls it, as two trees with the function at their
 * roots. Both come from the tree of callees, so boxes that it lacks are
 * missing here too.
 * @param {Tree} tree @param {number} fn
 * @returns {{callees: Tree, callers: Tree}}
 */
export function sandwich(tree, fn) {
  const callees = newNode(fn);
  const callers = newNode(fn);
  for (const top of tree.topmost(fn)) {
    const path = [callees];
    for (let i = top; i < tree.end[top]; i++) {
      const d = tree.depth[i] - tree.depth[top];
      if (d > 0) {
        const above = path[d - 1];
        path[d] = above.below.get(tree.fn[i]) ?? newNode(tree.fn[i]);
        above.below.set(tree.fn[i], path[d]);
      }
      count(path[d], tree, i, tree.width[i], tree.value[i], tree.self[i]);
    }
    let at = callers;
    count(at, tree, top, tree.width[top], tree.value[top], 0);
    for (let i = tree.parent[top]; i > 0; i = tree.parent[i]) {
      const next = at.below.get(tree.fn[i]) ?? newNode(tree.fn[i]);
      at.below.set(tree.fn[i], next);
      count(next, tree, i, tree.width[top], tree.value[top], 0);
      at = next;
    }
  }
  return { callees: flatten(callees, tree.signed), callers: flatten(callers, tree.signed) };
}

/** @param {Node} n @param {Tree} tree @param {number} i @param {number} width @param {number} value @param {number} self */
function count(n, tree, i, width, value, self) {
  n.width += width;
  n.value += value;
  n.self += self;
  n.plain ||= !tree.inlined[i];
}

/** @param {Node} root @param {boolean} signed */
function flatten(root, signed) {
  /** @type {TreeData} */
  const data = { depth: [], code: [], width: [], self: [], dropped: 0 };
  if (signed) data.value = [];
  /** @type {[Node, number][]} */
  const walk = [[root, 0]];
  for (let at = walk.pop(); at; at = walk.pop()) {
    const [n, depth] = at;
    data.depth.push(depth);
    data.code.push(2 * n.fn + (n.plain ? 0 : 1));
    data.width.push(n.width);
    data.self.push(n.self);
    data.value?.push(n.value);
    const below = [...n.below.values()].sort((a, b) => a.width - b.width); // the last is popped first
    for (const c of below) walk.push([c, depth + 1]);
  }
  return new Tree(data);
}

/**
 * Which functions match. An expression without capitals ignores case.
 * @param {Data} data @param {string} query @returns {boolean[]} throws a SyntaxError
 */
export function search(data, query) {
  const re = new RegExp(query, /[A-Z]/.test(query.replace(/\\[A-Z]/g, "")) ? "" : "i");
  return data.functions.map((_, i) => re.test(fullName(data, i)));
}

/** @param {Data} data @param {number} fn */
export function fullName(data, fn) {
  if (fn < 0) return "all";
  const [pkg, rest] = data.functions[fn];
  return data.packages[pkg][0] + rest;
}

/** The name without the paths before the package and before the file. @param {Data} data @param {number} fn */
export function shortName(data, fn) {
  if (fn < 0) return "all";
  const [pkg, rest] = data.functions[fn];
  return (data.packages[pkg][0] + rest).replace(/^(?:[^ [(]*\/)?([^ [(\/]+)\/v\d+\./, "$1.").replace(/^[^ [(]*\//, "").replace(/ [^ [(]*\//, " ");
}

/** The mark of a box in a difference of profiles: "▲ " costs more, "▼ " costs less, "" neither. @param {Tree} tree @param {number} box */
export function sign(tree, box) {
  if (!tree.signed || tree.value[box] === 0) return "";
  return tree.value[box] > 0 ? "▲ " : "▼ ";
}

/** A value with the largest unit of which it is at least one. @param {Data} data @param {number} v */
export function formatValue(data, v) {
  const base = v * data.step;
  let [factor, label] = data.units[0];
  for (const [f, l] of data.units) if (Math.abs(base) >= f) [factor, label] = [f, l];
  const text = (base / factor).toFixed(2).replace(/\.00$/, "");
  return Number(text) === 0 ? "0" : text + label;
}

/** @param {number} part @param {number} whole */
export function formatShare(part, whole) {
  if (!whole) return "0 %";
  const p = (100 * part) / whole;
  return (Math.abs(p) >= 9.95 ? p.toFixed(1) : p.toFixed(2)) + " %";
}
