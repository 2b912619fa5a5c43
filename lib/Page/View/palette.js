// Colours. test/Schedule/page.test holds them to differences that colour-blind readers see, too, and to
// contrasts that can be read.

const palettes = {
  light: {
    page: "#ffffff", raised: "#f7f7f5", lane: "#efefec", line: "#b9b9b5", text: "#1a1a1a", faint: "#5c5c58",
    accent: "#1a5fb4", hint: "#262624", "hint-text": "#ffffff", limit: "#b3261e", path: "#c2185b", memory: "#cbcbc6",
    "memory-line": "#8e8e88",
    // By role, from the first chunk of a rank to the last.
    roles: {
      F: ["#9ab6ff", "#0b44d9"], B: ["#63d19a", "#08a346"], W: ["#ffd67d", "#d8c82d"], BW: ["#cc5eb6", "#5e116d"],
      R: ["#b84a14", "#5d1a03"], message: ["#8c8484", "#8c8484"], sync: ["#4b4644", "#4b4644"], other: ["#1a0d0d", "#1a0d0d"],
    },
  },
  dark: {
    page: "#15161a", raised: "#212329", lane: "#24262c", line: "#4b4e57", text: "#ececea", faint: "#a9aab0",
    accent: "#7fb2f5", hint: "#f0f0ec", "hint-text": "#1a1a1a", limit: "#ff7a70", path: "#ff6fa5", memory: "#474a54",
    "memory-line": "#8b8e99",
    roles: {
      F: ["#5885fb", "#0939b6"], B: ["#78d7a2", "#0d9e4b"], W: ["#ffd47c", "#d6bc21"], BW: ["#bf60b7", "#652774"],
      R: ["#b84a14", "#5d1a03"], message: ["#6c6c65", "#6c6c65"], sync: ["#b2b3c6", "#b2b3c6"], other: ["#ffffff", "#ffffff"],
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

const colorRole = role => role === "send" || role === "recv" || role === "copy" ? "message" : role;
function fillOf(palette, role, shade, shades) {
  const [first, last] = palette.roles[colorRole(role)];
  return mixed(first, last, shades > 1 ? shade / (shades - 1) : 0);
}
// A pixel of image data, of which the lowest byte is red.
function pixelOf(color) {
  const [r, g, b] = channelsOf(color);
  return (0xff000000 | b << 16 | g << 8 | r) >>> 0;
}
