const { charts, config } = JSON.parse(document.getElementById("specs").textContent);
const RETRY_MS = 2000;
const FIELDS = ["row", "y", "forecast", "low", "high", "memory"];
const element = (id) => document.getElementById(id);
const views = {};
let rows = [], changes = [], watching = 0;

const headers = () => {
  const token = sessionStorage.getItem("thalweg-token");
  return token ? { Authorization: `Bearer ${token}` } : {};
};
const say = (sentence, state = "ok") => {
  element("status").textContent = sentence;
  element("status").dataset.state = state;
};
const number = (value) => value === null || value === undefined ? "–"
  : Math.abs(value) >= 1e15 ? value.toExponential(2) : value.toLocaleString("en", { maximumSignificantDigits: 4 });
const isKnown = (value) => value !== null && value !== undefined;

// The browser's own EventSource sends no header, and so no token.
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2))
      if (text.startsWith("data: ")) yield JSON.parse(text.slice(6, end));
  }
}

async function watch(key) {
  const turn = ++watching;
  element("title").textContent = key;
  document.title = `${key} – thalweg live`;
  say("Connecting.");
  while (turn === watching) {
    try {
      const response = await fetch(`v1/models/${encodeURIComponent(key)}/events`, { headers: headers() });
      if (response.status === 401) return askForToken();
      if (!response.ok) return say((await response.json()).error, "error");
      for await (const event of events(response)) {
        if (turn !== watching) return;
        await take(event);
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // a TypeError: the connection was lost
    }
    if (turn === watching) say("The server does not answer. Trying again.", "error");
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function take(event) {
  if (event.is_first) { rows = []; changes = []; }
  for (const values of event.rows) rows.push(Object.fromEntries(FIELDS.map((field, k) => [field, values[k]])));
  rows = rows.slice(-MAX_ROWS);
  changes.push(...event.changes.map(([row, alarm, text]) => ({ row, alarm, text })));
  say(rows.length ? "Rows are shown as they come." : "Waiting for the first row of this key.");
  element("tiles").hidden = !rows.length;
  if (!rows.length) return;
  showTiles();
  await draw();
  document.documentElement.dataset.lastRow = rows.at(-1).row;
}

function showTiles() {
  const last = rows.at(-1), known = rows.filter(({ y }) => isKnown(y));
  const errors = known.map(({ y, forecast }) => Math.abs(y - forecast)).sort((a, b) => a - b);
  const banded = known.filter(({ low, high }) => isKnown(low) && isKnown(high));
  const inside = banded.filter(({ y, low, high }) => low <= y && y <= high);
  element("tile-rows").textContent = last.row.toLocaleString("en");
  element("tile-value").textContent = number(last.y);
  element("tile-forecast").textContent = `The forecast was ${number(last.forecast)}` +
    (isKnown(last.low) && isKnown(last.high) ? `, from ${number(last.low)} to ${number(last.high)}.` : ".");
  element("tile-error").textContent = number(errors[errors.length >> 1]); // the median
  element("tile-coverage").textContent = banded.length
    ? `${inside.length} of ${banded.length} values were in the band.` : "";
  element("tile-memory").textContent = number(last.memory);
  const change = changes.at(-1);
  element("tile-change").textContent = change ? `row ${change.row.toLocaleString("en")}` : "none";
  element("tile-change-text").textContent = change ? change.text : "";
}

async function draw() {
  const hasMemory = rows.some(({ memory }) => isKnown(memory));
  for (const [name, spec] of Object.entries(charts)) {
    if (name === "memory" && !hasMemory) continue;
    element(name).hidden = false;
    if (!views[name]) {
      const options = { config, renderer: "svg", actions: false, defaultStyle: false };
      const tooltip = { theme: "page", disableDefaultStyle: true };
      views[name] = (await vegaEmbed(`#${name}-chart`, spec, { ...options, tooltip })).view;
    }
    await update(name, views[name]);
  }
}

async function update(name, view) {
  const first = rows[0].row, last = Math.max(rows.at(-1).row, first + 1);
  view.signal("window_start", first).signal("window_end", last);
  if (name === "stream") {
    const values = rows.flatMap(({ y, forecast }) => [y, forecast]).filter(isKnown);
    const low = Math.min(...values), high = Math.max(...values);
    const space = 0.2 * (high - low) || Math.abs(low) || 1;
    view.signal("y_low", low - space).signal("y_high", high + space);
  } else {
    view.signal("memory_high", Math.max(10, ...rows.map(({ memory }) => memory ?? 1)));
  }
  view.data("rows", rows).data("changes", changes.filter(({ row }) => row >= first));
  await view.runAsync();
}

function askForToken() {
  element("token-label").hidden = false;
  element("token").focus();
  say("This server asks for its token.", "error");
}

async function listKeys() {
  const response = await fetch("v1/models", { headers: headers() });
  if (!response.ok) return;
  const { keys } = await response.json();
  element("keys").replaceChildren(...keys.map((key) => Object.assign(document.createElement("option"), { value: key })));
}

element("choice").addEventListener("submit", (event) => {
  event.preventDefault();
  const key = element("key").value, token = element("token").value;
  if (token) sessionStorage.setItem("thalweg-token", token);
  history.replaceState(null, "", `?key=${encodeURIComponent(key)}`);
  element("token-label").hidden = true;
  listKeys();
  watch(key);
});
const chosen = new URLSearchParams(location.search).get("key");
if (chosen) {
  element("key").value = chosen;
  watch(chosen);
}
listKeys().catch(() => {});
