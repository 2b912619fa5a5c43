// Pictures of panels, in tiles that are as high as all lanes. Moving draws the same tiles elsewhere, and new ones where
// the view begins to reach. Within a tile, operations of some width are rectangles. Of narrower ones each column of
// pixels shows what share of its time is of which role.

const tileWidth = 256;
const stackedRoles = ["F", "R", "B", "W", "BW", "message", "sync", "other"];

// Everything that the pixels of a tile depend on, except its place and the zoom.
function styleOf(panel) {
  return [panel.canvas.width, panel.canvas.height, state.memory, isDark(), state.query, panel.step, state.stretch].join(" ");
}

// Colours by entry, bright and dimmed, and by role. They are kept, since every frame asks for them.
function inksOf(panel) {
  const colors = palette();
  if (panel.inks?.colors !== colors) panel.inks = { colors, ...makeInks(colors, panel.graph) };
  return panel.inks;
}
function makeInks(colors, { entries, shades }) {
  const fills = entries.map(entry => fillOf(colors, entry.role, entry.shade, shades));
  const dimmed = fill => mixed(fill, colors.lane, 0.8);
  const roles = stackedRoles.map(role => fillOf(colors, role, 0, 1));
  return {
    fills, names: fills.map(inkOn), role: entries.map(entry => stackedRoles.indexOf(colorRole(entry.role))),
    bright: Uint32Array.from(fills, pixelOf), dim: Uint32Array.from(fills, fill => pixelOf(dimmed(fill))),
    brightRoles: Uint32Array.from(roles, pixelOf), dimRoles: Uint32Array.from(roles, role => pixelOf(dimmed(role))),
    lane: pixelOf(colors.lane), memory: pixelOf(colors.memory), limit: pixelOf(colors.limit), line: pixelOf(colors["memory-line"]),
  };
}

