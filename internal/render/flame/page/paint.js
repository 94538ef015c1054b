import { Tree, shortName, sign } from "./tree.js";

// Draws trees on a canvas. Pixels are known here, events are not.

/**
 * A tree on the screen: its root is in row `row`, its children below it or, with dir -1, above.
 * @typedef {{tree: Tree, row: number, dir: 1 | -1}} Pane
 * @typedef {{panes: Pane[], rows: number, from: number, to: number,
 *   selected?: {pane: number, box: number}, wanted?: boolean[], doubtful?: Set<number>, dark: boolean, scroll: number}} Scene
 */

export const rowHeight = 19;
const font = '11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/**
 * @param {HTMLCanvasElement} canvas @param {import("./tree.js").Data} data @param {Scene} scene
 * @param {number} width @param {number} height in CSS pixels
 */
export function paint(canvas, data, scene, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  ctx.scale(ratio, ratio);
  ctx.textBaseline = "middle";
  ctx.font = font;
  const letter = ctx.measureText("m").width;
  const scale = width / (scene.to - scene.from);
  const first = Math.floor(scene.scroll / rowHeight);
  const last = Math.ceil((scene.scroll + height) / rowHeight);

  scene.panes.forEach((pane, number) => {
    for (let row = first; row <= last; row++) {
      const depth = (row - pane.row) * pane.dir;
      if (depth < 0 || (depth === 0 && number > 0)) continue; // the root is drawn once
      const boxes = pane.tree.rows[depth] ?? [];
      for (let at = pane.tree.firstFrom(depth, scene.from); at < boxes.length; at++) {
        const box = boxes[at];
        if (pane.tree.x[box] >= scene.to) break;
        const left = Math.max(0, (pane.tree.x[box] - scene.from) * scale);
        const right = Math.min(width, (pane.tree.x[box] + pane.tree.width[box] - scene.from) * scale);
        if (right - left < 0.3) continue;
        const chosen = scene.selected?.box === box && scene.selected.pane === number;
        paintBox(ctx, data, scene, pane.tree, box, { left, top: row * rowHeight - scene.scroll, width: right - left }, letter, chosen);
      }
    }
  });
}

/**
 * @param {CanvasRenderingContext2D} ctx @param {import("./tree.js").Data} data @param {Scene} scene
 * @param {Tree} tree @param {number} box @param {{left: number, top: number, width: number}} at
 * @param {number} letter width @param {boolean} chosen
 */
function paintBox(ctx, data, scene, tree, box, at, letter, chosen) {
  const fn = tree.fn[box];
  const wanted = !scene.wanted || (scene.wanted[fn] ?? false);
  const gap = at.width > 3 ? 1 : 0;
  // Boxes that contain more than the focus only show where it is.
  const around = tree.x[box] < scene.from || tree.x[box] + tree.width[box] > scene.to;
  ctx.globalAlpha = around ? 0.5 : 1;
  ctx.fillStyle = color(data, tree, box, scene, wanted);
  ctx.fillRect(at.left, at.top, at.width - gap, rowHeight - 1);
  if (chosen) {
    ctx.strokeStyle = scene.dark ? "#fff" : "#111";
    ctx.lineWidth = 2;
    ctx.strokeRect(at.left + 1, at.top + 1, Math.max(1, at.width - gap - 2), rowHeight - 3);
  }
  const letters = Math.floor((at.width - 8) / letter);
  ctx.globalAlpha = around ? 0.75 : 1;
  if (letters < 3) {
    ctx.globalAlpha = 1;
    return;
  }
  let text = sign(tree, box) + shortName(data, fn);
  if (text.length > letters) text = text.slice(0, letters - 1) + "…";
  ctx.font = tree.inlined[box] ? "italic " + font : font;
  ctx.fillStyle = scene.dark ? (wanted ? "#f0f2f5" : "#8d95a1") : wanted ? "#16191d" : "#767e8a";
  ctx.fillText(text, at.left + 4, at.top + rowHeight / 2 + 0.5);
  ctx.globalAlpha = 1;
}

/**
 * The package's colour; in a difference, orange for what costs more and blue for what costs less, which people with any
 * colour vision can tell apart, and paler where the difference may be chance.
 * @param {import("./tree.js").Data} data @param {Tree} tree @param {number} box
 * @param {Scene} scene @param {boolean} wanted
 */
function color(data, tree, box, scene, wanted) {
  const { dark } = scene;
  const fn = tree.fn[box];
  let [hue, saturation] = [220, 8];
  if (fn >= 0) [, hue, saturation] = data.packages[data.functions[fn][0]];
  let light = dark ? 34 : 77;
  if (dark) saturation *= 0.6; // strong colours glare on black
  if (tree.signed) {
    const moved = tree.width[box] ? tree.value[box] / tree.width[box] : 0;
    hue = moved > 0 ? 32 : 208;
    saturation = Math.abs(moved) * (dark ? 60 : 85) * (scene.doubtful?.has(fn) ? 0.3 : 1);
  }
  if (tree.inlined[box]) light += dark ? -7 : 8;
  if (!wanted) [saturation, light] = [4, dark ? 20 : 92];
  else if (scene.wanted) [hue, saturation, light] = [300, 70, dark ? 45 : 76];
  return `hsl(${hue} ${saturation}% ${light}%)`;
}
