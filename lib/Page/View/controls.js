// The page around the canvases.

function element(name, properties = {}, ...children) {
  const result = Object.assign(document.createElement(name), properties);
  result.append(...children);
  return result;
}

function buildPanel(panel) {
  panel.axis = element("canvas");
  panel.canvas = element("canvas", { tabIndex: 0 });
  panel.corner = element("div", { className: "axis-corner" }, "time");
  panel.names = panel.lanes.map(() => element("div", { className: "lane" }, "", element("small")));
  const title = element("h2", {}, element("span", {}, panel.name), ...(panel.steps.length > 1 ? [stepChoice(panel)] : []),
                        element("small", { title: panel.graph.size }, panel.graph.size));
  panel.section = element("section", { className: "panel" }, title,
    element("div", { className: "body" }, panel.corner, element("div", { className: "axis" }, panel.axis),
            element("div", { className: "names" }, ...panel.names), element("div", { className: "view" }, panel.canvas)));
  byId("panels").append(panel.section);
}

function stepChoice(panel) {
  const options = panel.steps.map(step => element("option", { value: step }, `step ${step}`));
  options.unshift(element("option", { value: "all" }, "all steps"));
  panel.choice = element("select", { title: "Which step is shown" }, ...options);
  panel.choice.setAttribute("aria-label", `Step of ${panel.name}`);
  panel.choice.onchange = () => chooseStep(panel, panel.choice.value === "all" ? null : Number(panel.choice.value));
  return panel.choice;
}

function chooseStep(panel, step) {
  const wasWhole = state.to - state.from >= fullTime() * (1 - 1e-9);
  setStep(panel, step);
  for (const kept of ["pinned", "hovered"]) if (state[kept]?.panel === panel.index) state[kept] = null;
  applyState();
  search(state.query);
  setView(wasWhole ? 0 : state.from, wasWhole ? fullTime() : state.to);
}

function nameLanes(panel) {
  const sizes = laneSizes(panel);
  panel.names.forEach((lane, index) => {
    const { name } = panel.graph.lanes[index], peak = panel.facts.peaks[index], small = lane.querySelector("small");
    lane.firstChild.textContent = name;
    const memory = peak > 0 ? `, peak memory ${formatMemory(panel, peak)}` : "";
    small.textContent = peak > 0 ? `peak ${formatPeak(panel, peak)}` : "";
    lane.title = name + memory.replace(",", ":");
    lane.style.height = sizes.pitch + "px";
    lane.style.fontSize = Math.min(13, sizes.lane + 1, sizes.pitch - 2) + "px";
    lane.style.lineHeight = Math.min(sizes.lane, sizes.pitch) + "px";
    small.hidden = sizes.curve < 14;
    small.style.lineHeight = sizes.curve + "px";
    lane.setAttribute("aria-label", `${name}: ${panel.lanes[index].op.length} operations${memory}`);
  });
  panel.canvas.setAttribute("aria-label", `${panel.name}: ${panel.lanes.length} lanes. Arrow keys move, + and - zoom, ? has all keys`);
}

function buildFacts() {
  const shown = shownPanels(), isTime = new Set(shown.map(panel => panel.graph.timeUnit)).size === 1;
  const isMemory = new Set(shown.map(panel => panel.graph.memoryUnit.name)).size === 1;
  const rows = [
    ["makespan", panel => panel.facts.makespan, formatTime, isTime], ["bubble", panel => panel.facts.bubble, formatShare, true],
    ["bubble of span", panel => panel.facts.bubbleOfSpan, formatShare, true],
    ["peak memory", panel => Math.max(...panel.facts.peaks), formatMemory, isMemory]];
  const body = rows.map(([name, value, format, isComparable]) => {
    const least = Math.min(...shown.map(value)), most = Math.max(...shown.map(value));
    const isBest = panel => shown.length > 1 && isComparable && most > least && value(panel) <= least;
    return element("tr", {}, element("th", {}, name),
                   ...shown.map(panel => element("td", { className: isBest(panel) ? "best" : "" }, format(panel, value(panel)))));
  });
  const stepsNote = ({ steps, step }) => steps.length < 2 ? "" : step === null ? `, ${steps.length} steps` : `, step ${step}`;
  const titles = shown.map(panel => element("th", {}, panel.name + stepsNote(panel)));
  byId("facts").replaceChildren(element("thead", {}, element("tr", {}, element("th"), ...titles)), element("tbody", {}, ...body));
}