class TilePainter {
  constructor(panel, number) {
    const scale = sharpness(), sizes = laneSizes(panel);
    Object.assign(this, { panel, scale, number, next: 0, names: [], inks: inksOf(panel) });
    this.perTime = pixelsPerTime(panel);
    this.first = number * tileWidth;
    this.pitch = sizes.pitch * scale;
    this.laneHeight = Math.max(1, Math.round(sizes.lane * scale));
    this.curveHeight = Math.round(sizes.curve * scale);
    this.height = panel.canvas.height;
    this.image = new ImageData(tileWidth, this.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    // What narrow operations cover of each column, by role, those that are dimmed last.
    this.cover = new Float32Array(2 * stackedRoles.length * tileWidth);
    this.levels = new Float64Array(tileWidth);
  }

  fill(left, right, top, bottom, pixel) {
    for (let y = Math.max(top, 0); y < Math.min(bottom, this.height); ++y)
      this.pixels.fill(pixel, y * tileWidth + left, y * tileWidth + right);
  }

  // Paints lanes until `deadline`, at least one; returns whether all are done.
  paintUntil(deadline) {
    const { lanes } = this.panel;
    do {
      if (this.next < lanes.length) this.paintLane(lanes[this.next], this.next++);
    } while (this.next < lanes.length && performance.now() < deadline);
    return this.next >= lanes.length;
  }

  finish(canvas) {
    const context = canvas.getContext("2d");
    context.putImageData(this.image, 0, 0);
    paintNames(context, this.names, this.scale);
  }

  // This runs for every operation of the view, so its inner loop calls nothing for narrow ones.
  paintLane(lane, index) {
    const { inks, perTime, first, panel, cover } = this, top = Math.round(index * this.pitch), { entry } = panel.graph.lanes[index];
    const marks = panel.marks && panel.marks[index], numRoles = stackedRoles.length;
    const { begin: begins, end: ends, op: ops, rows } = lane, { role: roles } = inks, count = begins.length;
    const until = (first + tileWidth) / perTime, begin = firstAfter(lane, first / perTime);
    this.index = index;
    this.fill(0, tileWidth, top, top + this.laneHeight, inks.lane);
    let isCovered = false, place = begin;
    for (; place < count && begins[place] < until; ++place) {
      const left = begins[place] * perTime - first, right = ends[place] * perTime - first;
      if (right <= left) continue;
      const number = entry[ops[place]], isDim = marks !== null && !marks[place];
      if (right - left >= 2.5) {
        this.paintOperation(lane, place, left, right, top, number, isDim);
        continue;
      }
      isCovered = true;
      const base = (isDim ? numRoles + roles[number] : roles[number]) * tileWidth, column = Math.floor(left);
      if (right <= column + 1 && column >= 0) cover[base + column] += (right - left) / rows[place];
      else this.addCover(base, left, right, 1 / rows[place]);
    }
    if (isCovered) this.paintCover(top);
    if (this.curveHeight > 0) this.paintMemory(lane, index, begin, place, top + this.laneHeight + this.curveHeight);
  }

  addCover(base, left, right, share) {
    const last = Math.min(Math.floor(right), tileWidth - 1);
    for (let column = Math.max(Math.floor(left), 0); column <= last; ++column)
      this.cover[base + column] += share * (Math.min(right, column + 1) - Math.max(left, column));
  }

  paintOperation(lane, place, left, right, top, entry, isDim) {
    const height = this.laneHeight / lane.rows[place], above = top + Math.round(lane.row[place] * height);
    // A gap between neighbours once they are wide enough to tell apart.
    const from = Math.round(left), to = Math.round(right) - (right - left > 4 ? Math.round(this.scale) : 0);
    const below = top + Math.round((lane.row[place] + 1) * height);
    const pixel = (isDim ? this.inks.dim : this.inks.bright)[entry];
    this.fill(Math.min(Math.max(from, 0), tileWidth), Math.max(Math.min(to, tileWidth), 0), above, below, pixel);
    // Wider ones get their names where they can be seen, with each frame.
    if (!isDim && to - from <= tileWidth && to - from >= 6 * this.scale)
      this.names.push({ texts: shortNames(this.panel, this.index, lane.op[place]), left: from, right: to, top: above, bottom: below,
                        ink: this.inks.names[entry] });
  }

  // Shares from the bottom up; what is left is idle.
  paintCover(top) {
    const { cover, pixels, laneHeight, inks } = this, numRoles = stackedRoles.length;
    for (let column = 0; column < tileWidth; ++column) {
      let level = 0, sum = 0;
      for (let row = 0; row < 2 * numRoles; ++row) {
        const share = cover[row * tileWidth + column];
        if (share <= 0) continue;
        sum += share;
        // Whatever runs at all shows.
        const upTo = Math.min(laneHeight, Math.max(Math.round(sum * laneHeight), 1));
        const pixel = row < numRoles ? inks.brightRoles[row] : inks.dimRoles[row - numRoles];
        for (; level < upTo; ++level) {
          const at = (top + laneHeight - 1 - level) * tileWidth + column;
          // Beside a wide operation, what is next to it has no column of its own.
          if (pixels[at] === inks.lane) pixels[at] = pixel;
        }
      }
    }
    cover.fill(0);
  }

  // Columns that a time covers hold at least `level`.
  raise(from, to, level) {
    const { levels, perTime, first } = this, last = Math.min(Math.ceil(to * perTime - first), tileWidth);
    for (let column = Math.max(Math.floor(from * perTime - first), 0); column < last; ++column)
      if (levels[column] < level) levels[column] = level;
  }

  // The highest level of each column.
  paintMemory(lane, index, begin, end, base) {
    const { levels, inks, panel, curveHeight, perTime, first } = this, { held, after, before, limit } = panel.graph.lanes[index];
    const { begin: begins, end: ends, op: ops } = lane, count = begins.length;
    const beginOf = place => place < count ? begins[place] : panel.span;
    if (begin > 0) this.raise(ends[begin - 1], beginOf(begin), after[ops[begin - 1]]);
    else this.raise(0, beginOf(0), before);
    for (let place = begin; place < end; ++place) {
      const op = ops[place], next = beginOf(place + 1), column = Math.floor(begins[place] * perTime - first);
      // Within a column the higher one counts.
      if (column >= 0 && next * perTime - first <= column + 1) {
        levels[column] = Math.max(levels[column], held[op], after[op]);
        continue;
      }
      this.raise(begins[place], ends[place], held[op]);
      if (next > ends[place]) this.raise(ends[place], next, after[op]);
    }
    const scale = (curveHeight - 1) / (panel.highest || 1);
    for (let column = 0; column < tileWidth; ++column) {
      const height = Math.round(levels[column] * scale);
      for (let y = 1; y <= height; ++y) this.pixels[(base - y) * tileWidth + column] = y === height ? inks.line : inks.memory;
    }
    levels.fill(0);
    if (limit === null) return;
    const y = base - Math.max(1, Math.round(limit * scale));
    for (let column = 0; column < tileWidth; ++column)
      if ((first + column) % 9 < 5) this.pixels[y * tileWidth + column] = inks.limit;
  }
}

// ---- Names ----

const fontOf = size => `${size}px Helvetica, Arial, "Liberation Sans", sans-serif`;
const widths = new Map();
function widthOf(context, text, size) {
  const key = text.length + text.replace(/\d/g, "0");
  if (!widths.has(key)) {
    context.font = fontOf(100);
    widths.set(key, context.measureText(text).width / 100);
  }
  return widths.get(key) * size;
}

// "7B0" with several chunks a rank, "B0" with one, or the microbatch alone.
function shortNames(panel, index, op) {
  const { entry: entries, microbatch: microbatches } = panel.graph.lanes[index];
  const entry = panel.graph.entries[entries[op]], microbatch = microbatches[op];
  if (!worksOn(entry.role)) return [nameOf(panel.graph, index, op), entry.name];
  const name = entry.name + microbatch + (entry.late ? "'" : "");
  return [panel.graph.shades > 1 ? entry.number + name : name, String(microbatch)];
}

function paintNames(context, names, scale) {
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { texts, left, right, top, bottom, ink } of names) {
    const room = right - left - 2 * scale, height = bottom - top;
    if (height < 8 * scale) continue;
    const size = Math.min(12 * scale, height - 2 * scale), smaller = Math.min(9 * scale, size);
    const [full, short] = texts;
    const choices = [[full, size], [full, smaller], [short, size], [short, smaller]];
    const fits = choices.find(([text, points]) => widthOf(context, text, points) <= room);
    if (!fits) continue;
    context.font = fontOf(fits[1]);
    context.fillStyle = ink;
    context.fillText(fits[0], (left + right) / 2, (top + bottom) / 2 + scale / 2);
  }
}

