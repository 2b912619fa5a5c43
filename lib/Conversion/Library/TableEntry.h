//===- TableEntry.h - entries of tables as dictionaries ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call of the runtime refers to an entry of a table. Here, an entry is a
// struct; in the module, it is a dictionary in an attribute. One function that
// visits the members of the struct with their names is used for both writing
// and reading.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_LIBRARY_TABLEENTRY_H
#define VEELINE_LIB_CONVERSION_LIBRARY_TABLEENTRY_H

#include "mlir/IR/Builders.h"

namespace veeline {

/// Creates an entry from members and their names.
class EntryWriter {
public:
  explicit EntryWriter(mlir::MLIRContext *context) : builder(context) {}

  void operator()(llvm::StringRef name, mlir::Type type) {
    add(name, mlir::TypeAttr::get(type));
  }
  void operator()(llvm::StringRef name, llvm::StringRef text) {
    add(name, builder.getStringAttr(text));
  }
  void operator()(llvm::StringRef name, int64_t value) {
    add(name, builder.getI64IntegerAttr(value));
  }
  void operator()(llvm::StringRef name, uint64_t value) {
    (*this)(name, static_cast<int64_t>(value));
  }
  void operator()(llvm::StringRef name, double value) {
    add(name, builder.getF64FloatAttr(value));
  }
  void operator()(llvm::StringRef name, bool value) {
    add(name, builder.getBoolAttr(value));
  }
  void operator()(llvm::StringRef name, llvm::ArrayRef<int64_t> list,
                  size_t = 0) {
    add(name, builder.getDenseI64ArrayAttr(list));
  }
  void operator()(llvm::StringRef name, llvm::ArrayRef<int32_t> list) {
    add(name, builder.getDenseI32ArrayAttr(list));
  }
  /// Adds an attribute only if `value` is true.
  void addUnit(llvm::StringRef name, bool value) {
    if (value)
      add(name, builder.getUnitAttr());
  }

  mlir::DictionaryAttr finish() { return builder.getDictionaryAttr(entries); }

private:
  void add(llvm::StringRef name, mlir::Attribute attr) {
    entries.push_back(builder.getNamedAttr(name, attr));
  }

  mlir::Builder builder;
  llvm::SmallVector<mlir::NamedAttribute> entries;
};

/// Sets members from an entry.
class EntryReader {
public:
  explicit EntryReader(mlir::DictionaryAttr dict) : dict(dict) {}

  void operator()(llvm::StringRef name, mlir::Type &type) {
    if (auto attr = get<mlir::TypeAttr>(name))
      type = attr.getValue();
  }
  void operator()(llvm::StringRef name, std::string &text) {
    if (auto attr = get<mlir::StringAttr>(name))
      text = attr.str();
  }
  void operator()(llvm::StringRef name, int64_t &value) {
    if (auto attr = get<mlir::IntegerAttr>(name))
      value = attr.getInt();
  }
  void operator()(llvm::StringRef name, uint64_t &value) {
    if (auto attr = get<mlir::IntegerAttr>(name))
      value = static_cast<uint64_t>(attr.getInt());
  }
  void operator()(llvm::StringRef name, double &value) {
    if (auto attr = get<mlir::FloatAttr>(name))
      value = attr.getValueAsDouble();
  }
  void operator()(llvm::StringRef name, bool &value) {
    if (auto attr = get<mlir::BoolAttr>(name))
      value = attr.getValue();
  }
  void operator()(llvm::StringRef name, llvm::SmallVector<int64_t> &list) {
    if (auto attr = get<mlir::DenseI64ArrayAttr>(name))
      list = llvm::to_vector(attr.asArrayRef());
  }
  /// Reads a list of `size` elements.
  void operator()(llvm::StringRef name, llvm::SmallVector<int64_t> &list,
                  size_t size) {
    (*this)(name, list);
    complete &= list.size() == size;
  }
  void operator()(llvm::StringRef name, std::array<int32_t, 3> &list) {
    auto attr = get<mlir::DenseI32ArrayAttr>(name);
    if (attr && attr.size() == 3)
      llvm::copy(attr.asArrayRef(), list.begin());
    else
      complete = false;
  }

  /// False if a member was missing, or had another type or size.
  bool isComplete() const { return complete; }

private:
  template <typename Attr> Attr get(llvm::StringRef name) {
    auto attr = dict.getAs<Attr>(name);
    complete &= static_cast<bool>(attr);
    return attr;
  }

  mlir::DictionaryAttr dict;
  bool complete = true;
};

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_LIBRARY_TABLEENTRY_H
