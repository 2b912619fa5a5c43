// Panels: what is drawn of the times of a graph, one step or all.

// Events that run at the same time share the height of their lane. `reach` is the latest end so far, which ascends.
function addRows(lane) {
  const count = lane.begin.length;
  lane.row = new Uint8Array(count);
  lane.rows = new Uint8Array(count).fill(1);
  lane.reach = new Float64Array(count);
  const ends = [];
  for (let i = 0, first = 0, latest = -Infinity; i < count; ++i) {
    if (lane.begin[i] >= latest) {
      first = i;
      ends.length = 0;
    }
    const row = ends.findIndex(end => end <= lane.begin[i]);
    // As many rows as `rows` can count; what is beyond shares the last one.
    lane.row[i] = Math.min(row < 0 ? ends.length : row, 254);
    ends[lane.row[i]] = lane.end[i];
    // Most overlap with none.
    if (ends.length > 1) lane.rows.fill(ends.length, first, i + 1);
    lane.reach[i] = latest = Math.max(latest, lane.end[i]);
  }
}

const worksOn = role => ["F", "R", "B", "W", "BW"].includes(role);

// The first begin of work; of events where there is none. Ranks may wait for it in a receive before that.
function firstWork(graph, lanes) {
  let work = Infinity, any = Infinity;
  lanes.forEach((lane, i) => {
    const { entry } = graph.lanes[i];
    if (lane.begin.length) any = Math.min(any, lane.begin[0]);
    const first = lane.op.findIndex(op => worksOn(graph.entries[entry[op]].role));
    if (first >= 0) work = Math.min(work, lane.begin[first]);
  });
  return Number.isFinite(work) ? work : any;
}

// The events of a step, or all of them. What was measured begins with time 0.
function lanesOfStep(graph, times, step) {
  const chosen = times.lanes.map(lane => {
    if (step === null) return { op: lane.op, step: lane.step, begin: lane.begin.slice(), end: lane.end.slice() };
    const isIn = (_, i) => lane.step[i] === step;
    return { op: lane.op.filter(isIn), step: lane.step.filter(isIn), begin: lane.begin.filter(isIn), end: lane.end.filter(isIn) };
  });
  const origin = times.name !== "measured" ? 0 : firstWork(graph, chosen);
  for (const lane of chosen) {
    for (let i = 0; i < lane.begin.length; ++i) {
      lane.begin[i] -= origin;
      lane.end[i] -= origin;
    }
    addRows(lane);
  }
  return chosen;
}

// What a bubble is not: the same as in the report of `veeline compile`, where ranks work on updates, too.
const keepsBusy = role => worksOn(role) || role === "other";

// How long lanes are busy, from when to when, and what they hold at most.
function factsOf(panel) {
  const facts = { makespan: panel.span, bubble: 0, bubbleOfSpan: 0, peaks: [] };
  panel.lanes.forEach((lane, i) => {
    const { entry, held } = panel.graph.lanes[i];
    let busy = 0, first = Infinity, latest = -Infinity, peak = 0;
    for (let j = 0; j < lane.begin.length; ++j) {
      peak = Math.max(peak, held[lane.op[j]]);
      if (!keepsBusy(panel.graph.entries[entry[lane.op[j]]].role)) continue;
      busy += Math.max(0, lane.end[j] - Math.max(lane.begin[j], latest));
      first = Math.min(first, lane.begin[j]);
      latest = Math.max(latest, lane.end[j]);
    }
    facts.peaks.push(peak);
    // Links to the host's memory compute nothing.
    if (first === Infinity) return;
    const share = time => time > 0 ? 1 - busy / time : 0;
    facts.bubble = Math.max(facts.bubble, share(panel.span));
    facts.bubbleOfSpan = Math.max(facts.bubbleOfSpan, share(latest - first));
  });
  return facts;
}

function stepsOf(times) {
  const steps = new Set();
  for (const lane of times.lanes) for (const step of lane.step) steps.add(step);
  return [...steps].sort((a, b) => a - b);
}

// Shows another step of a panel; null: all.
function setStep(panel, step) {
  panel.step = step;
  panel.lanes = lanesOfStep(panel.graph, panel.times, step);
  panel.span = panel.lanes.reduce((latest, lane) => Math.max(latest, lane.reach.length ? lane.reach[lane.reach.length - 1] : 0), 0);
  panel.facts = factsOf(panel);
  panel.highest = Math.max(...panel.facts.peaks, ...panel.graph.lanes.map(lane => lane.limit ?? 0));
  panel.places = null;
  panel.path = null;
  panel.marks = null;
}

// Of a measured run beside a prediction the last step is shown, which is as warm as a step gets.
const panels = graphs.flatMap(graph => graph.times.map(times => ({ graph, times }))).map((panel, index) => {
  panel.index = index;
  panel.steps = stepsOf(panel.times);
  panel.name = panel.graph.name + (panel.times.name ? `: ${panel.times.name}` : "");
  panel.isShown = true;
  setStep(panel, panel.steps.length > 1 ? panel.steps[panel.steps.length - 1] : null);
  return panel;
});

// Inputs of a page may have the same name: two artifacts of a model, or an artifact and its run.
panels.forEach(({ name }) => {
  const others = panels.filter(panel => panel.name === name);
  if (others.length > 1) others.forEach((panel, i) => panel.name += ` (${i + 1})`);
});

// The first event of a lane that ends after `time`, or one before it that overlaps with it.
function firstAfter(lane, time) {
  let low = 0, high = lane.reach.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.reach[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// By step and lane, where each operation stands among the events of the panel; -1: nowhere.
function placesOf(panel, step) {
  if (!panel.places) {
    panel.places = new Map();
    panel.lanes.forEach((lane, i) => {
      for (let j = 0; j < lane.op.length; ++j) {
        if (!panel.places.has(lane.step[j])) panel.places.set(lane.step[j], []);
        const lanes = panel.places.get(lane.step[j]);
        lanes[i] ??= new Int32Array(panel.graph.lanes[i].entry.length).fill(-1);
        lanes[i][lane.op[j]] = j;
      }
    });
  }
  return panel.places.get(step);
}
const placeOf = (panel, step, lane, op) => placesOf(panel, step)?.[lane]?.[op] ?? -1;
