//===- PipeAttributes.cpp - attributes and types of pipe ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline::pipe;

#include "veeline/Dialect/Pipe/IR/PipeEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "veeline/Dialect/Pipe/IR/PipeAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "veeline/Dialect/Pipe/IR/PipeTypes.cpp.inc"

void PipeDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "veeline/Dialect/Pipe/IR/PipeAttributes.cpp.inc"
      >();
}

void PipeDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "veeline/Dialect/Pipe/IR/PipeTypes.cpp.inc"
      >();
}

/// The number of numbers that an initialiser has.
static unsigned getNumOperands(InitKind kind) {
  switch (kind) {
  case InitKind::Zeros:
  case InitKind::Ones:
  case InitKind::Values:
    return 0;
  case InitKind::Constant:
    return 1;
  case InitKind::Normal:
  case InitKind::Uniform:
    return 2;
  }
  return 0;
}

// The declaration, which tablegen writes, takes the numbers by value.
// NOLINTBEGIN(performance-unnecessary-value-param)
LogicalResult InitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               InitKind kind, APFloat a, APFloat b,
                               ElementsAttr elements) {
  // NOLINTEND(performance-unnecessary-value-param)
  if ((kind == InitKind::Values) != static_cast<bool>(elements))
    return emitError() << "values(elements), and no other initialiser, has "
                          "elements";
  if (!a.isFinite() || !b.isFinite())
    return emitError() << "an initialiser takes finite numbers";
  if (kind == InitKind::Normal && b.isNegative() && !b.isZero())
    return emitError() << "normal(mean, std) needs std >= 0, found std = "
                       << b.convertToDouble();
  if (kind == InitKind::Uniform && b < a)
    return emitError() << "uniform(lo, hi) needs lo <= hi, found lo = "
                       << a.convertToDouble()
                       << ", hi = " << b.convertToDouble();
  return success();
}

/// Whether the runtime can convert values of this type to a wider one.
static bool isStorable(Type type) {
  return type.isF32() || type.isF64() || type.isBF16() || type.isF16();
}

LogicalResult InitAttr::verifyFor(function_ref<InFlightDiagnostic()> emitError,
                                  ShapedType type) {
  if (!getElements())
    return success();
  ShapedType found = getElements().getShapedType();
  Type element = found.getElementType();
  if (found.getShape() == type.getShape() && isStorable(element) &&
      element.getIntOrFloatBitWidth() <= type.getElementTypeBitWidth())
    return success();
  return emitError() << "a parameter of type " << type
                     << " starts from values of its shape, of floats as wide "
                        "or narrower; found "
                     << found;
}

/// `values` `(` elements `)`
static FailureOr<InitAttr> parseValues(AsmParser &parser) {
  ElementsAttr elements;
  if (parser.parseLParen() || parser.parseAttribute(elements) ||
      parser.parseRParen())
    return failure();
  return InitAttr::get(parser.getContext(), InitKind::Values, APFloat(0.0),
                       APFloat(0.0), elements);
}

/// `zeros` | `constant` `(` float `)` | `normal` `(` float `,` float `)` | ...
static FailureOr<InitAttr> parseInit(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<InitKind> kind = symbolizeInitKind(keyword);
  if (!kind)
    return parser.emitError(loc)
           << "unknown initialiser '" << keyword
           << "'; expected zeros, ones, constant(c), normal(mean, std), "
              "uniform(lo, hi) or values(elements)";
  if (*kind == InitKind::Values)
    return parseValues(parser);
  double numbers[2] = {0.0, 0.0};
  unsigned count = getNumOperands(*kind);
  if (count != 0) {
    if (parser.parseLParen())
      return failure();
    for (unsigned i = 0; i != count; ++i)
      if ((i != 0 && parser.parseComma()) || parser.parseFloat(numbers[i]))
        return failure();
    if (parser.parseRParen())
      return failure();
  }
  auto init = InitAttr::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(), *kind,
      APFloat(numbers[0]), APFloat(numbers[1]), ElementsAttr());
  if (!init)
    return failure();
  return init;
}

static void printInit(AsmPrinter &printer, InitAttr init) {
  printer << stringifyInitKind(init.getKind());
  if (init.getElements())
    printer << '(' << init.getElements() << ')';
  unsigned count = getNumOperands(init.getKind());
  if (count == 0)
    return;
  printer << '(';
  printer.printFloat(init.getA());
  if (count == 2) {
    printer << ", ";
    printer.printFloat(init.getB());
  }
  printer << ')';
}

Attribute InitAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<InitAttr> init = parseInit(parser);
  if (failed(init) || parser.parseGreater())
    return {};
  return *init;
}

void InitAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printInit(printer, *this);
  printer << '>';
}

Attribute ParamAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseLess() || parser.parseString(&name) || parser.parseComma() ||
      parser.parseKeyword("init") || parser.parseEqual())
    return {};
  FailureOr<InitAttr> init = parseInit(parser);
  if (failed(init) || parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getStringAttr(name),
             *init);
}

void ParamAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printString(getName());
  printer << ", init = ";
  printInit(printer, getInit());
  printer << '>';
}
