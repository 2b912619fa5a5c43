// Mouse, wheel and keys.

const keys = [
  ["+ =", "w", "zoom in", () => zoomBy(1.6)], ["-", "s", "zoom out", () => zoomBy(1 / 1.6)],
  ["ArrowLeft", "a", "move left", () => moveBy(-0.2)], ["ArrowRight", "d", "move right", () => moveBy(0.2)],
  ["Home", "", "the beginning", () => setView(0, state.to - state.from)],
  ["End", "", "the end", () => setView(fullTime() - state.to + state.from, fullTime())],
  ["0", "", "the whole time", () => setView(0, fullTime())],
  ["f", "", "zoom to the selected operation", zoomToPinned],
  [",", "", "the operation before it on its rank", () => stepAlong(-1)], [".", "", "the one after it", () => stepAlong(1)],
  ["[", "", "the last operation that it needs", () => follow("producers")],
  ["]", "", "the first one that needs it", () => follow("consumers")],
  ["/", "", "search", () => byId("search").focus()], ["n", "", "next result of the search", () => pinFound(1)],
  ["N", "p", "previous result", () => pinFound(-1)],
  ["c", "", "critical path", () => change("critical", !state.critical)], ["m", "", "memory", () => change("memory", !state.memory)],
  ["l", "", "panels beside or below each other", () => change("stacked", !state.stacked)],
  ["x", "", "panels in one time scale, or of the same width", () => { if (panels.length > 1) change("stretch", !state.stretch); }],
  ["t", "", "light, dark, or as the system has it", nextTheme],
  ["1 2 3 4 5 6 7 8 9", "", "show or hide a panel", key => togglePanel(panels[key - 1])],
  ["Escape", "", "deselect the operation, then clear the search", escape],
  ["?", "h", "this list", () => toggleHelp()],
];

function togglePanel(panel) {
  if (panel && panels.length > 1) showPanel(panel, !panel.isShown);
}
function nextTheme() {
  change("theme", { auto: "light", light: "dark", dark: "auto" }[state.theme]);
}
function pinFound(direction) {
  const event = nextFound(direction);
  if (event) pin(event);
}
// Without a selected operation, the first one in view.
function stepAlong(direction) {
  if (!state.pinned) {
    const panel = shownPanels()[0], lane = panel.lanes[0];
    const place = Math.min(firstAfter(lane, state.from * panelFactor(panel)), lane.op.length - 1);
    if (place >= 0) pin({ panel: panel.index, lane: 0, place });
    return;
  }
  const { panel, lane, place } = state.pinned, next = place + direction;
  if (next >= 0 && next < panels[panel].lanes[lane].op.length) pin({ panel, lane, place: next });
}
function follow(which) {
  if (!state.pinned) return;
  const { panel } = state.pinned, { lanes } = panels[panel], isNeeded = which === "producers";
  const timeOf = ({ lane, place }) => isNeeded ? -lanes[lane].end[place] : lanes[lane].begin[place];
  const [next] = [...relationsOf(state.pinned)[which]].sort((a, b) => timeOf(a) - timeOf(b));
  if (next) pin({ panel, ...next });
}
function escape() {
  if (state.pinned) return pin(null);
  byId("search").value = "";
  search("");
  keepInAddress();
}

const keyNames = { ArrowLeft: "\u2190", ArrowRight: "\u2192" };
function toggleHelp() {
  const help = byId("help");
  if (help.open) return help.close();
  const rows = keys.map(([first, second, text]) => {
    const names = first.split(" ").concat(second || []).flatMap(key => [element("kbd", {}, keyNames[key] || key), " "]);
    return element("tr", {}, element("td", {}, ...names), element("td", {}, text));
  });
  const mouse = "Ctrl + wheel or pinch zooms, dragging or Shift + wheel moves, a double click zooms in. Point at an operation " +
    "for what it costs and needs; click to select it, with what it needs (plain arrows) and what needs it (blue arrows). The " +
    "address keeps the view.";
  const queries = "Search takes words that all have to match: F, BW, send, c3 (chunk), m2 (microbatch), r1 (rank), e0 (edge), " +
    "step2, 7B0 or F3 as on the picture, >5 and <5 (how long, in the unit of a whole step).";
  help.replaceChildren(element("p", {}, mouse), element("p", {}, queries), element("table", {}, ...rows));
  help.showModal();
}

