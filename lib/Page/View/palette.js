// Colours. test/Schedule/page-colors.test holds them to differences that colour-blind readers see, too, and to
// contrasts that can be read.

const palettes = {
  light: {
    page: "#ffffff", raised: "#f7f7f5", lane: "#efefec", line: "#b9b9b5", text: "#1a1a1a", faint: "#5c5c58",
    accent: "#1a5fb4", hint: "#262624", "hint-text": "#ffffff", limit: "#b3261e", path: "#c2185b", memory: "#cbcbc6",
    "memory-line": "#8e8e88",
    // By role, from the first chunk of a rank to the last.
    roles: {
      F: ["#a9cbf0", "#3d74ba"], B: ["#7fd0b5", "#17805f"], W: ["#fbe29a", "#d39a16"], BW: ["#e3a0c0", "#97406e"],
      message: ["#a8a8a2", "#a8a8a2"], sync: ["#77777f", "#77777f"], other: ["#5a4632", "#5a4632"],
    },
  },
  dark: {
    page: "#15161a", raised: "#212329", lane: "#24262c", line: "#4b4e57", text: "#ececea", faint: "#a9aab0",
    accent: "#7fb2f5", hint: "#f0f0ec", "hint-text": "#1a1a1a", limit: "#ff7a70", path: "#ff6fa5", memory: "#474a54",
    "memory-line": "#8b8e99",
    roles: {
      F: ["#8fbdf0", "#2f63a6"], B: ["#63c3a4", "#12694e"], W: ["#f5d673", "#b98410"], BW: ["#d98bb2", "#853460"],
      message: ["#7b7d86", "#7b7d86"], sync: ["#9d9fa8", "#9d9fa8"], other: ["#c7ab8a", "#c7ab8a"],
    },
  },
};

const channelsOf = color => [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));
const hexOf = channels => "#" + channels.map(c => Math.round(c).toString(16).padStart(2, "0")).join("");
const mixed = (a, b, share) => hexOf(channelsOf(a).map((c, i) => c + share * (channelsOf(b)[i] - c)));

// As WCAG defines them.
function luminanceOf(color) {
  const [r, g, b] = channelsOf(color).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrastOf(a, b) {
  const [dark, light] = [luminanceOf(a), luminanceOf(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}
const inkOn = fill => contrastOf(fill, "#000000") >= contrastOf(fill, "#ffffff") ? "#000000" : "#ffffff";

const colorRole = role => role === "send" || role === "recv" ? "message" : role;
function fillOf(palette, role, shade, shades) {
  const [first, last] = palette.roles[colorRole(role)];
  return mixed(first, last, shades > 1 ? shade / (shades - 1) : 0);
}
// A pixel of image data, of which the lowest byte is red.
function pixelOf(color) {
  const [r, g, b] = channelsOf(color);
  return (0xff000000 | b << 16 | g << 8 | r) >>> 0;
}
