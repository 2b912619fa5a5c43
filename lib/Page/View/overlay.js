// What is drawn with each frame: the axis, tiles, names of wide operations, and over these what is chosen.

// A canvas as sharp as the screen. Sets its size only where that changes, since that clears it.
function prepare(canvas, height) {
  const scale = sharpness(), width = Math.max(1, Math.round(canvas.clientWidth * scale)), rows = Math.max(1, Math.round(height * scale));
  canvas.style.height = height + "px";
  if (canvas.width !== width || canvas.height !== rows) {
    canvas.width = width;
    canvas.height = rows;
  }
  return canvas.getContext("2d");
}

// 1, 2 or 5 times a power of ten, for at most `most` ticks.
function tickDistance(length, most) {
  const power = 10 ** Math.floor(Math.log10(length / most));
  return power * ([1, 2, 5].find(factor => power * factor >= length / most) || 10);
}

function drawAxis(panel) {
  const context = prepare(panel.axis, 26), width = panel.axis.clientWidth, x = timeScale(panel), colors = palette();
  context.setTransform(sharpness(), 0, 0, sharpness(), 0, 0);
  context.clearRect(0, 0, width, 26);
  const from = state.from * panelFactor(panel), to = state.to * panelFactor(panel);
  const distance = tickDistance(to - from, Math.max(2, width / 90)), unit = unitFor(panel, to);
  context.font = fontOf(12);
  context.textAlign = "center";
  context.fillStyle = colors.text;
  context.strokeStyle = colors["memory-line"];
  context.beginPath();
  context.moveTo(0, 25.5);
  context.lineTo(width, 25.5);
  for (let i = Math.ceil(from / distance); i * distance <= to; ++i) {
    const at = x(i * distance), text = formatNumber(i * distance / unit.size);
    context.moveTo(at, 20);
    context.lineTo(at, 26);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(at, half), width - half), 15);
  }
  context.stroke();
  panel.corner.textContent = unit.name ? `time, ${unit.name}` : "time";
}

// Operations that are wider than a tile have their names in the middle of what can be seen of them.
function drawWideNames(panel, context) {
  const scale = sharpness(), perTime = pixelsPerTime(panel), first = firstPixel(panel), { width } = panel.canvas;
  const sizes = laneSizes(panel), names = [], inks = inksOf(panel);
  panel.lanes.forEach((lane, index) => {
    const begin = firstAfter(lane, first / perTime), end = firstAfter(lane, (first + width) / perTime) + 1;
    // Among so many, hardly one is wide.
    if (end - begin > 1000) return;
    for (let place = begin; place < Math.min(end, lane.begin.length); ++place) {
      const left = lane.begin[place] * perTime - first, right = lane.end[place] * perTime - first;
      if (right - left <= tileWidth || left > width || (panel.marks && !panel.marks[index][place])) continue;
      const entry = panel.graph.lanes[index].entry[lane.op[place]];
      const height = sizes.lane / lane.rows[place] * scale, top = index * sizes.pitch * scale + lane.row[place] * height;
      names.push({ texts: shortNames(panel, index, lane.op[place]), left: Math.max(left, 0), right: Math.min(right, width), top,
                   bottom: top + height, ink: inks.names[entry] });
    }
  });
  paintNames(context, names, scale);
}

// ---- What is chosen ----

// The operation that is pointed at or kept, in this panel: itself, or the same of another time or graph.
function counterpart(panel, chosen) {
  if (!chosen || panels[chosen.panel] === panel) return chosen;
  const { graph, lanes } = panels[chosen.panel], step = lanes[chosen.lane].step[chosen.place], op = lanes[chosen.lane].op[chosen.place];
  let found = { lane: chosen.lane, op };
  if (graph !== panel.graph) {
    const id = namesake(panel.graph, graph, chosen.lane, op);
    if (id < 0) return null;
    found = operationOf(panel.graph, id);
  }
  const place = placeOf(panel, panel.steps.includes(step) ? step : panel.step ?? panel.steps[0], found.lane, found.op);
  return place >= 0 ? { panel: panel.index, lane: found.lane, place } : null;
}

// The operation of `graph` that has the kind, chunk or edge and microbatch of one of another graph.
function namesake(graph, other, lane, op) {
  const entry = other.entries[other.lanes[lane].entry[op]], microbatch = other.lanes[lane].microbatch[op];
  if (microbatch < 0 || !(entry.role in slots)) return -1;
  const group = other.lanes[lane].group, inGroup = graph.lanes.findIndex(candidate => candidate.group === group);
  const id = inGroup < 0 ? -1 : indexOf(graph).find(inGroup, slotOf(entry), entry.number, microbatch);
  if (id < 0) return -1;
  const found = operationOf(graph, id);
  return graph.entries[graph.lanes[found.lane].entry[found.op]].role === entry.role ? id : -1;
}

