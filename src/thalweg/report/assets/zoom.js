// Zooming in x. All charts of a section over the same rows or times show the same window of them, which the strip
// below the first of these charts shows in the whole. A chart takes part if its specification has "zoom" among its
// "usermeta": the column of x, and the columns that the y axis should hold, if it is to follow.
const LEAST_DRAG = 8; // pixels: a shorter one is a click
const LEAST_POINTS = 4; // that stay visible
const Y_PADDING = 0.12;
const windows = new Map(); // by section and limits of the x axis

class ZoomWindow {
  constructor(full, least) {
    this.full = full;
    this.least = least;
    this.current = full;
    this.charts = [];
    this.listeners = [];
  }

  get isZoomed() {
    return this.current[0] > this.full[0] || this.current[1] < this.full[1];
  }

  show(from, to) {
    const [first, last] = this.full;
    const span = Math.min(Math.max(to - from, this.least), last - first);
    const middle = (from + to) / 2;
    const start = Math.min(Math.max(middle - span / 2, first), last - span);
    this.current = [start, start + span];
    for (const chart of this.charts) showIn(chart, this.current);
    for (const listener of this.listeners) listener(this);
  }

  reset() {
    this.show(...this.full);
  }

  scale(factor, around = (this.current[0] + this.current[1]) / 2) {
    const [from, to] = this.current;
    this.show(around - (around - from) * factor, around + (to - around) * factor);
  }

  move(part) {
    const [from, to] = this.current;
    const step = Math.min(Math.max(part * (to - from), this.full[0] - from), this.full[1] - to);
    this.show(from + step, to + step);
  }
}

function showIn({ view, data, zoom }, [from, to]) {
  view.signal("window_start", from).signal("window_end", to);
  if (zoom.y.length) {
    const [low, high] = yLimits(data, zoom, from, to);
    if (high >= low) view.signal("y_low", low).signal("y_high", high);
  }
  view.runAsync();
}

function yLimits(data, zoom, from, to) {
  const [low, high] = zoom.y.map((name) => data[name]);
  let least = Infinity;
  let largest = -Infinity;
  data[zoom.x].forEach((x, k) => {
    if (x < from || x > to || low[k] === null) return;
    least = Math.min(least, low[k]);
    largest = Math.max(largest, high[k]);
  });
  const space = Y_PADDING * (largest - least) || Math.abs(least) || 1;
  return [least - space, largest + space];
}

// The area between the axes, as it lies on the screen.
const plotArea = (chart) => chart.querySelector("svg path.background").getBoundingClientRect();

function addZoom(id, spec, view) {
  const zoom = spec.usermeta?.zoom;
  if (!zoom) return;
  const figure = document.getElementById(id);
  const section = figure.closest("section");
  const data = spec.data.values[0];
  const full = [view.signal("window_start"), view.signal("window_end")];
  const key = `${section.id} ${full}`;
  if (!windows.has(key)) {
    const least = (LEAST_POINTS * (full[1] - full[0])) / Math.max(data[zoom.x].length, LEAST_POINTS);
    windows.set(key, new ZoomWindow(full, least));
  }
  const shown = windows.get(key);
  const chart = { view, data, zoom };
  shown.charts.push(chart);
  if (shown.isZoomed) showIn(chart, shown.current);
  const element = figure.querySelector(".chart");
  element.classList.add("zoomable");
  addPointer(element, shown);
  if (spec.usermeta.strip) addStrip(element, shown, data[zoom.x], data[spec.usermeta.strip]);
}

