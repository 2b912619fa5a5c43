// The view, and where things are in it.

const byId = id => document.getElementById(id);
const timeUnits = new Set(panels.map(panel => panel.graph.timeUnit));
const fullTime = () => Math.max(...panels.map(panel => panel.span)) || 1;

// Times are those of the axis: with `stretch`, all panels are as long as the longest.
const state = {
  from: 0, to: fullTime(), length: fullTime(), memory: true, critical: false, stacked: false, stretch: timeUnits.size > 1,
  theme: "auto", pinned: null, hovered: null, query: "",
};

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => state.theme === "dark" || (state.theme === "auto" && prefersDark.matches);
const palette = () => isDark() ? palettes.dark : palettes.light;
const sharpness = () => window.devicePixelRatio || 1;
const shownPanels = () => panels.filter(panel => panel.isShown);

// Lengths of lanes in pixels; many ranks get thin ones.
function laneSizes(panel) {
  const count = panel.lanes.length;
  const lane = count <= 8 ? 30 : count <= 16 ? 22 : count <= 32 ? 16 : 11;
  const curve = !state.memory ? 0 : count <= 8 ? 20 : count <= 16 ? 16 : count <= 32 ? 11 : 8;
  const gap = count <= 16 ? 6 : 3;
  return { lane, curve, gap, pitch: lane + curve + gap };
}

// Times of a panel for each time of the axis.
const panelFactor = panel => state.stretch && panel.span > 0 ? panel.span / fullTime() : 1;
// Pixels of the screen for each time of a panel.
const pixelsPerTime = panel => panel.canvas.width / state.length / panelFactor(panel);
// The pixel of the screen at which the view begins: a whole one, so that movement is that of images.
const firstPixel = panel => Math.round(state.from * panelFactor(panel) * pixelsPerTime(panel));
// CSS pixels from the left, of a time of the panel.
function timeScale(panel) {
  const perTime = pixelsPerTime(panel), first = firstPixel(panel), scale = sharpness();
  return time => (time * perTime - first) / scale;
}
function timeAt(panel, clientX) {
  const x = (clientX - panel.canvas.getBoundingClientRect().left) * sharpness();
  return (x + firstPixel(panel)) / pixelsPerTime(panel);
}

// Gives where events are drawn, in CSS pixels of the canvas. Those who ask for many ask once for the function.
function boxesOf(panel) {
  const sizes = laneSizes(panel), x = timeScale(panel);
  return ({ lane, place }) => {
    const events = panel.lanes[lane], height = sizes.lane / events.rows[place], left = x(events.begin[place]);
    return { left, width: Math.max(x(events.end[place]) - left, 1), top: lane * sizes.pitch + events.row[place] * height, height };
  };
}
const boxOf = (panel, event) => boxesOf(panel)(event);

function eventAt(panel, clientX, clientY) {
  const sizes = laneSizes(panel), y = clientY - panel.canvas.getBoundingClientRect().top;
  const index = Math.floor(y / sizes.pitch), share = (y - index * sizes.pitch) / sizes.lane;
  const lane = panel.lanes[index], time = timeAt(panel, clientX);
  if (!lane || share >= 1) return null;
  for (let place = firstAfter(lane, time); place < lane.begin.length && lane.begin[place] <= time; ++place) {
    const isInRow = Math.floor(share * lane.rows[place]) === lane.row[place];
    if (isInRow && lane.end[place] > time) return { panel: panel.index, lane: index, place };
  }
  return null;
}

// The lane whose memory is drawn there.
function memoryAt(panel, clientY) {
  const sizes = laneSizes(panel), y = clientY - panel.canvas.getBoundingClientRect().top;
  const index = Math.floor(y / sizes.pitch), below = y - index * sizes.pitch - sizes.lane;
  return panel.lanes[index] && below >= 0 && below < sizes.curve ? index : -1;
}

function memoryOf(panel, index, time) {
  const lane = panel.lanes[index], { held, after, before } = panel.graph.lanes[index];
  const place = Math.min(firstAfter(lane, time), lane.op.length - 1);
  if (place < 0) return before;
  if (lane.begin[place] <= time) return time < lane.end[place] ? held[lane.op[place]] : after[lane.op[place]];
  return place > 0 ? after[lane.op[place - 1]] : before;
}
