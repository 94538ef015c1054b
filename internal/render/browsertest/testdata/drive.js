// What the scripts of tests use: the page under test is in a frame of the same origin.
const frame = document.getElementById("f"), seen = [], errors = [];
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const see = (What, Got) => seen.push({ What, Got: typeof Got === "string" ? Got : JSON.stringify(Got) });
const doc = () => frame.contentDocument;
const at = (name) => new URL(frame.contentWindow.location).searchParams.get(name);
const text = (selector) => doc().querySelector(selector)?.textContent ?? "";

// Waits until something is true, and returns it.
async function until(what, of) {
  for (let i = 0; i < 1500; i++) {
    const got = of();
    if (got) return got;
    await sleep(20);
  }
  throw new Error("waited in vain for " + what);
}

// Waits until the page has drawn its view.
const drawn = () => until("the view", () => doc()?.body?.dataset.state === "drawn" && doc().getElementById("main"));

async function settled() {
  await sleep(60);
  return drawn();
}

async function open(to) {
  const loaded = new Promise((r) => { frame.onload = r; });
  frame.src = to;
  await loaded;
  frame.contentWindow.addEventListener("error", (e) => errors.push(e.message));
  frame.contentWindow.addEventListener("unhandledrejection", (e) => errors.push(String(e.reason)));
  frame.contentWindow.console.error = (...args) => errors.push(args.join(" "));
  return drawn();
}

async function press(...keys) {
  for (const key of keys) {
    (doc().activeElement || doc().body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await settled();
  }
}

// The tables of the page, as lists of rows of texts.
const tables = () => [...doc().querySelectorAll("main table")].map((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent)));
