// Who needs what from whom, by the edges between chunks: for chunk k and microbatch i
//   F needs F of the chunks before it; R needs its F; B and BW need their F and R, and the B or BW of the chunks after
//   it; W needs its B, or what that would need where there is none. What comes from another rank comes by a send and a receive, where the
//   program has these.
// An operation is its number among those of all lanes of its graph.

const slots = { F: 0, B: 1, BW: 1, W: 2, send: 3, recv: 5, R: 7 };
const slotOf = entry => slots[entry.role] + (entry.role === "send" || entry.role === "recv" ? +entry.gradient : 0);
const numSlots = 8;

function indexOf(graph) {
  if (graph.index) return graph.index;
  const numbers = 1 + Math.max(0, ...graph.entries.map(entry => entry.number));
  let microbatches = 1, groups = 1, count = 0;
  const offsets = graph.lanes.map(lane => {
    for (const microbatch of lane.microbatch) microbatches = Math.max(microbatches, microbatch + 1);
    groups = Math.max(groups, lane.group + 1);
    count += lane.entry.length;
    return count - lane.entry.length;
  });
  const table = new Int32Array(groups * numSlots * numbers * microbatches).fill(-1);
  const keyOf = (group, slot, number, microbatch) => ((group * numSlots + slot) * numbers + number) * microbatches + microbatch;
  graph.lanes.forEach((lane, i) => {
    for (let op = 0; op < lane.entry.length; ++op) {
      const entry = graph.entries[lane.entry[op]];
      if (entry.role in slots && lane.microbatch[op] >= 0)
        table[keyOf(lane.group, slotOf(entry), entry.number, lane.microbatch[op])] = offsets[i] + op;
    }
  });
  const edges = graph.edges.map(([from, to, carriesGradient, bytes], number) => ({ from, to, carriesGradient, bytes, number }));
  const group = chosen => {
    const lists = Array.from({ length: numbers }, () => []);
    for (const edge of edges) lists[edge[chosen]]?.push(edge);
    return lists;
  };
  const find = (lane, slot, number, microbatch) =>
    number < numbers ? table[keyOf(graph.lanes[lane].group, slot, number, microbatch)] : -1;
  return graph.index = { offsets, edges, edgesInto: group("to"), edgesFrom: group("from"), find };
}

// { lane, op } of a number.
function operationOf(graph, id) {
  const { offsets } = indexOf(graph);
  let lane = offsets.length - 1;
  while (offsets[lane] > id) --lane;
  return { lane, op: id - offsets[lane] };
}

function producersOf(graph, id) {
  const index = indexOf(graph), { lane, op } = operationOf(graph, id);
  const entry = graph.entries[graph.lanes[lane].entry[op]], microbatch = graph.lanes[lane].microbatch[op];
  const find = (slot, number) => index.find(lane, slot, number, microbatch);
  const either = (first, second) => first >= 0 ? first : second;
  const gradients = () => [find(slots.F, entry.number), find(slots.R, entry.number), ...index.edgesFrom[entry.number].filter(edge => edge.carriesGradient)
    .map(edge => either(find(slots.recv + 1, edge.number), find(slots.B, edge.to)))];
  const edge = index.edges[entry.number];
  const lists = {
    F: () => index.edgesInto[entry.number].map(into => either(find(slots.recv, into.number), find(slots.F, into.from))),
    R: () => [find(slots.F, entry.number)],
    B: gradients,
    BW: gradients,
    W: () => find(slots.B, entry.number) >= 0 ? [find(slots.B, entry.number)] : gradients(),
    send: () => edge ? [entry.gradient ? find(slots.B, edge.to) : find(slots.F, edge.from)] : [],
    recv: () => [find(slots.send + entry.gradient, entry.number)],
  };
  return microbatch < 0 || !lists[entry.role] ? [] : [...new Set(lists[entry.role]())].filter(other => other >= 0);
}

