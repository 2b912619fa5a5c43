// The page of schedules: lanes on canvases, one time scale for all panels.

const solutions = data.solutions;
const fullTime = Math.max(...solutions.map(s => s.makespan)) || 1;
const byId = id => document.getElementById(id);
const state = { from: 0, to: fullTime, memory: true, stacked: false, pinned: null, hovered: null };

const formatNumber = value => String(Number(value.toPrecision(6)));

// Lengths of lanes in pixels; many stages get thin ones.
function laneSizes(solution) {
  const p = solution.stages.length;
  const lane = p <= 8 ? 30 : p <= 16 ? 22 : p <= 32 ? 16 : 11;
  const curve = !state.memory ? 0 : p <= 8 ? 20 : p <= 16 ? 16 : p <= 32 ? 11 : 8;
  const gap = p <= 16 ? 6 : 3;
  return { lane, curve, gap, pitch: lane + curve + gap };
}

// "7B0" with several chunks a stage, "B0" with one.
function opName(solution, stage, step) {
  const s = solution.stages[stage];
  const name = s.kinds[step] + s.microbatches[step];
  return solution.chunksPerStage > 1 ? s.chunks[step] + name : name;
}

// The first step of a stage that ends after `time`.
function firstStepAfter(stage, time) {
  let low = 0, high = stage.end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stage.end[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

function countInView(stage) {
  let count = 0;
  for (let i = firstStepAfter(stage, state.from); i < stage.start.length && stage.start[i] < state.to; ++i) ++count;
  return count;
}

// ---- Drawing ----

// A canvas as sharp as the screen; its context draws in CSS pixels.
function prepare(canvas, height) {
  const width = canvas.clientWidth;
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = height + "px";
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function timeScale(canvas) {
  const perTime = canvas.clientWidth / (state.to - state.from);
  return time => (time - state.from) * perTime;
}

// 1, 2 or 5 times a power of ten, for at most `most` ticks.
function tickDistance(length, most) {
  const power = 10 ** Math.floor(Math.log10(length / most));
  return power * ([1, 2, 5].find(factor => power * factor >= length / most) || 10);
}

function drawAxis(panel) {
  const context = prepare(panel.axis, 26), width = panel.axis.clientWidth;
  const x = timeScale(panel.axis);
  const distance = tickDistance(state.to - state.from, Math.max(2, width / 90));
  context.font = "12px Helvetica, Arial, sans-serif";
  context.textAlign = "center";
  context.fillStyle = "#444";
  context.strokeStyle = "#888";
  context.beginPath();
  context.moveTo(0, 25.5);
  context.lineTo(width, 25.5);
  for (let i = Math.ceil(state.from / distance); i * distance <= state.to; ++i) {
    const at = x(i * distance), text = formatNumber(i * distance);
    context.moveTo(at, 20);
    context.lineTo(at, 26);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(at, half), width - half), 15);
  }
  context.stroke();
}

function drawOperation(context, solution, stage, step, left, right, top, height, dimmed) {
  const s = solution.stages[stage], kind = s.kinds[step];
  const fill = solution.colors[kind][s.locals[step]];
  // A gap between neighbours once they are wide enough to tell apart.
  const gap = right - left > 4 ? 1 : 0;
  context.globalAlpha = dimmed ? 0.3 : 1;
  context.fillStyle = fill;
  context.fillRect(left, top, Math.max(right - left - gap, 0.5), height);
  const visibleLeft = Math.max(left, 0), visibleRight = Math.min(right, context.canvas.clientWidth);
  const room = visibleRight - visibleLeft - 2;
  if (room < 5 || height < 8) return;
  const full = opName(solution, stage, step), short = String(s.microbatches[step]);
  const size = Math.min(12, height - 2), smaller = Math.min(9, size);
  // The full name, or the microbatch alone, in the larger or the smaller size.
  const fits = [[full, size], [short, size], [short, smaller]].find(([name, points]) => {
    context.font = points + "px Helvetica, Arial, sans-serif";
    return context.measureText(name).width <= room;
  });
  if (!fits) return;
  const [text] = fits;
  context.fillStyle = dimmed ? "#1a1a1a" : solution.ink[kind][s.locals[step]];
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, (visibleLeft + visibleRight) / 2, top + height / 2 + 0.5);
}

