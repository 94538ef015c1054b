// Uses the picture as a person does, and writes down what comes of it.
const seen = [];
const note = (what, got) => seen.push({ what, got: String(got) });
const fire = (target, type, more) => target.dispatchEvent(new (type === 'wheel' ? WheelEvent : MouseEvent)(type, { bubbles: true, cancelable: true, ...more }));
const joined = () => [...document.querySelectorAll('.node.joined .name')].map(t => t.textContent).sort().join(' ');
const node = name => [...document.querySelectorAll('.node')].find(n => n.querySelector('.name').textContent === name);
const start = svg.getAttribute('viewBox');

fire(node('(*Server).serve').querySelector('.box'), 'click');
note('joined', joined());
note('calls', document.querySelectorAll('.edge.joined').length);
document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
note('escape', svg.classList.contains('choosing') + joined());

fire(svg, 'wheel', { deltaY: -500, clientX: 300, clientY: 300 });
note('zoomed in', box.width < whole[2] / 2 && Math.abs(box.width / box.height - whole[2] / whole[3]) < 0.01);
const before = at({ clientX: 300, clientY: 300 });
fire(svg, 'mousedown', { clientX: 300, clientY: 300 });
fire(svg, 'mousemove', { clientX: 350, clientY: 320, buttons: 1 });
fire(svg, 'mouseup', { clientX: 350, clientY: 320 });
const after = at({ clientX: 350, clientY: 320 });
note('dragged with the pointer', Math.hypot(after.x - before.x, after.y - before.y) < 0.01);
fire(node('main').querySelector('.box'), 'click');
note('a drag is not a click', joined());
document.dispatchEvent(new KeyboardEvent('keydown', { key: '0' }));
note('whole again', svg.getAttribute('viewBox') === start);

const press = key => document.dispatchEvent(new KeyboardEvent('keydown', { key }));
press('+');
note('+ zooms in', box.width < whole[2]);
const x = box.x;
press('ArrowRight');
note('arrows move', box.x > x);
node('main').focus();
press('Enter');
note('enter chooses', joined() !== '');
press('Escape');
press('0');

const result = document.createElementNS('http://www.w3.org/2000/svg', 'desc');
result.id = 'seen';
result.textContent = JSON.stringify(seen);
svg.append(result);