function buildLegend() {
  const used = new Map(), inRoles = new Set(panels.flatMap(({ graph }) => graph.entries.map(entry => entry.role)));
  const copies = "copies to the host's memory and back", hasMessages = inRoles.has("send") || inRoles.has("recv");
  const messages = !inRoles.has("copy") ? "messages" : hasMessages ? `messages, ${copies}` : copies;
  for (const { graph } of panels) for (const entry of graph.entries) {
    const role = colorRole(entry.role), isShared = !worksOn(entry.role);
    const shades = Math.max(graph.shades, used.get(role)?.shades || 1);
    const legend = isShared ? { message: messages, sync: "sums and exchanges of parameters", other: "updates" }[role] : entry.legend;
    used.set(role, { legend, shades: isShared ? 1 : shades });
  }
  const entries = stackedRoles.filter(role => used.has(role)).map(role => {
    const { legend, shades } = used.get(role), entry = element("span", { className: "entry" });
    for (let shade = 0; shade < Math.min(shades, 6); ++shade) {
      const square = element("i");
      square.style.background = fillOf(palette(), role, shade, Math.min(shades, 6));
      entry.append(square);
    }
    entry.append(element("span", {}, "\u00a0" + legend));
    return entry;
  });
  const line = (className, text) => element("span", { className: "entry" }, element("i", { className }), text);
  if (panels.some(panel => panel.graph.shades > 1)) entries.push(element("span", {}, "light to dark: first to last chunk of the rank"));
  if (panels.some(panel => panel.graph.lanes.some(lane => lane.limit !== null))) entries.push(line("limit", "memory limit"));
  if (state.critical) entries.push(line("path", "critical path"));
  byId("legend").replaceChildren(...entries);
}

function buildPanelChoice() {
  byId("panel-choice").replaceChildren(...(panels.length < 2 ? [] : panels.map(panel => {
    const box = element("input", { type: "checkbox", checked: panel.isShown });
    box.onchange = () => showPanel(panel, box.checked);
    return element("label", { title: `Show this panel (${panel.index + 1})` }, box, ` ${panel.name} `);
  })));
}
function showPanel(panel, isShown) {
  panel.isShown = isShown || shownPanels().length === 1 && panel.isShown;
  applyState();
  keepInAddress();
}

// Brings the page in line with the state; the canvases follow with the next frame.
function applyState() {
  const colors = palette(), root = document.documentElement;
  root.style.colorScheme = isDark() ? "dark" : "light";
  for (const [name, color] of Object.entries(colors)) if (typeof color === "string") root.style.setProperty(`--${name}`, color);
  for (const name of ["memory", "critical", "stacked", "stretch"]) byId(name).checked = state[name];
  byId("theme").textContent = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[state.theme];
  const shown = shownPanels();
  byId("panels").style.setProperty("--columns", state.stacked ? 1 : Math.min(shown.length, 3));
  for (const id of ["layout-choice", "stretch-choice"]) byId(id).hidden = panels.length < 2;
  for (const panel of panels) {
    panel.section.hidden = !panel.isShown;
    if (panel.choice) panel.choice.value = panel.step ?? "all";
    nameLanes(panel);
  }
  buildPanelChoice();
  buildFacts();
  buildLegend();
  queueDraw();
}

function change(name, value) {
  const from = state.from / fullTime(), to = state.to / fullTime();
  state[name] = value;
  applyState();
  setView(from * fullTime(), to * fullTime());
}