function drawMemory(context, solution, stage, x, base, height, width) {
  const s = solution.stages[stage], scale = (height - 1) / (solution.highestMemory || 1);
  context.globalAlpha = 1;
  context.beginPath();
  context.moveTo(0, base);
  let level = base;
  for (let i = 0; i < s.curve.length; ++i) {
    const at = Math.min(Math.max(x(s.curve[i][0]), 0), width);
    context.lineTo(at, level);
    level = base - s.curve[i][1] * scale;
    context.lineTo(at, level);
  }
  context.lineTo(Math.min(x(solution.makespan), width), base);
  context.closePath();
  context.fillStyle = "#d4d4d0";
  context.fill();
  context.strokeStyle = "#9a9a95";
  context.lineWidth = 1;
  context.stroke();
  if (solution.limits.length === 0) return;
  const limit = Math.round(base - solution.limits[stage] * scale) + 0.5;
  context.strokeStyle = "#c0392b";
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(0, limit);
  context.lineTo(width, limit);
  context.stroke();
  context.setLineDash([]);
}

function drawLane(panel, context, stage, x, sizes, width) {
  const solution = panel.solution, s = solution.stages[stage], top = stage * sizes.pitch;
  const marked = state.hovered || state.pinned;
  const microbatch = marked && solutions[marked.panel].stages[marked.stage].microbatches[marked.step];
  context.globalAlpha = 1;
  context.fillStyle = "#f1f1ef";
  context.fillRect(0, top, width, sizes.lane);
  for (let i = firstStepAfter(s, state.from); i < s.start.length && s.start[i] < state.to; ++i) {
    if (s.end[i] <= s.start[i]) continue;
    const [share, height] = s.shares[i] || [0, 1];
    drawOperation(context, solution, stage, i, x(s.start[i]), x(s.end[i]), top + share * sizes.lane,
                  height * sizes.lane, marked && s.microbatches[i] !== microbatch);
  }
  if (sizes.curve) drawMemory(context, solution, stage, x, top + sizes.lane + sizes.curve, sizes.curve, width);
  if (marked && solutions[marked.panel] === solution && marked.stage === stage) {
    const [share, height] = s.shares[marked.step] || [0, 1];
    context.globalAlpha = 1;
    context.strokeStyle = "#1a1a1a";
    context.lineWidth = 2;
    const left = x(s.start[marked.step]);
    context.strokeRect(left, top + share * sizes.lane + 1, Math.max(x(s.end[marked.step]) - left - 1, 2),
                       height * sizes.lane - 2);
  }
}

function drawPanel(panel) {
  const sizes = laneSizes(panel.solution), width = panel.canvas.clientWidth;
  const context = prepare(panel.canvas, panel.solution.stages.length * sizes.pitch);
  const x = timeScale(panel.canvas);
  panel.solution.stages.forEach((s, stage) => {
    drawLane(panel, context, stage, x, sizes, width);
    const lane = panel.lanes[stage];
    lane.style.height = sizes.pitch + "px";
    lane.style.fontSize = Math.min(13, sizes.lane + 1, sizes.pitch - 2) + "px";
    lane.style.lineHeight = Math.min(sizes.lane, sizes.pitch) + "px";
    lane.querySelector("small").hidden = sizes.curve < 14;
    lane.querySelector("small").style.lineHeight = sizes.curve + "px";
    lane.setAttribute("aria-label", `${panel.solution.lanes[stage]}: ${s.start.length} operations, ${countInView(s)} in view`);
  });
  drawAxis(panel);
}

let isQueued = false;
function draw() {
  isQueued = false;
  byId("panels").style.setProperty("--columns", state.stacked ? 1 : solutions.length);
  byId("memory").checked = state.memory;
  byId("stacked").checked = state.stacked;
  byId("range").textContent = `time ${formatNumber(state.from)} to ${formatNumber(state.to)}`;
  panels.forEach(drawPanel);
  showHint();
}
function queueDraw() {
  if (!isQueued) requestAnimationFrame(draw);
  isQueued = true;
}

// ---- What is pointed at ----

function describeOp({ panel, stage, step }) {
  const solution = solutions[panel], s = solution.stages[stage];
  const before = step > 0 ? s.end[step - 1] : 0, waited = s.start[step] - before;
  const memory = amount => formatNumber(amount / solution.unit.size);
  return `${opName(solution, stage, step)}: ${data.kindNames[s.kinds[step]]}\n` +
         `${solution.lanes[stage]}, step ${step}, chunk ${s.chunks[step]}, microbatch ${s.microbatches[step]}\n` +
         `time ${formatNumber(s.start[step])} to ${formatNumber(s.end[step])}, ` +
         `takes ${formatNumber(s.end[step] - s.start[step])}\n` +
         (waited > 1e-9 * fullTime ? `waits ${formatNumber(waited)} before it\n` : "") +
         `memory after it ${memory(s.memory[step])} ${solution.unit.name}`;
}

