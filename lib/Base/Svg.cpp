//===- Svg.cpp - SVG pictures for papers ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Svg.h"
#include "veeline/Base/Text.h"

#include <cstdio>

using namespace veeline;

std::string veeline::coordinate(double value) {
  char text[64];
  int length = std::snprintf(text, sizeof text, "%.2f", value);
  while (text[length - 1] == '0')
    --length;
  if (text[length - 1] == '.')
    --length;
  std::string result(text, length);
  return result == "-0" ? "0" : result;
}

SvgPath &SvgPath::add(char command, double value) {
  text += command + coordinate(value);
  return *this;
}

SvgPath &SvgPath::add(char command, double x, double y) {
  text += command + coordinate(x) + " " + coordinate(y);
  return *this;
}

SvgPath &SvgPath::close() {
  text += 'z';
  return *this;
}

static std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + std::string(value) + "\"";
}

static std::string attribute(std::string_view name, double value) {
  return attribute(name, coordinate(value));
}

void Svg::addText(double x, double y, double size, std::string_view text,
                  std::string_view attributes) {
  body += "<text" + attribute("x", x) + attribute("y", y) +
          attribute("font-size", size) + std::string(attributes) + ">" +
          escapedText(text) + "</text>\n";
}

void Svg::addRectangle(double x, double y, double width, double height,
                       std::string_view fill) {
  body += "<rect" + attribute("x", x) + attribute("y", y) +
          attribute("width", width) + attribute("height", height) +
          attribute("fill", fill) + "/>\n";
}

void Svg::addPath(std::string_view attributes, const SvgPath &path) {
  body +=
      "<path" + std::string(attributes) + attribute("d", path.str()) + "/>\n";
}

std::string Svg::finish(double width, double height,
                        std::string_view title) const {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" +
         attribute("width", width) + attribute("height", height) +
         attribute("viewBox",
                   "0 0 " + coordinate(width) + " " + coordinate(height)) +
         " font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', "
         "sans-serif\" fill=\"#1a1a1a\">\n<title>" +
         escapedText(title) +
         "</title>\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"#ffffff\"/>\n" +
         body + "</svg>\n";
}
