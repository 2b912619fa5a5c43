// Zoom and movement, and the address that keeps them: #from=1&to=5&op=0.2.7&memory=0&...

// The frames that were drawn, and for how long: bench/page reads it.
const drawn = { frames: 0, milliseconds: [] };
let isQueued = false;

// Where panels have times of their own, shares of these.
function rangeText() {
  const percent = time => formatNumber(100 * time / fullTime()) + " %";
  if (state.stretch) return `${percent(state.from)} to ${percent(state.to)} of the time`;
  const unit = unitFor(shownPanels()[0], state.to);
  return `time ${formatNumber(state.from / unit.size)} to ${formatNumber(state.to / unit.size)}` + (unit.name ? " " + unit.name : "");
}

function draw() {
  isQueued = false;
  const begin = performance.now(), shown = shownPanels();
  byId("range").textContent = rangeText();
  shown.forEach(drawPanel);
  showHint();
  ++drawn.frames;
  drawn.milliseconds.push(performance.now() - begin);
  if (drawn.milliseconds.length > 1000) drawn.milliseconds.shift();
}
function queueDraw() {
  if (!isQueued) requestAnimationFrame(draw);
  isQueued = true;
}

function setView(from, to) {
  const full = fullTime();
  let length = Math.min(Math.max(to - from, full * 1e-6), full);
  // Movement does not change it by a rounding: tiles are for one length.
  if (Math.abs(length - state.length) < 1e-7 * length) length = state.length;
  state.length = length;
  state.from = Math.min(Math.max(from, 0), full - length);
  state.to = state.from + length;
  keepInAddress();
  queueDraw();
}
function zoomBy(factor, center = (state.from + state.to) / 2) {
  const length = Math.min((state.to - state.from) / factor, fullTime());
  const share = (center - state.from) / (state.to - state.from);
  setView(center - share * length, center + (1 - share) * length);
}
function moveBy(share) {
  const distance = share * (state.to - state.from);
  setView(state.from + distance, state.to + distance);
}

// Keeps an operation, and moves so that it can be seen; null: none.
function pin(event) {
  state.pinned = event;
  byId("spoken").textContent = event ? describe(event) : "";
  if (event) {
    const panel = panels[event.panel], lane = panel.lanes[event.lane], factor = panelFactor(panel);
    const begin = lane.begin[event.place] / factor, end = lane.end[event.place] / factor, length = state.to - state.from;
    if (end <= state.from || begin >= state.to) setView((begin + end - length) / 2, (begin + end + length) / 2);
    showLane(panel, event.lane);
  }
  keepInAddress();
  queueDraw();
}

function showLane(panel, index) {
  const box = panel.canvas.getBoundingClientRect(), { pitch } = laneSizes(panel), top = box.top + index * pitch;
  if (top < 30) scrollBy(0, top - 60);
  else if (top + pitch > innerHeight) scrollBy(0, top + pitch - innerHeight + 60);
}

// The whole of what is kept, and about as much around it.
function zoomToPinned() {
  if (!state.pinned) return;
  const panel = panels[state.pinned.panel], factor = panelFactor(panel);
  const begin = beginOf(state.pinned) / factor, length = takes(state.pinned) / factor || fullTime() * 1e-5;
  setView(begin - 2 * length, begin + 3 * length);
}

let addressTimer = 0;
function keepInAddress() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    const parts = [], exact = value => String(Number(value.toPrecision(9)));
    const add = (isThere, text) => { if (isThere) parts.push(text); };
    add(state.from > 0 || state.to < fullTime(), `from=${exact(state.from)}&to=${exact(state.to)}`);
    if (state.pinned) add(true, `op=${state.pinned.panel}.${state.pinned.lane}.${opOf(state.pinned)}`);
    add(!state.memory, "memory=0");
    add(state.critical, "critical=1");
    add(state.stacked, "stacked=1");
    add(state.stretch !== timeUnits.size > 1, `stretch=${+state.stretch}`);
    add(state.theme !== "auto", `theme=${state.theme}`);
    add(state.query, `search=${encodeURIComponent(state.query)}`);
    const hidden = panels.filter(panel => !panel.isShown).map(panel => panel.index);
    add(hidden.length, `hidden=${hidden.join(".")}`);
    const steps = panels.filter(panel => panel.steps.length > 1).map(panel => panel.step ?? "all");
    add(panels.some(panel => panel.steps.length > 1 && panel.step !== panel.steps[panel.steps.length - 1]), `steps=${steps.join(".")}`);
    try {
      history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
    } catch (error) {
      // Some browsers refuse this for files; the view is only not kept then.
    }
  }, 200);
}

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (name, otherwise) => given.has(name) && Number.isFinite(+given.get(name)) ? +given.get(name) : otherwise;
  state.memory = given.get("memory") !== "0";
  state.critical = given.get("critical") === "1";
  state.stacked = given.get("stacked") === "1";
  state.stretch = given.has("stretch") ? given.get("stretch") === "1" : timeUnits.size > 1;
  state.theme = ["light", "dark"].includes(given.get("theme")) ? given.get("theme") : "auto";
  const hidden = (given.get("hidden") || "").split(".").filter(Boolean).map(Number);
  for (const panel of panels) panel.isShown = !hidden.includes(panel.index) || hidden.length >= panels.length;
  if (given.has("steps")) {
    const steps = given.get("steps").split(".");
    panels.filter(panel => panel.steps.length > 1).forEach((panel, i) => {
      if (steps[i] === "all") setStep(panel, null);
      else if (panel.steps.includes(+steps[i])) setStep(panel, +steps[i]);
    });
  }
  const [panel, lane, op] = (given.get("op") || "").split(".").map(Number);
  const place = panels[panel] ? placeOf(panels[panel], panels[panel].step ?? panels[panel].steps[0], lane, op) : -1;
  state.pinned = place >= 0 ? { panel, lane, place } : null;
  state.hovered = null;  // Of another step it may be no operation.
  byId("search").value = given.get("search") || "";
  applyState();
  search(byId("search").value);
  setView(number("from", 0), number("to", fullTime()));
}