function addPointer(element, shown) {
  const valueAt = (clientX) => {
    const { left, width } = plotArea(element);
    const part = Math.min(Math.max((clientX - left) / width, 0), 1);
    return shown.current[0] + part * (shown.current[1] - shown.current[0]);
  };
  const isInside = ({ clientX, clientY }) => {
    const { left, right, top, bottom } = plotArea(element);
    return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  };
  const fingers = new Map();
  let start = null; // of a drag with the mouse
  const frame = document.createElement("div");
  frame.className = "drag-frame";

  element.addEventListener("pointerdown", (event) => {
    if (!isInside(event) || (event.pointerType === "mouse" && event.button !== 0)) return;
    if (event.pointerType === "mouse") {
      start = event.clientX;
      event.preventDefault();
    } else fingers.set(event.pointerId, event.clientX);
  });
  addEventListener("pointermove", (event) => {
    if (start !== null) {
      const area = plotArea(element);
      const box = element.getBoundingClientRect();
      const ends = [start, event.clientX].map((x) => Math.min(Math.max(x, area.left), area.right)).sort((a, b) => a - b);
      Object.assign(frame.style, {
        left: `${ends[0] - box.left}px`, width: `${ends[1] - ends[0]}px`,
        top: `${area.top - box.top}px`, height: `${area.height}px`,
      });
      if (!frame.isConnected && ends[1] - ends[0] > LEAST_DRAG) element.append(frame);
    } else if (fingers.has(event.pointerId)) {
      const before = [...fingers.values()];
      const old = fingers.get(event.pointerId);
      fingers.set(event.pointerId, event.clientX);
      const after = [...fingers.values()];
      if (after.length === 1) shown.move((old - event.clientX) / plotArea(element).width);
      else {
        const spread = (xs) => Math.max(Math.abs(xs[0] - xs[1]), 10);
        shown.scale(spread(before) / spread(after), valueAt((after[0] + after[1]) / 2));
      }
    }
  });
  const finish = (event) => {
    fingers.delete(event.pointerId);
    if (start === null) return;
    const ends = [start, event.clientX].sort((a, b) => a - b);
    start = null;
    frame.remove();
    if (event.type === "pointerup" && ends[1] - ends[0] > LEAST_DRAG) shown.show(valueAt(ends[0]), valueAt(ends[1]));
  };
  addEventListener("pointerup", finish);
  addEventListener("pointercancel", finish);
  element.addEventListener("dblclick", (event) => {
    if (isInside(event)) shown.reset();
  });
  element.addEventListener("wheel", (event) => {
    if (!isInside(event)) return;
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    // A plain turn of the wheel scrolls the page; a pinch on a touchpad comes with the control key.
    if (!event.ctrlKey && !(isSideways && shown.isZoomed)) return;
    event.preventDefault();
    if (event.ctrlKey) shown.scale(Math.exp(event.deltaY / 200), valueAt(event.clientX));
    else shown.move(event.deltaX / plotArea(element).width);
  }, { passive: false });
}

// The whole stream in small, with the visible window on it, and buttons for keyboards and fingers.
function addStrip(element, shown, xs, ys) {
  const template = document.getElementById("strip");
  const strip = template.content.firstElementChild.cloneNode(true);
  element.after(strip);
  const track = strip.querySelector(".track");
  const visible = strip.querySelector(".visible");
  track.querySelector("path").setAttribute("d", linePath(shown.full, xs, ys));
  const place = (x) => (100 * (x - shown.full[0])) / (shown.full[1] - shown.full[0]);
  const update = () => {
    const [left, right] = shown.current.map(place);
    visible.style.left = `${left}%`;
    visible.style.width = `${right - left}%`;
    strip.classList.toggle("zoomed", shown.isZoomed);
    strip.querySelector('[data-zoom="all"]').disabled = !shown.isZoomed;
  };
  shown.listeners.push(update);
  update();
  const align = () => {
    const area = plotArea(element);
    track.style.marginLeft = `${area.left - element.getBoundingClientRect().left}px`;
    track.style.width = `${area.width}px`;
  };
  align();
  new ResizeObserver(align).observe(element);
  strip.addEventListener("click", ({ target }) => {
    const action = target.dataset.zoom;
    if (action === "in") shown.scale(0.5);
    if (action === "out") shown.scale(2);
    if (action === "earlier") shown.move(-0.5);
    if (action === "later") shown.move(0.5);
    if (action === "all") shown.reset();
  });
  addStripPointer(track, visible, shown);
}

function addStripPointer(track, visible, shown) {
  const valueAt = (clientX) => {
    const { left, width } = track.getBoundingClientRect();
    return shown.full[0] + ((clientX - left) / width) * (shown.full[1] - shown.full[0]);
  };
  let grip = null; // "move", "from", "to" or "new", and where it began
  track.addEventListener("pointerdown", (event) => {
    const [from, to] = shown.current;
    const at = valueAt(event.clientX);
    const part = event.target.dataset.grip ?? (shown.isZoomed && event.target === visible ? "move" : "new");
    grip = { part, at, from, to };
    track.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  track.addEventListener("pointermove", (event) => {
    if (!grip) return;
    const at = valueAt(event.clientX);
    if (grip.part === "move") shown.show(grip.from + at - grip.at, grip.to + at - grip.at);
    else {
      const fixed = { from: grip.to, to: grip.from, new: grip.at }[grip.part];
      shown.show(Math.min(at, fixed), Math.max(at, fixed));
    }
  });
  for (const name of ["pointerup", "pointercancel"]) track.addEventListener(name, () => { grip = null; });
  track.addEventListener("dblclick", () => shown.reset());
}

function linePath([first, last], xs, ys) {
  const known = ys.filter((y) => y !== null);
  const low = Math.min(...known);
  const span = Math.max(...known) - low || 1;
  let pen = "M";
  return xs.map((x, k) => {
    if (ys[k] === null) { pen = "M"; return ""; }
    const point = `${pen}${((1000 * (x - first)) / (last - first)).toFixed(1)},${(38 - (36 * (ys[k] - low)) / span).toFixed(1)}`;
    pen = "L";
    return point;
  }).join("");
}