function showHint() {
  const marked = state.hovered || state.pinned, hint = byId("hint");
  hint.hidden = !marked;
  if (!marked) return;
  hint.textContent = describeOp(marked);
  const panel = panels[marked.panel], box = panel.canvas.getBoundingClientRect();
  const sizes = laneSizes(panel.solution), x = timeScale(panel.canvas);
  const s = panel.solution.stages[marked.stage];
  const middle = (Math.max(s.start[marked.step], state.from) + Math.min(s.end[marked.step], state.to)) / 2;
  const left = Math.min(Math.max(box.left + x(middle) - hint.offsetWidth / 2, 4), innerWidth - hint.offsetWidth - 4);
  let top = box.top + marked.stage * sizes.pitch + sizes.lane + sizes.curve + 6;
  if (top + hint.offsetHeight > innerHeight) top = box.top + marked.stage * sizes.pitch - hint.offsetHeight - 6;
  hint.style.left = left + "px";
  hint.style.top = Math.max(top, 4) + "px";
}

function opAt(panel, event) {
  const box = panel.canvas.getBoundingClientRect(), sizes = laneSizes(panel.solution);
  const stage = Math.floor((event.clientY - box.top) / sizes.pitch);
  const y = (event.clientY - box.top - stage * sizes.pitch) / sizes.lane;
  const s = panel.solution.stages[stage];
  if (!s || y > 1) return null;
  const time = state.from + (event.clientX - box.left) / panel.canvas.clientWidth * (state.to - state.from);
  for (let step = firstStepAfter(s, time); step < s.start.length && s.start[step] <= time; ++step) {
    const [share, height] = s.shares[step] || [0, 1];
    if (y >= share && y <= share + height) return { panel: panel.index, stage, step };
  }
  return null;
}

const isSame = (a, b) => a === b || (a && b && a.panel === b.panel && a.stage === b.stage && a.step === b.step);

// ---- Zoom and movement ----

function setView(from, to) {
  const length = Math.min(Math.max(to - from, fullTime * 1e-5), fullTime);
  state.from = Math.min(Math.max(from, 0), fullTime - length);
  state.to = state.from + length;
  keepInAddress();
  queueDraw();
}
function zoomBy(factor, center = (state.from + state.to) / 2) {
  const length = Math.min((state.to - state.from) / factor, fullTime);
  const share = (center - state.from) / (state.to - state.from);
  setView(center - share * length, center + (1 - share) * length);
}
function moveBy(share) {
  const distance = share * (state.to - state.from);
  setView(state.from + distance, state.to + distance);
}

// ---- The address: #from=1&to=5&op=0.2.7&memory=0&stacked=1 ----

let addressTimer = 0;
function keepInAddress() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    const parts = [];
    if (state.from > 0 || state.to < fullTime) parts.push(`from=${formatNumber(state.from)}`, `to=${formatNumber(state.to)}`);
    if (state.pinned) parts.push(`op=${state.pinned.panel}.${state.pinned.stage}.${state.pinned.step}`);
    if (!state.memory) parts.push("memory=0");
    if (state.stacked) parts.push("stacked=1");
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
  state.stacked = given.get("stacked") === "1";
  const [panel, stage, step] = (given.get("op") || "").split(".").map(Number);
  const exists = solutions[panel] && solutions[panel].stages[stage] && solutions[panel].stages[stage].start[step] !== undefined;
  state.pinned = exists ? { panel, stage, step } : null;
  setView(number("from", 0), number("to", fullTime));
}

// ---- The page ----

function element(name, properties = {}, ...children) {
  const result = Object.assign(document.createElement(name), properties);
  result.append(...children);
  return result;
}

function buildPanel(solution, index) {
  const axis = element("canvas"), canvas = element("canvas");
  const lanes = solution.stages.map((s, stage) => {
    const peak = formatNumber(s.peak / solution.unit.size);
    return element("div", { className: "lane", title: `${solution.lanes[stage]}: peak memory ${peak} ${solution.unit.name}` },
                   solution.lanes[stage], element("small", {}, `peak ${peak}`));
  });
  byId("panels").append(element("section", { className: "panel" },
    element("h2", {}, solution.name),
    element("div", { className: "body" },
      element("div", { className: "axis-corner" }, "time"), element("div", { className: "axis" }, axis),
      element("div", { className: "names" }, ...lanes), element("div", { className: "view" }, canvas))));
  const panel = { solution, index, axis, canvas, lanes };
  listen(panel);
  return panel;
}

