//===- Svg.h - SVG pictures for papers --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes SVG. Lengths are in points at a picture's natural size, y grows
// downwards, and numbers have at most two digits after the point. A library
// would need more code than these few functions.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_SVG_H
#define VEELINE_BASE_SVG_H

#include <string>
#include <string_view>

namespace veeline {

/// At most two digits after the point and no zeros at the end.
std::string coordinate(double value);

/// The shape of a path.
class SvgPath {
public:
  SvgPath &moveTo(double x, double y) { return add('M', x, y); }
  SvgPath &lineTo(double x, double y) { return add('L', x, y); }
  SvgPath &horizontalTo(double x) { return add('H', x); }
  SvgPath &horizontalBy(double width) { return add('h', width); }
  SvgPath &verticalTo(double y) { return add('V', y); }
  SvgPath &verticalBy(double height) { return add('v', height); }
  SvgPath &close();

  bool empty() const { return text.empty(); }
  const std::string &str() const { return text; }

private:
  SvgPath &add(char command, double value);
  SvgPath &add(char command, double x, double y);

  std::string text;
};

/// A picture, built element by element. `attributes` begin with a blank.
class Svg {
public:
  void addText(double x, double y, double size, std::string_view text,
               std::string_view attributes = "");
  void addRectangle(double x, double y, double width, double height,
                    std::string_view fill);
  void addPath(std::string_view attributes, const SvgPath &path);
  /// Adds an element verbatim.
  void add(std::string_view element) { body += element; }

  /// The approximate width of `text` as `addText` draws it with a size of 11.
  static double widthOf(std::string_view text) { return 6.1 * text.size(); }

  /// The whole file, on white.
  std::string finish(double width, double height, std::string_view title) const;

private:
  std::string body;
};

} // namespace veeline

#endif // VEELINE_BASE_SVG_H
