# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uses a timeline page as its reader does, and prints what it shows.

Usage: page.py SCENARIO PAGE[#VIEW] [SCENARIO PAGE[#VIEW] ...] -- CHROMIUM [ARGUMENT ...]
"""

import json
import os
import pathlib
import sys

import palettes
from browser import Browser


class Page(Browser):
    def visit(self, address, **size):
        path, _, view = address.partition("#")
        self.open("file://" + os.path.abspath(path) + ("#" + view if view else ""), **size)

    def text(self, element):
        return self.run(f"byId('{element}').hidden ? 'nothing' : byId('{element}').textContent")

    def report(self, what, value):
        print(f"{what}: {value}", flush=True)

    def report_range(self, what):
        self.report(what, self.text("range"))

    def report_hint(self, what):
        self.report(what, self.text("hint").replace("\n", " | "))

    def report_pinned(self, what):
        self.report(what, self.run("state.pinned ? describe(state.pinned).split('\\n').slice(0, 2).join(' | ') : 'nothing'"))

    def place(self, panel, lane, time):
        """In the middle of what runs there."""
        script = f"""(() => {{
          const panel = panels[{panel}], box = panel.canvas.getBoundingClientRect(), sizes = laneSizes(panel);
          return [box.left + timeScale(panel)({time}), box.top + {lane} * sizes.pitch + sizes.lane / 2];
        }})()"""
        return tuple(self.run(script))

    def color(self, panel, lane, time, below=0):
        """Of the pixel there, as drawn; `below` is in pixels of the screen, from the top of the lane."""
        script = f"""(() => {{
          const panel = panels[{panel}], scale = sharpness(), sizes = laneSizes(panel);
          const x = timeScale(panel)({time}) * scale, y = {lane} * sizes.pitch * scale + ({below} || 3);
          return hexOf([...panel.canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3));
        }})()"""
        return self.run(script)


def view(page, address):
    """What is in the page, for FileCheck."""
    page.visit(address)
    print(page.run("document.documentElement.outerHTML"))


def moves(page, address):
    page.visit(address)
    page.report_range("begin")
    page.report("color of a forward", page.color(0, 1, 2.5))
    page.report("color of nothing", page.color(0, 1, 0.5))
    page.report("color of memory and above it", (page.color(0, 0, 5, 30 + 17), page.color(0, 3, 3.5, 32)))
    x, y = page.place(0, 0, 6)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-208, modifiers=2)
    page.settle()
    page.report_range("zoomed by wheel")
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=40)
    page.settle()
    page.report_range("wheel without Ctrl")
    page.mouse("mouseWheel", x, y, deltaX=40, deltaY=0)
    page.settle()
    page.report_range("wheel sideways")
    page.key("0")
    page.key("+")
    page.report_range("key +")
    page.drag(page.place(0, 0, 8), page.place(0, 0, 6))
    page.report_range("dragged by two")
    page.report("frames of that and their tiles", page.run("[panels[0].tiles.size > 0, drawn.frames > 3]"))
    page.click(*page.place(0, 0, 8), count=2)
    page.report_range("double click")
    page.run("byId('zoom-out').click()")
    page.settle()
    page.report_range("zoomed out by button")
    for key in ("Home", "End", "ArrowLeft", "d", "w", "-"):
        page.key(key)
        page.report_range(f"key {key}")
    page.run("byId('fit').click()")
    page.settle()
    page.report_range("whole")


def chooses(page, address):
    page.visit(address)
    page.mouse("mouseMoved", *page.place(0, 1, 2.5))
    page.settle()
    page.report_hint("hover")
    x, y = page.place(0, 1, 2.5)
    page.mouse("mouseMoved", x, y + 25)
    page.settle()
    page.report_hint("memory")
    page.mouse("mouseMoved", 5, 5)
    page.settle()
    page.report_hint("elsewhere")
    before = page.color(0, 0, 0.5), page.color(0, 0, 1.5)
    page.click(*page.place(0, 1, 2.5))
    page.report("spoken", page.text("spoken").split("\n")[0])
    # F1 of stage 0 is what it needs; F0 has nothing to do with it.
    page.report("what is related stays, the other steps back", (page.color(0, 0, 1.5) == before[1], page.color(0, 0, 0.5) != before[0]))
    related = "relationsOf(state.pinned).all.map(event => nameOfEvent(panels[0], event)).sort().join(', ')"
    page.report("all of its chain", page.run(related))
    other = "describe(counterpart(panels[1], state.pinned)).split('\\n').slice(0, 3).join(' | ')"
    page.report("the same in the other panel", page.run(other))
    for key, what in (("]", "the one that needs it"), ("]", "and that one"), ("[", "back"), (".", "next on the rank"), (",", "before it")):
        page.key(key)
        page.report_pinned(what)
    page.key("f")
    page.report_range("zoomed to it")
    page.click(*page.place(0, 2, 3.5))
    page.report_pinned("click on it")
    page.key("0")
    page.key("c")
    page.report("critical path", page.run("criticalPathOf(panels[0]).map(event => nameOfEvent(panels[0], event)).join(', ')"))
    page.report("legend", "critical path" in page.text("legend"))
    page.report("on it and off it", (page.color(0, 0, 0.5) == before[0], page.color(0, 0, 2.5) != before[1]))


def searches(page, address):
    page.visit(address)
    page.key("/")
    page.type("F m2")
    page.report("found", page.text("found"))
    dimmed = "mixed(fillOf(palette(), 'F', 0, 1), palette().lane, 0.8)"
    bright = "fillOf(palette(), 'F', 0, 1)"
    page.report("found and not", (page.color(0, 0, 2.5) == page.run(bright), page.color(0, 0, 1.5) == page.run(dimmed)))
    page.key("Enter")
    for name, keys in (("first", []), ("next", ["n"]), ("before", ["N"]), ("before the first", ["p"])):
        for key in keys:
            page.key(key)
        page.report_pinned(name)
    page.key("Escape")
    page.key("Escape")
    page.report("dropped", (page.run("state.pinned"), page.text("found"), page.run("byId('search').value")))
    for query in ("c1", "rank 2", "r0 B", "7B0", "BW", ">1", "microbatch 3 F chunk 0", "send", "F2", "step 0 W", "nothing"):
        page.run(f"search('{query}')")
        page.report(query, page.text("found"))


def looks(page, address):
    page.visit(address)
    page.report("light", page.run("[getComputedStyle(document.body).backgroundColor, document.documentElement.style.colorScheme]"))
    page.prefer("dark")
    page.report("the system is dark", page.run("getComputedStyle(document.body).backgroundColor"))
    page.report("color of a forward", page.color(0, 1, 2.5))
    page.key("t")
    page.report("key t", (page.text("theme"), page.run("getComputedStyle(document.body).backgroundColor")))
    page.key("t")
    page.prefer("light")
    page.report("dark though the system is light", (page.text("theme"), page.color(0, 1, 2.5)))
    heights = [page.run("panels[0].canvas.clientHeight")]
    page.key("m")
    heights.append(page.run("panels[0].canvas.clientHeight"))
    page.report("without memory", heights)
    page.key("2")
    page.report("key 2", page.run("[panels[1].section.hidden, document.querySelectorAll('#facts thead th').length]"))
    page.key("1")
    page.report("the last panel stays", page.run("panels[0].section.hidden"))
    page.key("2")
    page.key("l")
    page.key("x")
    page.report("stacked, same width", page.run(
        "[getComputedStyle(byId('panels')).gridTemplateColumns.split(' ').length, firstPixel(panels[1]), "
        "Math.round(timeScale(panels[1])(panels[1].span)) === panels[1].canvas.clientWidth]"))
    page.key("?")
    page.report("help", page.run("[byId('help').open, byId('help').querySelectorAll('tr').length === keys.length]"))
    page.key("?")
    page.report("help again", page.run("byId('help').open"))
    page.run("new Promise(done => setTimeout(done, 300))")
    page.report("address", page.run("location.hash"))
    # The address alone brings it back.
    page.visit(address + page.run("location.hash"))
    page.report("reloaded", page.run("[state.theme, state.memory, state.stacked, state.stretch]"))


def edges(page, address):
    """What is rare: a gesture that the browser takes over, an address that changes, many operations at a time, many entries."""
    page.visit(address + "#from=5&to=10")
    x, y = page.place(0, 0, 7)
    fire = "(target, kind, x) => target.dispatchEvent(new PointerEvent(kind, { button: 0, clientX: x, clientY: %d, bubbles: true }))" % y
    page.run(f"({fire})(panels[0].canvas, 'pointerdown', {x}); ({fire})(window, 'pointermove', {x + 50});")
    page.settle()
    moved = page.run("state.from < 5")
    page.run(f"({fire})(window, 'pointercancel', {x + 50}); window.before = state.from; ({fire})(window, 'pointermove', {x + 150});")
    page.settle()
    page.report("dragged until it is cancelled", (moved, page.run("state.from === window.before")))
    page.run("state.hovered = { panel: 0, lane: 0, place: 10000 }; readAddress()")
    page.report("another address: pointed at", page.run("state.hovered"))
    rows = """(() => {
      const lane = { begin: new Float64Array(300), end: new Float64Array(300).fill(1) };
      addRows(lane);
      return [Math.max(...lane.row), Math.min(...lane.rows)];
    })()"""
    page.report("rows of 300 operations at a time", page.run(rows))
    entry = """(() => {
      const number = 69999 * 8, bytes = [number & 127 | 128, number >> 7 & 127 | 128, number >> 14];
      const lane = { count: 1, operations: btoa(String.fromCharCode(...bytes)), before: 0 };
      return decodeOperations({ entries: { length: 70000 } }, lane).entry[0];
    })()"""
    page.report("entry", page.run(entry))


def measured(page, address):
    page.visit(address)
    page.report("panels", page.run("panels.map(panel => panel.name).join(', ')"))
    page.report("steps", page.run("panels[1].steps.join(', ')"))
    page.report("one scale", not page.run("state.stretch"))
    # The first forward of chunk 1, in both.
    pin = "(panel, name) => { const lane = 1; const place = panel.lanes[lane].op.findIndex(op => nameOf(panel.graph, lane, op) === name);" \
          " pin({ panel: panel.index, lane, place }); return describe(state.pinned).replaceAll('\\n', ' | '); }"
    page.report("F", page.run(f"({pin})(panels[1], 'F c1 m0')"))
    same = "panels[0].lanes[1].op[counterpart(panels[0], state.pinned).place] === opOf(state.pinned)"
    page.report("its counterpart has its id", page.run(same))
    page.report("what chunks send, forwards and backwards", page.run("""['F', 'B'].flatMap(kind => [0, 1, 2, 3].map(chunk => {
      for (const [lane, events] of panels[0].lanes.entries())
        for (let place = 0; place < events.op.length; ++place)
          if (nameOfEvent(panels[0], { lane, place }) === `${kind} c${chunk} m0`) return sendsOf(panels[0], { panel: 0, lane, place });
      return "";
    })).join(", ")"""))
    page.report("recv", page.run(f"({pin})(panels[1], 'recv activation e0 m0')"))
    ends = "(() => { const path = criticalPathOf(panels[1]), end = event => panels[1].lanes[event.lane].end[event.place];" \
           " const last = path[path.length - 1];" \
           " const begin = event => panels[1].lanes[event.lane].begin[event.place];" \
           " const ascends = path.every((event, i) => i === 0 || begin(path[i - 1]) < end(event));" \
           " return [ascends, Math.abs(end(last) - panels[1].span) < 1e-6]; })()"
    page.report("the critical path leads to the end", page.run(ends))
    page.report("what operations need begins before they end", page.run(NEEDS_BEGIN_FIRST + "(panels[1])"))
    page.run("chooseStep(panels[1], null)")
    page.settle()
    counts = "panels[1].lanes[0].op.length === panels[1].steps.length * panels[1].graph.lanes[0].entry.length"
    page.report("all steps", page.run(f"[{counts}, panels[1].facts.makespan > 0]"))
    page.run("chooseStep(panels[1], panels[1].steps[0])")
    page.report("first step", page.run("panels[1].choice.value"))


# A send may end after its message has arrived.
NEEDS_BEGIN_FIRST = """(panel => {
  let count = 0, isSo = true;
  panel.lanes.forEach((events, lane) => events.op.forEach((_, place) => {
    for (const other of eventsOf(panel, { lane, place }, producersOf)) {
      ++count;
      isSo = isSo && panel.lanes[other.lane].begin[other.place] < events.end[place];
    }
  }));
  return count > 0 && isSo;
})"""


def late(page, address):
    """Where operations are of the step before."""
    page.visit(address)
    for index in (0, 1):
        page.report("what operations need begins before they end", page.run(f"{NEEDS_BEGIN_FIRST}(panels[{index}])"))
        path = f"criticalPathOf(panels[{index}]).map(event => nameOfEvent(panels[{index}], event)).join(', ')"
        page.report("critical path", page.run(path))
    page.report("late ones", page.run("panels[0].lanes.flatMap((lane, i) => [...lane.op].map(op => nameOf(panels[0].graph, i, op)))"
                                      ".filter(name => name.startsWith('BW') && name.endsWith(\"'\")).join(', ')"))


def planned(page, address):
    """Everything that the first two panels have, as JSON."""
    page.visit(address)
    events = """times => times.lanes.map((lane, index) => {
      const steps = {};
      lane.op.forEach((op, i) => (steps[lane.step[i]] ??= []).push([op, nameOf(graphs[0], index, op), lane.begin[i], lane.end[i]]));
      return steps;
    })"""
    print(page.run(f"JSON.stringify({{ predicted: ({events})(graphs[0].times[0]), measured: ({events})(graphs[0].times[1]),"
                   " memory: graphs[0].lanes.map(lane => [...lane.held]), peaks: panels[0].facts.peaks })"))


def panels(page, address):
    page.visit(address)
    for name, lanes in page.run("panels.map(panel => [panel.name, panel.lanes.length])"):
        print(f"{name}, {lanes} lanes")
    page.report("of the same width", page.run("state.stretch"))
    page.run("search('F c0 m1 r0')")
    page.report("F c0 m1 of all", page.text("found").split()[0])
    # Of all panels, each operation that is found comes once, in both directions.
    for direction in (1, -1):
        page.run("search('F')")
        page.run("state.pinned = null")
        page.report(f"all in direction {direction}", page.run(f"""(() => {{
          const count = panels.reduce((sum, panel) => sum + panel.marks.reduce((s, marks) => s + marks.reduce((a, b) => a + b, 0), 0), 0);
          const key = event => [event.panel, panels[event.panel].lanes[event.lane].begin[event.place], event.lane];
          const seen = new Set();
          let last = null, ascends = true;
          for (let i = 0; i < count; ++i) {{
            state.pinned = nextFound({direction});
            seen.add(JSON.stringify(state.pinned));
            const now = key(state.pinned), at = last ? now.findIndex((part, i) => part !== last[i]) : -1;
            if (last) ascends &&= (now[at] - last[at]) * {direction} > 0;
            last = now;
          }}
          return [seen.size === count, ascends, seen.has(JSON.stringify(nextFound({direction})))];
        }})()"""))


def blocks(page, address):
    page.visit(address)
    page.report("rows", page.run("[...new Set(panels[0].lanes.flatMap(lane => [...lane.rows]))]"))
    middle = "(() => { const lane = panels[0].lanes[0], at = lane.rows.indexOf(2);" \
             " return (lane.begin[at + 1] + Math.min(lane.end[at], lane.end[at + 1])) / 2; })()"
    time = page.run(middle)
    page.report("the upper and the lower one differ", page.color(0, 0, time) != page.color(0, 0, time, 26))
    column = "[...panels[0].canvas.getContext('2d').getImageData(2, 0, 1, 60).data]"
    limit = "channelsOf(palette().limit)"
    page.report("limit", page.run(f"(() => {{ const data = {column}, limit = {limit}; for (let i = 0; i < data.length; i += 4)"
                " if (limit.every((c, j) => data[i + j] === c)) return true; return false; })()"))


def facts(page, folder):
    """What the table says of every schedule of a folder is what the simulator says, and operations wait for what they need."""
    for path in sorted(pathlib.Path(folder).glob("*.html")):
        page.visit(str(path))
        check_relations(page, path.stem)
        schedule = json.loads(path.with_suffix(".json").read_text())
        prediction = schedule["prediction"]
        found = page.run("panels[0].facts")
        # Of those that leave work to the next step, three steps are drawn.
        expected = [prediction["makespan"], prediction["bubble"], prediction["bubble_of_span"]]
        if "'" in json.dumps(schedule["order"]):
            assert found["makespan"] > expected[0], (path, found)
            print(f"{path.stem}: several steps")
        else:
            shown = found["makespan"], found["bubble"], found["bubbleOfSpan"]
            assert all(abs(a - b) < 1e-6 for a, b in zip(shown, expected)), (path, found)
            assert found["peaks"] == [stage["peak_memory"] for stage in prediction["stages"]], path
            print(f"{path.stem}: as predicted")


def check_relations(page, name):
    """That needs and is needed by are the same relation, ends come before begins, and the critical path has no gaps."""
    script = """(() => {
      const panel = panels[0], ends = [], begins = [], problems = [];
      panel.lanes.forEach((lane, index) => lane.op.forEach((op, place) => {
        const id = idOf(panel, { lane: index, place });
        begins[id] = lane.begin[place];
        ends[id] = lane.end[place];
      }));
      let count = 0;
      for (let id = 0; id < begins.length; ++id) {
        for (const producer of producersOf(panel.graph, id)) {
          ++count;
          if (ends[producer] > begins[id] + 1e-6) problems.push(`${producer} ends after ${id} begins`);
          if (!consumersOf(panel.graph, producer).includes(id)) problems.push(`${producer} does not know ${id}`);
        }
        for (const consumer of consumersOf(panel.graph, id))
          if (!producersOf(panel.graph, consumer).includes(id)) problems.push(`${id} does not know ${consumer}`);
      }
      const path = criticalPathOf(panel).map(event => idOf(panel, event));
      path.forEach((id, i) => {
        if (Math.abs(begins[id] - (i ? ends[path[i - 1]] : 0)) > 1e-6) problems.push(`a gap before ${id} of the critical path`);
      });
      return [count, problems.slice(0, 3)];
    })()"""
    count, problems = page.run(script)
    assert count and not problems, (name, count, problems)


def big(page, address):
    page.visit(address, width=1400, height=1000)
    page.report("operations", page.run("panels[0].lanes.reduce((sum, lane) => sum + lane.op.length, 0)"))
    pan = """(async share => {
      const first = drawn.frames, places = new Set();
      for (let i = 0; i < 30; ++i) {
        moveBy(share);
        await new Promise(done => requestAnimationFrame(done));
        places.add(firstPixel(panels[0]));
      }
      return [drawn.frames - first, places.size, panels[0].tiles.size < 30];
    })"""
    for zoom in (2, 50, 1000):
        page.run(f"setView(fullTime() * 0.2, fullTime() * (0.2 + 1 / {zoom}))")
        page.settle()
        page.report(f"frames, places and tiles at 1:{zoom}", page.run(f"{pan}(0.005)"))
    # While it zooms, a frame has what can be painted in time. Soon after, it has everything.
    zoom = """(async () => {
      const first = drawn.frames;
      for (let i = 0; i < 20; ++i) {
        zoomBy(1.2);
        await new Promise(requestAnimationFrame);
      }
      const frames = drawn.frames - first;
      while (!panels[0].isComplete) await new Promise(requestAnimationFrame);
      return [frames, panels[0].before, panels[0].begun.size <= 1];
    })"""
    page.key("0")
    page.report("zoomed", page.run(f"{zoom}()"))
    page.key("0")
    page.run("(async () => { while (!panels[0].isComplete) await new Promise(requestAnimationFrame); })()")
    # Both kinds have a share of every column, and the whole lane is full.
    pixel = "hexOf([...panels[0].canvas.getContext('2d').getImageData(600, y, 1, 1).data].slice(0, 3))"
    colors = page.run(f"[...new Set(Array.from({{ length: 11 }}, (_, y) => {pixel}))].sort()")
    page.report("a column", colors == page.run("['F', 'BW'].map(role => fillOf(palette(), role, 0, 1)).sort()"))
    page.run("search('r63 F9999')")
    page.run("pinFound(1)")
    page.settle()
    page.report_pinned("the last forward")
    page.report("its chain", page.run("relationsOf(state.pinned).all.length"))
    page.report("path", page.run("criticalPathOf(panels[0]).length > 10000"))


def colors(page, address):
    """Palettes in which each role has to differ from all others, also as others see it."""
    page.visit(address)
    light, dark = page.run("palettes.light"), page.run("palettes.dark")
    # The pictures of schedules had these, which look alike to many.
    alike = {**light, "roles": {**light["roles"], "B": ["#7fd0b5", "#17805f"], "BW": ["#e3a0c0", "#97406e"]}}
    for name, palette in (("light", light), ("dark", dark), ("alike", alike)):
        distance, what = palettes.least_difference(palette)
        page.report(f"{name}, colors", "differ" if distance >= 20 else f"{distance:.1f} between {what}")
        page.report(f"{name}, text", palettes.unreadable(palette) or "can be read")
    page.report("names on colors", page.run("""Object.values(palettes).every(palette => Object.keys(palette.roles).every(role =>
      [0, 1, 2].every(shade => { const fill = fillOf(palette, role, shade, 3); return contrastOf(fill, inkOn(fill)) >= 4.5; })))"""))


def main():
    end = sys.argv.index("--")
    with Page(sys.argv[end + 1:]) as page:
        for scenario, address in zip(sys.argv[1:end:2], sys.argv[2:end:2]):
            page.prefer("light")
            globals()[scenario](page, address)
            for problem in page.problems():
                sys.exit(f"page.py: {scenario}: {problem}")


main()
