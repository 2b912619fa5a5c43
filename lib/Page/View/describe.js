// Operations in words.

const formatNumber = (value, digits = 6) => String(Number(value.toPrecision(digits)));

// Times with a unit are in microseconds, and shown in what suits `length`.
function unitFor(panel, length) {
  if (panel.graph.timeUnit !== "us") return { size: 1, name: panel.graph.timeUnit };
  return [{ size: 1e6, name: "s" }, { size: 1e3, name: "ms" }, { size: 1, name: "\u00b5s" }].find(unit => length >= 2 * unit.size) ||
         { size: 1, name: "\u00b5s" };
}
function formatTime(panel, time, like = time) {
  const unit = unitFor(panel, Math.abs(like));
  return formatNumber(time / unit.size) + (unit.name ? " " + unit.name : "");
}
function formatMemory(panel, amount) {
  const { size, name } = panel.graph.memoryUnit;
  return `${formatNumber(amount / size)} ${name}`;
}
// Beside a lane, where a longer unit than MiB would take its room; the title of the lane has it.
function formatPeak(panel, amount) {
  const { size, name } = panel.graph.memoryUnit;
  return formatNumber(amount / size, 4) + (name.length <= 3 ? ` ${name}` : "");
}
const formatShare = (_, share) => `${(100 * share).toFixed(1)}%`;
function formatBytes(bytes) {
  const unit = ["B", "KiB", "MiB", "GiB"].find((_, i) => bytes < 1024 ** (i + 1)) || "TiB";
  return `${formatNumber(bytes / 1024 ** ["B", "KiB", "MiB", "GiB", "TiB"].indexOf(unit))} ${unit}`;
}

const opOf = event => panels[event.panel].lanes[event.lane].op[event.place];
const takes = event => {
  const lane = panels[event.panel].lanes[event.lane];
  return lane.end[event.place] - lane.begin[event.place];
};

// "F c0 m2 on rank 0", of the first few.
function listOf(panel, events) {
  const names = events.slice(0, 4).map(event => `${nameOfEvent(panel, event)} on ${panel.graph.lanes[event.lane].name}`);
  return names.join(", ") + (events.length > 4 ? ` and ${events.length - 4} more` : "");
}

// How long the same operation takes in the other panels.
function comparedWith(event) {
  return shownPanels().filter(other => other.index !== event.panel).map(other => {
    const match = counterpart(other, event);
    if (!match) return "";
    const change = takes(event) > 0 ? (takes(match) / takes(event) - 1) * 100 : 0;
    return `${other.name}: takes ${formatTime(other, takes(match))}` +
           (other.graph.timeUnit === panels[event.panel].graph.timeUnit ? ` (${change >= 0 ? "+" : ""}${change.toFixed(1)}%)` : "") +
           ` from ${formatTime(other, beginOf(match))} on`;
  }).filter(Boolean);
}

// How its time is spread over the steps that the graph has.
function overSteps(event) {
  const panel = panels[event.panel], { op, step, begin, end } = panel.times.lanes[event.lane];
  if (panel.steps.length < 2) return "";
  const all = [];
  for (let i = 0; i < op.length; ++i) if (op[i] === opOf(event)) all.push(end[i] - begin[i]);
  const mean = all.reduce((a, b) => a + b, 0) / all.length;
  const [least, most] = [Math.min(...all), Math.max(...all)].map(time => formatTime(panel, time));
  return `over ${all.length} steps: mean ${formatTime(panel, mean)}, ${least} to ${most}`;
}

// What an F, or a B, sends to other ranks, by the chunks that need it.
function sendsOf(panel, event) {
  const { graph } = panel, index = indexOf(graph), data = graph.lanes[event.lane], op = opOf(event);
  const entry = graph.entries[data.entry[op]], isForward = entry.role === "F";
  if (!isForward && entry.role !== "B" && entry.role !== "BW") return "";
  const edges = isForward ? index.edgesFrom[entry.number] : index.edgesInto[entry.number].filter(edge => edge.carriesGradient);
  const isElsewhere = chunk => {
    const id = index.find(event.lane, slots.F, chunk, data.microbatch[op]);
    return id >= 0 && operationOf(graph, id).lane !== event.lane;
  };
  const bytes = edges.filter(edge => isElsewhere(isForward ? edge.to : edge.from)).reduce((sum, edge) => sum + edge.bytes, 0);
  return bytes ? `sends ${formatBytes(bytes)}` : "";
}

function describe(event) {
  const panel = panels[event.panel], { graph } = panel, lane = panel.lanes[event.lane], op = opOf(event), data = graph.lanes[event.lane];
  const entry = graph.entries[data.entry[op]], begin = lane.begin[event.place], end = lane.end[event.place];
  const before = event.place > 0 ? lane.reach[event.place - 1] : 0, waited = begin - before;
  const { producers, consumers } = relationsOf(event);
  return [
    `${nameOf(graph, event.lane, op)}: ${entry.legend}`,
    `${data.name}, operation ${op}` + (panel.steps.length > 1 || lane.step[event.place] > 0 ? `, step ${lane.step[event.place]}` : ""),
    `time ${formatTime(panel, begin, end)} to ${formatTime(panel, end)}, takes ${formatTime(panel, end - begin)}`,
    waited > 1e-9 * fullTime() ? `waits ${formatTime(panel, waited)} before it` : "",
    ...comparedWith(event), overSteps(event),
    entry.bytes ? `message of ${formatBytes(entry.bytes)}` : sendsOf(panel, event),
    `memory ${formatMemory(panel, data.held[op])}` +
      (data.after[op] !== data.held[op] ? `, after it ${formatMemory(panel, data.after[op])}` : ""),
    producers.length ? `needs ${listOf(panel, producers)}` : "",
    consumers.length ? `needed by ${listOf(panel, consumers)}` : "",
  ].filter(Boolean).join("\n");
}

function showHint() {
  const hint = byId("hint"), event = state.hovered || state.pinned, panel = event ? panels[event.panel] : null;
  hint.hidden = !(event && panel.isShown) && !state.pointedMemory;
  if (hint.hidden) return;
  if (!event) {
    const { index, lane, time, x, y } = state.pointedMemory, other = panels[index];
    hint.textContent = `${other.graph.lanes[lane].name} at ${formatTime(other, time)}\n` +
                       `memory ${formatMemory(other, memoryOf(other, lane, time))}`;
    placeHint(hint, x, y + 16, y - 8);
    return;
  }
  const key = keyOf(event) + panels.map(other => `${other.isShown} ${other.step}`);
  // Frames are many, and descriptions look at all steps.
  if (showHint.key !== key) showHint.text = describe(event);
  showHint.key = key;
  if (hint.textContent !== showHint.text) hint.textContent = showHint.text;
  const corner = panel.canvas.getBoundingClientRect(), box = boxOf(panel, event), sizes = laneSizes(panel);
  const left = Math.max(box.left, 0), right = Math.min(box.left + box.width, panel.canvas.clientWidth);
  hint.hidden = right < 0 || left > panel.canvas.clientWidth;
  const top = corner.top + event.lane * sizes.pitch;
  placeHint(hint, corner.left + (left + right) / 2, top + sizes.lane + sizes.curve + 6, top - 6);
}

// Below a place, or above it where there is no room.
function placeHint(hint, middle, below, above) {
  const top = below + hint.offsetHeight > innerHeight ? above - hint.offsetHeight : below;
  hint.style.left = Math.min(Math.max(middle - hint.offsetWidth / 2, 4), Math.max(4, innerWidth - hint.offsetWidth - 4)) + "px";
  hint.style.top = Math.max(top, 4) + "px";
}
