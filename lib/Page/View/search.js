// Search: words that all have to fit. "F c3 m2" and its parts, "7B0" as on the picture, "rank 1" or "r1", "send",
// and durations as ">5" and "<0.5", in the unit of the axis.

function parseQuery(text) {
  const words = text.trim().replace(/\b(rank|chunk|microbatch|step)\s+(?=\d)/gi, (_, word) => word[0] === "s" ? "step" : word[0])
    .split(/\s+/).filter(Boolean);
  const tests = words.map(word => {
    const cell = /^(\d+)?(F|B|W|BW|R)(\d+)'?$/.exec(word), numbered = /^([rcmep]|step)(\d+)$/.exec(word.toLowerCase());
    const compared = /^([<>])(\d*\.?\d+)$/.exec(word);
    if (numbered) return { part: numbered[1], number: +numbered[2] };
    if (cell) return { role: cell[2], chunk: cell[1] === undefined ? null : +cell[1], microbatch: +cell[3] };
    if (compared) return { sign: compared[1], time: +compared[2] };
    return { word: word.toLowerCase() };
  });
  return tests;
}

function fitsEntry(entry, test) {
  if (test.word !== undefined)
    return /^(f|b|w|bw|r)$/.test(test.word) ? entry.name.toLowerCase() === test.word : entry.name.toLowerCase().includes(test.word);
  if (test.role) return entry.role === test.role && (test.chunk === null || entry.number === test.chunk);
  return !["c", "e", "p"].includes(test.part) || (entry.letter === test.part && entry.number === test.number);
}

function fitsEvent(test, panel, index, lane, place) {
  const { microbatch } = panel.graph.lanes[index];
  if (test.role) return microbatch[lane.op[place]] === test.microbatch;
  if (test.part === "m") return microbatch[lane.op[place]] === test.number;
  if (test.part === "r") return index === test.number;
  if (test.part === "step") return lane.step[place] === test.number;
  if (!test.sign) return true;
  const time = (lane.end[place] - lane.begin[place]) / unitFor(panel, panel.span).size;
  return test.sign === ">" ? time > test.time : time < test.time;
}

// Marks what fits in a panel; returns how many do.
function markPanel(panel, tests) {
  if (!tests.length) {
    panel.marks = null;
    return 0;
  }
  const fits = Uint8Array.from(panel.graph.entries, entry => tests.every(test => fitsEntry(entry, test)));
  let count = 0;
  panel.marks = panel.lanes.map((lane, index) => {
    const marks = new Uint8Array(lane.op.length), { entry } = panel.graph.lanes[index];
    for (let place = 0; place < marks.length; ++place)
      if (fits[entry[lane.op[place]]] && tests.every(test => fitsEvent(test, panel, index, lane, place))) {
        marks[place] = 1;
        ++count;
      }
    return marks;
  });
  return count;
}

function search(text) {
  state.query = text.trim();
  const tests = parseQuery(text);
  const count = panels.reduce((sum, panel) => sum + markPanel(panel, tests), 0);
  byId("found").textContent = !tests.length ? "" : `${count} found`;
  queueDraw();
}

const beginOf = event => panels[event.panel].lanes[event.lane].begin[event.place];

// The first place of a lane that begins at `time` or later, or only later.
function placeFrom(lane, time, isOnlyLater) {
  let low = 0, high = lane.begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isOnlyLater ? lane.begin[middle] <= time : lane.begin[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

// A panel's found operation that comes first by begin, then rank; `direction` -1: the last one. With `after`, only those that come
// after that event; -1: before it.
function foundIn(panel, direction, after) {
  let best = null;
  (panel.marks || []).forEach((marks, index) => {
    const lane = panel.lanes[index];
    let start = direction > 0 ? 0 : marks.length;
    if (after) start = placeFrom(lane, beginOf(after), direction > 0 ? index <= after.lane : index < after.lane);
    const place = direction > 0 ? marks.indexOf(1, start) : start > 0 ? marks.lastIndexOf(1, start - 1) : -1;
    if (place < 0) return;
    const lead = best ? (beginOf(best) - lane.begin[place]) * direction || (best.lane - index) * direction : 1;
    if (lead > 0) best = { panel: panel.index, lane: index, place };
  });
  return best;
}

// The next found operation after the kept one, by panel, begin and rank; `direction` -1: the one before it. After the last one
// comes the first. Takes n lanes and logarithms of their lengths, and looks at bytes in between.
function nextFound(direction) {
  const shown = direction > 0 ? shownPanels() : [...shownPanels()].reverse(), current = state.pinned;
  const home = current ? shown.indexOf(panels[current.panel]) : -1;
  const inOrder = home < 0 ? shown : shown.slice(home + 1).concat(shown.slice(0, home + 1));
  return (home < 0 ? null : foundIn(shown[home], direction, current)) ||
    inOrder.reduce((found, panel) => found || foundIn(panel, direction), null);
}
