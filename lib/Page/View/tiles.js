// Pictures of panels, in tiles that are as high as all lanes. Moving draws the same tiles elsewhere, and new ones where
// the view begins to reach. Within a tile, operations of some width are rectangles. Of narrower ones each column of
// pixels shows what share of its time is of which role.

const tileWidth = 256;
const stackedRoles = ["F", "B", "W", "BW", "message", "sync", "other"];

// Everything that the pixels of a tile depend on, except its place.
function styleOf(panel) {
  return [pixelsPerTime(panel), panel.canvas.width, panel.canvas.height, state.memory, isDark(), state.query, panel.step].join(" ");
}

// Pixels by entry, bright and dimmed, and by role.
function inksOf(panel) {
  const colors = palette(), { entries, shades } = panel.graph;
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
    Object.assign(this, { panel, scale, inks: inksOf(panel), perTime: pixelsPerTime(panel), first: number * tileWidth });
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

  paint(canvas) {
    this.names = [];
    this.panel.lanes.forEach((lane, index) => this.paintLane(lane, index));
    const context = canvas.getContext("2d");
    context.putImageData(this.image, 0, 0);
    paintNames(context, this.names, this.scale);
  }

  paintLane(lane, index) {
    this.index = index;
    const { inks, perTime, first, panel } = this, top = Math.round(index * this.pitch), { entry } = panel.graph.lanes[index];
    const marks = panel.marks && panel.marks[index];
    const end = (first + tileWidth) / perTime, begin = firstAfter(lane, first / perTime);
    this.fill(0, tileWidth, top, top + this.laneHeight, inks.lane);
    let isCovered = false, place = begin;
    for (; place < lane.begin.length && lane.begin[place] < end; ++place) {
      const left = lane.begin[place] * perTime - first, right = lane.end[place] * perTime - first;
      if (right <= left) continue;
      const isDim = marks !== null && !marks[place];
      if (right - left >= 2.5) {
        this.paintOperation(lane, place, left, right, top, entry[lane.op[place]], isDim);
        continue;
      }
      isCovered = true;
      const row = (isDim ? stackedRoles.length : 0) + inks.role[entry[lane.op[place]]];
      this.addCover(this.cover, row * tileWidth, left, right, 1 / lane.rows[place]);
    }
    if (isCovered) this.paintCover(top);
    if (this.curveHeight > 0) this.paintMemory(lane, index, begin, place, top + this.laneHeight + this.curveHeight);
  }

  addCover(cover, base, left, right, share) {
    const last = Math.min(Math.floor(right), tileWidth - 1);
    for (let column = Math.max(Math.floor(left), 0); column <= last; ++column)
      cover[base + column] += share * (Math.min(right, column + 1) - Math.max(left, column));
  }

  paintOperation(lane, place, left, right, top, entry, isDim) {
    const height = this.laneHeight / lane.rows[place], above = top + Math.round(lane.row[place] * height);
    // A gap between neighbours once they are wide enough to tell apart.
    const from = Math.round(left), to = Math.round(right) - (right - left > 4 ? Math.round(this.scale) : 0);
    const below = top + Math.round((lane.row[place] + 1) * height);
    this.fill(Math.min(Math.max(from, 0), tileWidth), Math.max(Math.min(to, tileWidth), 0), above, below, (isDim ? this.inks.dim : this.inks.bright)[entry]);
    // Wider ones get their names where they can be seen, with each frame.
    if (!isDim && to - from <= tileWidth && to - from >= 6 * this.scale)
      this.names.push({ texts: shortNames(this.panel, this.index, lane.op[place]), left: from, right: to, top: above, bottom: below, ink: this.inks.names[entry] });
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
        for (; level < upTo; ++level) pixels[(top + laneHeight - 1 - level) * tileWidth + column] = pixel;
      }
    }
    cover.fill(0);
  }

  // The highest level of each column.
  paintMemory(lane, index, begin, end, base) {
    const { levels, perTime, first, inks, panel, curveHeight } = this, { held, after, limit } = panel.graph.lanes[index];
    const raise = (from, to, level) => {
      const last = Math.min(Math.ceil(to * perTime - first), tileWidth);
      for (let column = Math.max(Math.floor(from * perTime - first), 0); column < last; ++column)
        if (levels[column] < level) levels[column] = level;
    };
    const beginOf = place => place < lane.begin.length ? lane.begin[place] : panel.span;
    if (begin > 0) raise(lane.end[begin - 1], beginOf(begin), after[lane.op[begin - 1]]);
    for (let place = begin; place < end; ++place) {
      raise(lane.begin[place], lane.end[place], held[lane.op[place]]);
      if (beginOf(place + 1) > lane.end[place]) raise(lane.end[place], beginOf(place + 1), after[lane.op[place]]);
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
    const fits = [[full, size], [full, smaller], [short, size], [short, smaller]].find(([text, points]) => widthOf(context, text, points) <= room);
    if (!fits) continue;
    context.font = fontOf(fits[1]);
    context.fillStyle = ink;
    context.fillText(fits[0], (left + right) / 2, (top + bottom) / 2 + scale / 2);
  }
}

// ---- Tiles of a view ----

function tileOf(panel, number) {
  if (!panel.tiles.has(number)) {
    // Those that were not needed for longest go first, and their canvases are used again.
    const spare = panel.tiles.size > 2 * Math.ceil(panel.canvas.width / tileWidth) + 6 ? panel.tiles.keys().next().value : null;
    const canvas = spare !== null ? panel.tiles.get(spare) : document.createElement("canvas");
    panel.tiles.delete(spare);
    if (canvas.width !== tileWidth || canvas.height !== panel.canvas.height) {
      canvas.width = tileWidth;
      canvas.height = panel.canvas.height;
    }
    new TilePainter(panel, number).paint(canvas);
    panel.tiles.set(number, canvas);
    return canvas;
  }
  const canvas = panel.tiles.get(number);
  panel.tiles.delete(number);
  panel.tiles.set(number, canvas);
  return canvas;
}

// Draws the tiles of the view in pixels of the screen, and one that it may reach soon.
function drawTiles(panel, context) {
  const style = styleOf(panel);
  if (panel.tileStyle !== style) {
    panel.tiles = new Map();
    panel.tileStyle = style;
  }
  const first = firstPixel(panel), begin = Math.floor(first / tileWidth), end = Math.floor((first + panel.canvas.width - 1) / tileWidth);
  let numNew = 0;
  for (let number = begin; number <= end; ++number) {
    numNew += panel.tiles.has(number) ? 0 : 1;
    context.drawImage(tileOf(panel, number), number * tileWidth - first, 0);
  }
  const next = [end + 1, begin - 1].find(number => number >= 0 && !panel.tiles.has(number));
  if (numNew === 0 && next !== undefined) tileOf(panel, next);
}