// ---- Tiles of a view ----

// Milliseconds of a frame in which tiles are painted: of a view at another zoom, and that are not needed yet.
const zoomTime = 8;
const spareTime = 5;

// A canvas for a tile. Those that were not needed for longest are used again.
function spareCanvas(panel) {
  const most = Math.ceil(panel.canvas.width / tileWidth) + 6, oldest = panel.tiles.keys().next().value;
  const canvas = panel.tiles.size > most ? panel.tiles.get(oldest) : document.createElement("canvas");
  if (panel.tiles.size > most) panel.tiles.delete(oldest);
  if (canvas.width !== tileWidth || canvas.height !== panel.canvas.height) {
    canvas.width = tileWidth;
    canvas.height = panel.canvas.height;
  }
  return canvas;
}

// A tile, or null where it is not painted by `deadline`; the next call goes on with it.
function tileOf(panel, number, deadline) {
  let canvas = panel.tiles.get(number);
  if (!canvas) {
    if (!panel.begun.has(number)) panel.begun.set(number, new TilePainter(panel, number));
    const painter = panel.begun.get(number);
    if (!painter.paintUntil(deadline)) return null;
    panel.begun.delete(number);
    canvas = spareCanvas(panel);
    painter.finish(canvas);
  }
  // The last one is that which was used last.
  panel.tiles.delete(number);
  panel.tiles.set(number, canvas);
  return canvas;
}

// Paints a part of a tile that the view may reach soon.
function paintAhead(panel, begin, end) {
  const number = [end + 1, begin - 1].find(candidate => candidate >= 0 && !panel.tiles.has(candidate));
  if (number === undefined || number * tileWidth > panel.span * pixelsPerTime(panel)) return;
  for (const other of panel.begun.keys()) if (other !== number) panel.begun.delete(other);
  tileOf(panel, number, performance.now() + spareTime);
}

// Tiles are for one zoom. Those of the last view that was complete are kept, to be seen until there are others.
function beginTiles(panel) {
  const style = styleOf(panel), perTime = pixelsPerTime(panel);
  if (panel.tileStyle === style && panel.tilePerTime === perTime) return;
  if (panel.tileStyle !== style) panel.before = null;
  else if (panel.isComplete) panel.before = { tiles: panel.tiles, perTime: panel.tilePerTime };
  Object.assign(panel, { tiles: new Map(), begun: new Map(), tileStyle: style, tilePerTime: perTime, isComplete: false });
}

// Draws the tiles of the view in pixels of the screen. While it zooms, what is not painted in time is stretched.
function drawTiles(panel, context) {
  beginTiles(panel);
  const first = firstPixel(panel), begin = Math.floor(first / tileWidth), end = Math.floor((first + panel.canvas.width - 1) / tileWidth);
  const deadline = panel.before ? performance.now() + zoomTime : Infinity;
  const shown = [];
  let isNew = false;
  for (let number = begin; number <= end; ++number) {
    isNew ||= !panel.tiles.has(number);
    shown.push(panel.tiles.has(number) || performance.now() < deadline ? tileOf(panel, number, deadline) : null);
  }
  panel.isComplete = !shown.includes(null);
  if (panel.isComplete) panel.before = null;
  else {
    const ratio = panel.tilePerTime / panel.before.perTime * tileWidth;
    for (const [number, canvas] of panel.before.tiles) context.drawImage(canvas, number * ratio - first, 0, ratio, canvas.height);
    queueDraw();
  }
  shown.forEach((canvas, i) => { if (canvas) context.drawImage(canvas, (begin + i) * tileWidth - first, 0); });
  if (!isNew) paintAhead(panel, begin, end);
}
