const svg = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.documentElement)), box = svg.viewBox.baseVal;
const whole = [box.x, box.y, box.width, box.height];
/** @param {number[]} corner and size */
const view = (...corner) => svg.setAttribute('viewBox', corner.join(' '));

/** The point of the picture under the mouse. @param {MouseEvent} event @returns {DOMPoint} */
function at(event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM()?.inverse());
}

svg.addEventListener('wheel', event => {
  event.preventDefault();
  zoom(Math.exp(event.deltaY / 500), at(event));
}, { passive: false });

/** Where the picture is held. @type {DOMPoint | null} */
let grip = null;
let moved = false;
svg.addEventListener('mousedown', event => { grip = at(event); moved = false; });
svg.addEventListener('mousemove', event => {
  if (!grip || !event.buttons) return;
  const p = at(event);
  if (p.x === grip.x && p.y === grip.y) return;
  moved = true;
  view(box.x + grip.x - p.x, box.y + grip.y - p.y, box.width, box.height);
});
svg.addEventListener('mouseup', () => { grip = null; });
svg.addEventListener('dblclick', () => view(...whole));

// In a frame of hone ui, a large graph starts at a size at which its text is readable; 0 shows all of it.
const framed = parent !== window;
const readable = 0.95; // pixels per unit; the smallest text has 12 units
if (framed && Math.min(innerWidth / whole[2], innerHeight / whole[3]) < readable) {
  const [width, height] = [innerWidth / readable, innerHeight / readable];
  view(Math.min(whole[0] + whole[2] - width, Math.max(whole[0], whole[0] + (whole[2] - width) / 2)), whole[1], width, height);
}

// A click on a box highlights its callers and callees; a click elsewhere shows everything again.
svg.addEventListener('click', event => {
  if (moved) return;
  choose(/** @type {SVGElement | null} */ (/** @type {Element} */ (event.target).closest('.node')));
});

/** @param {SVGElement | null} node */
function choose(node) {
  for (const e of document.querySelectorAll('.joined, .chosen')) e.classList.remove('joined', 'chosen');
  svg.classList.toggle('choosing', node !== null);
  if (!node) return;
  const id = node.dataset.node;
  node.classList.add('joined', 'chosen');
  /** @type {NodeListOf<SVGElement>} */
  const edges = document.querySelectorAll(`.edge[data-from="${id}"], .edge[data-to="${id}"]`);
  for (const e of edges) {
    e.classList.add('joined');
    for (const end of [e.dataset.from, e.dataset.to]) document.querySelector(`.node[data-node="${end}"]`)?.classList.add('joined');
  }
}

/** @param {number} by @param {DOMPoint | {x: number, y: number}} p what stays in place */
const zoom = (by, p = { x: box.x + box.width / 2, y: box.y + box.height / 2 }) => view(p.x - (p.x - box.x) * by, p.y - (p.y - box.y) * by, box.width * by, box.height * by);
/** @param {number} x @param {number} y in tenths of the visible part */
const pan = (x, y) => view(box.x + box.width * x / 10, box.y + box.height * y / 10, box.width, box.height);
const focused = () => /** @type {SVGElement | null} */ (document.activeElement?.closest('.node') || document.querySelector('.node.chosen'));
/** Tab goes from box to box. @type {Record<string, () => void>} */
const keys = {
  Escape: () => choose(null), 0: () => view(...whole), Enter: () => choose(focused()),
  ArrowLeft: () => pan(-1, 0), ArrowRight: () => pan(1, 0), ArrowUp: () => pan(0, -1), ArrowDown: () => pan(0, 1),
  '+': () => zoom(0.8), '=': () => zoom(0.8), '-': () => zoom(1 / 0.8),
};
// Keys without a meaning here may have one in the page of hone ui that contains this page: after g comes the letter of a view.
let jumping = false;
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = jumping ? undefined : keys[event.key];
  if (act) {
    event.preventDefault();
    return act();
  }
  if (!framed || event.key.length > 1) return;
  const fn = focused()?.dataset.function;
  if (event.key === 'l' && !jumping && fn) return parent.postMessage({ hone: 'source', fn }, '*');
  jumping = event.key === 'g' && !jumping;
  parent.postMessage({ hone: 'key', key: event.key }, '*');
});
