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

// The next found operation after the kept one, by begin, then rank; `direction` -1: the one before it.
function nextFound(direction) {
  const shown = shownPanels(), current = state.pinned;
  const keyOf = event => [shown.indexOf(panels[event.panel]), beginOf(event), event.lane];
  const compare = (a, b) => keyOf(a).map((part, i) => part - keyOf(b)[i]).find(difference => difference !== 0) || 0;
  let next = null, around = null;
  for (const panel of shown)
    (panel.marks || []).forEach((marks, lane) => {
      for (let place = 0; place < marks.length; ++place) {
        if (!marks[place]) continue;
        const event = { panel: panel.index, lane, place };
        if (!around || compare(event, around) * direction < 0) around = event;
        if (current && compare(event, current) * direction > 0 && (!next || compare(event, next) * direction < 0)) next = event;
      }
    });
  return next || around;
}
