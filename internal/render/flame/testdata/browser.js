// Drives the page as a person would, and writes what it saw for the test to read.
const byId = (id) => document.getElementById(id);
const seen = [];
const note = (what, got) => seen.push({ what, got: String(got) });
const status = () => byId("status").textContent;
const trail = () => byId("trail").textContent;
const press = (key) => byId("graph").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const presses = (...keys) => keys.forEach(press);
const type = (text) => {
  byId("search").value = text;
  byId("search").dispatchEvent(new Event("input"));
};
const canvas = byId("canvas");
const pointer = (kind, x, y) => {
  const area = canvas.getBoundingClientRect();
  const at = { clientX: area.left + x * area.width, clientY: area.top + y, bubbles: true, button: 0 };
  canvas.dispatchEvent(kind.startsWith("mouse") ? new MouseEvent(kind, at) : new PointerEvent(kind, at));
};
const pixel = (x, y) => {
  const ratio = canvas.width / canvas.clientWidth;
  return [...canvas.getContext("2d").getImageData(x * canvas.width, y * ratio, 1, 1).data].slice(0, 3).join(" ");
};
const row = 19;

try {
  note("title", byId("title").textContent);
  note("begin", status());
  note("painted", pixel(0.5, row * 1.5) !== pixel(0.5, canvas.clientHeight - 2));
  presses("ArrowDown", "ArrowDown", "ArrowDown");
  note("down", status());
  presses("ArrowDown", "ArrowRight");
  note("right", status());
  press("Enter");
  note("focus", trail());
  press("ArrowUp");
  note("up", status());
  press("Escape");
  note("escape", trail());
  type("mallocgc");
  note("search", byId("matched").textContent);
  byId("search").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", cancelable: true }));
  note("next match", status());
  type("(");
  note("bad search", byId("matched").textContent + ", valid " + byId("search").checkValidity());
  type("MALLOC");
  note("capitals count", byId("matched").textContent);
  press("Escape");
  note("cleared", byId("search").value + byId("matched").textContent);
  press("0");
  press("i");
  note("inverted", trail() + ": " + status());
  press("ArrowDown");
  note("leaf", status());
  press("s");
  note("sandwich", trail() + ": " + status());
  press("ArrowUp");
  note("caller", status());
  note("address", location.hash);
  press("0");
  pointer("pointerdown", 0.8, row * 1.5);
  pointer("pointerup", 0.8, row * 1.5);
  note("click", trail() + ": " + status());
  pointer("mousemove", 0.2, row * 3.5);
  note("tip", byId("tip").innerText.replace(/\s+/g, " "));
  byId("trail").querySelector("button").click();
  note("crumb", trail());
  const before = [document.documentElement.dataset.theme, pixel(0.5, row * 1.5)];
  press("t");
  const after = [document.documentElement.dataset.theme, pixel(0.5, row * 1.5)];
  note("theme", before[0] + " to " + after[0] + ", repainted " + (before[1] !== after[1]));
  press("?");
  note("help", byId("keys").open);
  byId("keys").close();
  note("loaded", performance.getEntriesByType("resource").length);
} catch (e) {
  note("exception", e.stack);
}
const out = document.createElement("pre");
out.id = "seen";
out.textContent = JSON.stringify(seen);
document.body.append(out);
