// Uses the page as a person does and leaves what it saw in the document.
const seen = [];
const see = (what, got) => seen.push({ What: what, Got: String(got) });
const key = (k) => document.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
const board = document.getElementById("canvas");
const painted = () => {
  const pixels = board.getContext("2d").getImageData(0, 0, board.width, board.height).data;
  let n = 0;
  for (let i = 0; i < pixels.length; i += 4) if (pixels[i] === 0x3f && pixels[i + 1] === 0x9b && pixels[i + 2] === 0x57) n++;
  return n;
};
const note = () => document.getElementById("note").textContent;
const pointer = (type, x, y) => board.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y + board.getBoundingClientRect().top, bubbles: true, pointerId: 1 }));

see("title", document.getElementById("title").textContent);
see("green", painted() > 500);
see("note", note());
key("ArrowDown"); key("ArrowDown");
see("second row", document.getElementById("status").textContent);
const wide = painted();
key("+");
see("zoomed", note());
see("green grew", painted() !== wide);
key("0");
see("all", note());
pointer("pointermove", 300, 26 + 20 + 10);
see("tip", document.getElementById("tip").textContent.replaceAll("\n", " | "));
key("t");
see("theme", document.documentElement.dataset.theme);
key("?");
see("help", document.getElementById("keys").open);
const out = document.createElement("pre");
out.id = "seen";
out.textContent = JSON.stringify(seen);
document.body.append(out);
