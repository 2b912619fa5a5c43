// Prints what a timeline page says of its panels, without a browser.
//
// Usage: node page_facts.js FOLDER-OF-SCRIPTS PAGE

const fs = require("fs"), path = require("path"), vm = require("vm");
const [folder, page] = process.argv.slice(2);
const scripts = [...fs.readFileSync(page, "utf8").matchAll(/<script[^>]*class="veeline-graph-1"[^>]*>([^<]*)<\/script>/g)];
const document = { querySelectorAll: () => scripts.map(([, textContent]) => ({ textContent })), getElementById: () => null };
const read = name => fs.readFileSync(path.join(folder, name), "utf8");
const report = `panels.map(panel => [panel.name, "bubble", formatShare(panel, panel.facts.bubble), "of span",
                                     formatShare(panel, panel.facts.bubbleOfSpan), "peak", formatPeak(panel, panel.facts.peaks[0])].join(" "))`;
const text = ["palette.js", "data.js", "panels.js", "relations.js", "describe.js"].map(read).join("\n");
console.log(vm.runInNewContext(text + "\n" + report, { document, atob }).join("\n"));