// What an operation of a panel is related to. Some are kept, since frames are many.
const relations = new Map();
const keyOf = event => `${event.panel} ${panels[event.panel].step} ${event.lane} ${event.place}`;
function relationsOf(chosen) {
  const key = keyOf(chosen);
  if (relations.has(key)) return relations.get(key);
  const panel = panels[chosen.panel], id = idOf(panel, chosen), step = panel.lanes[chosen.lane].step[chosen.place];
  const all = [id, ...closureOf(panel.graph, id, producersOf), ...closureOf(panel.graph, id, consumersOf)].map(other => {
    const { lane, op } = operationOf(panel.graph, other);
    return { lane, place: placeOf(panel, step, lane, op) };
  }).filter(event => event.place >= 0);
  const value = { producers: eventsOf(panel, chosen, producersOf), consumers: eventsOf(panel, chosen, consumersOf), all };
  if (relations.size > 16) relations.clear();
  relations.set(key, value);
  return value;
}

const isVisible = (panel, box) => box.left + box.width >= 0 && box.left <= panel.canvas.clientWidth;

function fillEvent(panel, context, event, box) {
  if (!isVisible(panel, box)) return;
  const op = panel.lanes[event.lane].op[event.place], entry = panel.graph.lanes[event.lane].entry[op], { fills, names } = inksOf(panel);
  context.fillStyle = fills[entry];
  context.fillRect(box.left, box.top, Math.max(box.width - (box.width > 4 ? 1 : 0), 1), box.height);
  if (box.width >= 6)
    paintNames(context, [{ texts: shortNames(panel, event.lane, op), left: box.left, right: box.left + box.width, top: box.top,
                           bottom: box.top + box.height, ink: names[entry] }], 1);
}

function strokeEvent(panel, context, event, color, width) {
  const box = boxOf(panel, event);
  if (!isVisible(panel, box)) return;
  context.strokeStyle = color;
  context.lineWidth = width;
  context.strokeRect(box.left + width / 2, box.top + width / 2, Math.max(box.width - width, 1), Math.max(box.height - width, 1));
}

// An arrow from the end of one event to the begin of another.
function drawArrow(panel, context, from, to, color) {
  const start = boxOf(panel, from), end = boxOf(panel, to);
  const x0 = start.left + start.width, y0 = start.top + start.height / 2, x1 = end.left, y1 = end.top + end.height / 2;
  if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > panel.canvas.clientWidth) return;
  const bend = Math.max(Math.abs(x1 - x0) / 2, 12);
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 6, y1 - 3.5);
  context.lineTo(x1 - 6, y1 + 3.5);
  context.fill();
}

function drawVeil(panel, context) {
  const sizes = laneSizes(panel);
  context.globalAlpha = 0.72;
  context.fillStyle = palette().page;
  panel.lanes.forEach((_, lane) => context.fillRect(0, lane * sizes.pitch, panel.canvas.clientWidth, sizes.lane));
  context.globalAlpha = 1;
}

// Events of the critical path that can be seen, with one on either side, and where they are drawn. A path is ordered by
// begin, and what follows within a pixel on the same lane is left out.
function visiblePath(panel) {
  const path = criticalPathOf(panel), boxFor = boxesOf(panel), width = panel.canvas.clientWidth, visible = [];
  let low = 0, high = path.length;
  while (low < high) {
    const middle = (low + high) >> 1, box = boxFor(path[middle]);
    if (box.left + box.width >= 0) high = middle;
    else low = middle + 1;
  }
  let right = -Infinity, lane = -1;
  for (let i = Math.max(low - 1, 0); i < path.length; ++i) {
    const box = boxFor(path[i]);
    if (path[i].lane === lane && box.left + box.width < right + 1) continue;
    visible.push({ event: path[i], box });
    right = box.left + box.width;
    lane = path[i].lane;
    if (box.left > width) break;
  }
  return visible;
}

function drawPath(panel, context, visible) {
  context.strokeStyle = palette().path;
  context.lineWidth = 2;
  context.beginPath();
  for (const { box } of visible) {
    context.lineTo(box.left, box.top + box.height - 1.5);
    context.lineTo(box.left + box.width, box.top + box.height - 1.5);
  }
  context.stroke();
}

function drawChosen(panel, context) {
  const pinned = counterpart(panel, state.pinned), hovered = counterpart(panel, state.hovered), colors = palette();
  const path = state.critical ? visiblePath(panel) : [];
  // Everything else steps back.
  if (pinned || state.critical) drawVeil(panel, context);
  if (pinned) for (const event of relationsOf(pinned).all) fillEvent(panel, context, event, boxOf(panel, event));
  for (const { event, box } of path) fillEvent(panel, context, event, box);
  if (state.critical) drawPath(panel, context, path);
  if (pinned) {
    const { producers, consumers } = relationsOf(pinned);
    for (const event of producers) drawArrow(panel, context, event, pinned, colors.text);
    for (const event of consumers) drawArrow(panel, context, pinned, event, colors.accent);
    for (const event of producers) strokeEvent(panel, context, event, colors.text, 1.5);
    for (const event of consumers) strokeEvent(panel, context, event, colors.accent, 1.5);
    strokeEvent(panel, context, pinned, colors.text, 3);
  }
  if (hovered) strokeEvent(panel, context, hovered, colors.text, 2);
}

function drawPanel(panel) {
  const sizes = laneSizes(panel), scale = sharpness();
  const context = prepare(panel.canvas, panel.lanes.length * sizes.pitch);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, panel.canvas.width, panel.canvas.height);
  drawTiles(panel, context);
  drawWideNames(panel, context);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  drawChosen(panel, context);
  drawAxis(panel);
}