function listen(panel) {
  const canvas = panel.canvas;
  let dragged = null;
  const timeAt = event => state.from + (event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth * (state.to - state.from);
  canvas.addEventListener("wheel", event => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) zoomBy(Math.exp(-event.deltaY / 300), timeAt(event));
    else if (sideways) moveBy(sideways / canvas.clientWidth);
    else return;
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("dblclick", event => zoomBy(2, timeAt(event)));
  canvas.addEventListener("pointerdown", event => {
    dragged = { x: event.clientX, from: state.from, to: state.to, moved: false };
  });
  window.addEventListener("pointermove", event => {
    if (!dragged) return;
    const distance = event.clientX - dragged.x;
    dragged.moved = dragged.moved || Math.abs(distance) > 3;
    if (!dragged.moved) return;
    canvas.parentElement.classList.add("moving");
    const time = distance / canvas.clientWidth * (dragged.to - dragged.from);
    setView(dragged.from - time, dragged.to - time);
  });
  window.addEventListener("pointerup", event => {
    if (dragged && !dragged.moved) {
      const op = opAt(panel, event);
      state.pinned = isSame(op, state.pinned) ? null : op;
      keepInAddress();
      queueDraw();
    }
    dragged = null;
    canvas.parentElement.classList.remove("moving");
  });
  canvas.addEventListener("mousemove", event => {
    const op = opAt(panel, event);
    if (isSame(op, state.hovered)) return;
    state.hovered = op;
    queueDraw();
  });
  canvas.addEventListener("mouseleave", () => {
    state.hovered = null;
    queueDraw();
  });
}

function buildFacts() {
  const rows = [
    ["makespan", s => s.makespan, formatNumber], ["bubble", s => s.bubble, v => v.toFixed(4)],
    ["bubble of span", s => s.bubbleOfSpan, v => v.toFixed(4)],
    ["peak memory", s => Math.max(...s.stages.map(t => t.peak)) / s.unit.size, null]];
  const body = rows.map(([name, value, format]) => {
    const values = solutions.map(value), best = Math.min(...values);
    return element("tr", {}, element("th", {}, name), ...solutions.map((s, i) => element("td",
      { className: solutions.length > 1 && values[i] <= best ? "best" : "" },
      format ? format(values[i]) : `${formatNumber(values[i])} ${s.unit.name}`)));
  });
  const size = s => `${s.name}: ${s.size}`;
  byId("facts").append(
    element("thead", {}, element("tr", {}, element("th"), ...solutions.map(s => element("th", {}, size(s))))),
    element("tbody", {}, ...body));
}

function buildLegend() {
  const used = Object.keys(data.kindNames).filter(kind => solutions.some(s => s.stages.some(t => t.kinds.includes(kind))));
  const widest = solutions.reduce((a, b) => a.chunksPerStage >= b.chunksPerStage ? a : b);
  byId("legend").append(...used.map(kind => {
    const entry = element("span", { className: "entry" });
    widest.colors[kind].forEach(color => {
      const square = element("i");
      square.style.background = color;
      entry.append(square);
    });
    entry.append(element("span", {}, "\u00a0" + data.kindNames[kind]));
    return entry;
  }));
  if (widest.chunksPerStage > 1) byId("legend").append(element("span", {}, "light to dark: first to last chunk of the stage"));
  if (solutions.some(s => s.limits.length))
    byId("legend").append(element("span", { className: "entry" }, element("i", { className: "limit" }), "memory limit"));
}

buildFacts();
buildLegend();
const panels = solutions.map(buildPanel);
byId("layout-choice").hidden = solutions.length < 2;
byId("zoom-in").onclick = () => zoomBy(1.6);
byId("zoom-out").onclick = () => zoomBy(1 / 1.6);
byId("fit").onclick = () => setView(0, fullTime);
for (const name of ["memory", "stacked"])
  byId(name).onchange = event => {
    state[name] = event.target.checked;
    keepInAddress();
    queueDraw();
  };
window.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT") return;
  const action = { "+": () => zoomBy(1.6), "=": () => zoomBy(1.6), w: () => zoomBy(1.6), "-": () => zoomBy(1 / 1.6),
                   s: () => zoomBy(1 / 1.6), ArrowLeft: () => moveBy(-0.2), a: () => moveBy(-0.2),
                   ArrowRight: () => moveBy(0.2), d: () => moveBy(0.2), 0: () => setView(0, fullTime) }[event.key];
  if (!action) return;
  action();
  event.preventDefault();
});
window.addEventListener("resize", queueDraw);
window.addEventListener("scroll", showHint, { passive: true });
window.addEventListener("hashchange", readAddress);
readAddress();
draw();