// Those of which it is a producer, among all that might be.
function consumersOf(graph, id) {
  const index = indexOf(graph), { lane, op } = operationOf(graph, id);
  const entry = graph.entries[graph.lanes[lane].entry[op]], microbatch = graph.lanes[lane].microbatch[op];
  if (microbatch < 0 || !(entry.role in slots)) return [];
  const find = (slot, number) => index.find(lane, slot, number, microbatch);
  const candidates = [];
  if (entry.role === "send") candidates.push(find(slots.recv + entry.gradient, entry.number));
  const isMessage = entry.role === "send" || entry.role === "recv";
  const chunks = isMessage && index.edges[entry.number] ? [index.edges[entry.number].from, index.edges[entry.number].to] : [entry.number];
  for (const chunk of chunks) {
    for (const slot of [slots.F, slots.R, slots.B, slots.W]) candidates.push(find(slot, chunk));
    if (isMessage) continue;
    for (const edge of index.edgesFrom[chunk]) candidates.push(find(slots.send, edge.number), find(slots.F, edge.to));
    for (const edge of index.edgesInto[chunk])
      candidates.push(find(slots.send + 1, edge.number), find(slots.B, edge.from), find(slots.W, edge.from));
  }
  return [...new Set(candidates)].filter(other => other >= 0 && producersOf(graph, other).includes(id));
}

// All that `next` leads to, without the first.
function closureOf(graph, id, next) {
  const seen = new Set([id]), queue = [id];
  while (queue.length && seen.size < 20000)
    for (const other of next(graph, queue.pop()))
      if (!seen.has(other)) {
        seen.add(other);
        queue.push(other);
      }
  seen.delete(id);
  return [...seen];
}

// ---- Events ----

const nameOfEvent = (panel, { lane, place }) => nameOf(panel.graph, lane, panel.lanes[lane].op[place]);
const idOf = (panel, { lane, place }) => indexOf(panel.graph).offsets[lane] + panel.lanes[lane].op[place];

// The events of what `next` gives. Of operations without times, as messages of a prediction, those behind them. In the
// one step of a prediction, what is late has to do with the step before, except for what else is late.
function eventsOf(panel, event, next) {
  const { graph } = panel, step = panel.lanes[event.lane].step[event.place], found = [], seen = new Set();
  const isLate = ({ lane, op }) => graph.entries[graph.lanes[lane].entry[op]].late;
  const first = idOf(panel, event), isFirstLate = isLate(operationOf(graph, first));
  const queue = next(graph, first);
  while (queue.length) {
    const id = queue.pop(), { lane, op } = operationOf(graph, id);
    if (seen.has(id) || (panel.times.name !== "measured" && isLate({ lane, op }) !== isFirstLate)) continue;
    seen.add(id);
    const place = placeOf(panel, step, lane, op);
    if (place >= 0) found.push({ lane, place });
    else queue.push(...next(graph, id));
  }
  return found;
}

// What an event waited for last: the operation before it on its rank, if that ended right before it, otherwise the last
// of its producers on other ranks. A receive begins before its message is there.
function causeOf(panel, event, tolerance) {
  const lane = panel.lanes[event.lane], begin = lane.begin[event.place];
  let before = event.place - 1;
  while (before >= 0 && lane.end[before] > begin + tolerance) --before;
  const endOf = other => other ? panel.lanes[other.lane].end[other.place] : -Infinity;
  const last = eventsOf(panel, event, producersOf).filter(other => other.lane !== event.lane)
    .reduce((best, other) => endOf(best) >= endOf(other) ? best : other, null);
  const end = endOf(last);
  // A send may end a little after its message has arrived, but it begins before.
  if (last && panel.lanes[last.lane].begin[last.place] > lane.end[event.place]) return null;
  const isTight = before >= 0 && lane.end[before] >= begin - tolerance;
  if (last && (end > begin + tolerance || !isTight)) return last;
  return before >= 0 ? { lane: event.lane, place: before } : last;
}

// The chain of causes that ends with the last event, from its begin on.
function criticalPathOf(panel) {
  if (panel.path) return panel.path;
  let event = null;
  panel.lanes.forEach((lane, i) => {
    for (let place = 0; place < lane.end.length; ++place)
      if (!event || lane.end[place] > panel.lanes[event.lane].end[event.place]) event = { lane: i, place };
  });
  const path = [], most = panel.lanes.reduce((sum, lane) => sum + lane.op.length, 0);
  for (; event && path.length < most; event = causeOf(panel, event, panel.span * 1e-8)) path.push(event);
  return panel.path = path.reverse();
}