function listen(panel) {
  const canvas = panel.canvas, axisTime = clientX => timeAt(panel, clientX) / panelFactor(panel);
  let dragged = null;
  canvas.addEventListener("wheel", event => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) zoomBy(Math.exp(-event.deltaY / 300), axisTime(event.clientX));
    else if (sideways) moveBy(sideways / canvas.clientWidth);
    else return;
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("dblclick", event => zoomBy(2, axisTime(event.clientX)));
  canvas.addEventListener("pointerdown", event => {
    if (event.button === 0) dragged = { x: event.clientX, from: state.from, to: state.to, moved: false };
  });
  window.addEventListener("pointermove", event => {
    if (!dragged) return;
    const distance = event.clientX - dragged.x;
    dragged.moved = dragged.moved || Math.abs(distance) > 3;
    if (!dragged.moved) return;
    canvas.parentElement.classList.add("moving");
    const time = distance / canvas.clientWidth * (dragged.to - dragged.from);
    setView(dragged.from - time, dragged.to - time);
  });
  window.addEventListener("pointerup", event => {
    if (dragged && !dragged.moved) {
      const found = eventAt(panel, event.clientX, event.clientY);
      pin(found && state.pinned && keyOf(found) === keyOf(state.pinned) ? null : found);
    }
    dragged = null;
    canvas.parentElement.classList.remove("moving");
  });
  // A finger that scrolls the page is no longer the canvas's, and is not lifted for it.
  window.addEventListener("pointercancel", () => {
    dragged = null;
    canvas.parentElement.classList.remove("moving");
  });
  canvas.addEventListener("mousemove", event => {
    if (dragged?.moved) return;
    const found = eventAt(panel, event.clientX, event.clientY), lane = found ? -1 : memoryAt(panel, event.clientY);
    const memory = lane >= 0 ? { index: panel.index, lane, time: timeAt(panel, event.clientX), x: event.clientX, y: event.clientY } : null;
    const isSame = found && state.hovered ? keyOf(found) === keyOf(state.hovered) : !found && !state.hovered;
    if (isSame && !memory && !state.pointedMemory) return;
    state.hovered = found;
    state.pointedMemory = memory;
    queueDraw();
  });
  canvas.addEventListener("mouseleave", () => {
    state.hovered = state.pointedMemory = null;
    queueDraw();
  });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === byId("search")) {
    if (event.key === "Enter") pinFound(event.shiftKey ? -1 : 1);
    if (event.key === "Enter" || event.key === "Escape") byId("search").blur();
    return;
  }
  if (event.target.tagName === "SELECT" || (byId("help").open && event.key !== "?")) return;
  const found = keys.find(([first, second]) => first.split(" ").includes(event.key) || second === event.key);
  if (!found) return;
  found[3](event.key);
  event.preventDefault();
}

panels.forEach(buildPanel);
panels.forEach(listen);
byId("zoom-in").onclick = () => zoomBy(1.6);
byId("zoom-out").onclick = () => zoomBy(1 / 1.6);
byId("fit").onclick = () => setView(0, fullTime());
byId("theme").onclick = nextTheme;
byId("help-button").onclick = toggleHelp;
byId("help").onclick = () => byId("help").close();
for (const name of ["memory", "critical", "stacked", "stretch"]) byId(name).onchange = event => change(name, event.target.checked);
byId("search").oninput = () => {
  search(byId("search").value);
  keepInAddress();
};
window.addEventListener("keydown", onKey);
window.addEventListener("resize", queueDraw);
window.addEventListener("scroll", showHint, { passive: true });
window.addEventListener("hashchange", readAddress);
prefersDark.addEventListener("change", () => applyState());
readAddress();
draw();
