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
  const p = at(event), by = Math.exp(event.deltaY / 500);
  view(p.x - (p.x - box.x) * by, p.y - (p.y - box.y) * by, box.width * by, box.height * by);
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

// A click on a box shows what it is joined to; elsewhere, everything again.
svg.addEventListener('click', event => {
  if (moved) return;
  for (const e of document.querySelectorAll('.joined, .chosen')) e.classList.remove('joined', 'chosen');
  const node = /** @type {SVGElement | null} */ (/** @type {Element} */ (event.target).closest('.node'));
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
});
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') svg.dispatchEvent(new MouseEvent('click'));
  if (event.key === '0') view(...whole);
});
