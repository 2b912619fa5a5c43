// Reads what lib/Page/Encode.cpp has written, where the coding is described.

class ByteReader {
  constructor(base64) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) this.bytes[i] = text.charCodeAt(i);
    this.at = 0;
  }
  unsigned() {
    let byte = this.bytes[this.at++];
    let value = byte & 127;
    // Shifts have 32 bits, and numbers may have more.
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
    }
    return value;
  }
  signed() {
    const value = this.unsigned();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
  // The next signed number if there is one, by a bit of `flags`.
  difference(flags, bit) { return flags & bit ? this.signed() : 0; }
}

function decodeOperations(graph, lane) {
  const count = lane.count, reader = new ByteReader(lane.operations), numEntries = graph.entries.length;
  const result = { entry: new Uint32Array(count), microbatch: new Int32Array(count),
                   held: new Float64Array(count), after: new Float64Array(count) };
  const microbatches = new Int32Array(numEntries).fill(-1);
  const rises = new Float64Array(numEntries), falls = new Float64Array(numEntries);
  for (let i = 0, level = lane.before; i < count; ++i) {
    const first = reader.unsigned(), flags = first & 7, entry = (first - flags) / 8;
    result.entry[i] = entry;
    result.microbatch[i] = microbatches[entry] += 1 + reader.difference(flags, 1);
    rises[entry] += reader.difference(flags, 2);
    falls[entry] += reader.difference(flags, 4);
    result.held[i] = level += rises[entry];
    result.after[i] = level += falls[entry];
  }
  return result;
}

function decodeEvents(graph, operations, lane, tick) {
  const count = lane.count, reader = new ByteReader(lane.events);
  const result = { op: new Int32Array(count), step: new Int32Array(count),
                   begin: new Float64Array(count), end: new Float64Array(count) };
  const durations = new Float64Array(graph.entries.length);
  // A division by a whole number keeps decimal fractions as they are.
  const perUnit = tick < 1 ? Math.round(1 / tick) : 0;
  const timeOf = ticks => perUnit ? ticks / perUnit : ticks * tick;
  for (let i = 0, op = -1, step = 0, free = 0; i < count; ++i) {
    const flags = reader.unsigned();
    op += 1 + reader.difference(flags, 1);
    step += reader.difference(flags, 2);
    const begin = free + reader.difference(flags, 4);
    const entry = operations.entry[op];
    durations[entry] += reader.difference(flags, 8);
    free = begin + durations[entry];
    result.op[i] = op;
    result.step[i] = step;
    result.begin[i] = timeOf(begin);
    result.end[i] = timeOf(free);
  }
  return result;
}

// Entries as objects, names with them, and everything that is coded as arrays.
function decodeGraph(json) {
  const graph = { ...json };
  graph.entries = json.entries.map(([kind, number, shade, bytes]) => ({ ...json.kinds[kind], kind, number, shade, bytes }));
  graph.lanes = json.lanes.map(({ name, group, limit, before, ...coded }) =>
    ({ name, group, limit, before, ...decodeOperations(graph, { before, ...coded }) }));
  graph.times = json.times.map(times => {
    const lanes = times.lanes.map((lane, i) => decodeEvents(graph, graph.lanes[i], lane, times.tick));
    return { name: times.name, lanes };
  });
  return graph;
}

// "F c3 m2", "send activation e1 m0", "W c0 m7'".
function nameOf(graph, lane, op) {
  const operations = graph.lanes[lane], entry = graph.entries[operations.entry[op]], microbatch = operations.microbatch[op];
  return entry.name + (entry.letter ? ` ${entry.letter}${entry.number}` : "") +
         (microbatch >= 0 ? ` m${microbatch}` : "") + (entry.late ? "'" : "");
}

const graphs = [...document.querySelectorAll("script.veeline-graph-1")].map(script => {
  const graph = decodeGraph(JSON.parse(script.textContent));
  script.textContent = "";  // It may have many megabytes.
  return graph;
});
