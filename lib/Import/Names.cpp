//===- Names.cpp - names of arguments, and patterns of them ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include "veeline/Dialect/Pipe/IR/Pipe.h"

using namespace mlir;
using namespace veeline;

/// The name in an attribute of an exporter: its text, or several texts joined
/// by dots.
static std::string nameInAttribute(Attribute attribute) {
  if (auto text = dyn_cast_or_null<StringAttr>(attribute))
    return text.str();
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute)) {
    std::string joined;
    for (Attribute entry : list)
      if (auto text = dyn_cast<StringAttr>(entry))
        joined += (joined.empty() ? "" : ".") + text.str();
    return joined;
  }
  return "";
}

static std::string givenName(func::FuncOp model, unsigned argument) {
  for (StringRef attribute :
       {"tf_saved_model.index_path", "jax.arg_info", "torch.onnx.name",
        "onnx.name", "iree.abi.name", "iree.identifier", "ml_program.name"}) {
    std::string name = nameInAttribute(model.getArgAttr(argument, attribute));
    if (!name.empty())
      return name;
  }
  Location location = model.getArgument(argument).getLoc();
  if (auto named = dyn_cast<NameLoc>(location))
    return named.getName().str();
  return "";
}

std::vector<std::string> veeline::nameArguments(func::FuncOp model) {
  std::vector<std::string> names;
  llvm::StringSet<> taken;
  unsigned weights = 0;
  for (unsigned i = 0; i < model.getNumArguments(); ++i) {
    bool isConstant =
        model.getArgAttr(i, pipe::PipeDialect::constantAttrName) != nullptr;
    std::string name = givenName(model, i);
    if (name.empty())
      name = isConstant ? "weight" + std::to_string(weights++)
                        : "arg" + std::to_string(i);
    std::string unique = name;
    for (unsigned copy = 1; !taken.insert(unique).second; ++copy)
      unique = name + "_" + std::to_string(copy);
    names.push_back(std::move(unique));
  }
  return names;
}

/// Parses "3" or "2-5".
static std::optional<std::pair<unsigned, unsigned>> parseRange(StringRef text) {
  auto [first, last] = text.split('-');
  std::pair<unsigned, unsigned> range;
  if (first.getAsInteger(10, range.first))
    return std::nullopt;
  range.second = range.first;
  if (text.contains('-') && last.getAsInteger(10, range.second))
    return std::nullopt;
  return range;
}

/// Refuses a position without an argument. Constants have positions, too, after
/// the arguments of the file.
static LogicalResult refusePosition(func::FuncOp model, StringRef entry,
                                    StringRef option) {
  unsigned constants = 0;
  for (unsigned i = 0; i < model.getNumArguments(); ++i)
    constants +=
        model.getArgAttr(i, pipe::PipeDialect::constantAttrName) != nullptr;
  unsigned arguments = model.getNumArguments() - constants;
  InFlightDiagnostic diagnostic = model.emitError("--")
                                  << option << ": there is no argument "
                                  << entry << "; the model has " << arguments;
  if (constants > 0)
    diagnostic << ", and " << constants
               << (constants == 1 ? " constant, which counts"
                                  : " constants, which count")
               << " from " << arguments << " on";
  return diagnostic;
}

FailureOr<ArgumentList> ArgumentList::parse(func::FuncOp model,
                                            ArrayRef<std::string> entries,
                                            StringRef option) {
  ArgumentList list;
  list.option = option;
  for (const std::string &entry : entries) {
    if (auto range = parseRange(entry)) {
      if (range->first > range->second)
        return model.emitError("--") << option << ": the range " << entry
                                     << " is the wrong way round; write "
                                     << range->second << '-' << range->first;
      if (range->second >= model.getNumArguments())
        return refusePosition(model, entry, option);
      list.entries.push_back(
          {entry, std::nullopt, range->first, range->second});
      continue;
    }
    // The pattern refers to its text. A StringAttr lives as long as the
    // context.
    auto pattern = llvm::GlobPattern::create(
        StringAttr::get(model.getContext(), entry).getValue());
    if (!pattern)
      return model.emitError("--")
             << option << ": '" << entry
             << "' is no pattern of names: " << toString(pattern.takeError());
    list.entries.push_back({entry, std::move(*pattern)});
  }
  return list;
}

/// Whether a pattern chooses `name`. Names may contain characters that are
/// special in patterns, so equal texts match, too. A pattern that chooses a
/// flat argument also chooses its slices, such as "flat[0:150]".
static bool isNamed(StringRef name, StringRef text,
                    const llvm::GlobPattern &pattern) {
  return name == text || pattern.match(name) ||
         (name.consume_front(text) && name.starts_with("["));
}

bool ArgumentList::Entry::matches(unsigned position, StringRef name) const {
  return pattern ? isNamed(name, text, *pattern)
                 : first <= position && position <= last;
}

/// The first entry that chooses none of the arguments for which `isWanted`
/// returns true.
const ArgumentList::Entry *ArgumentList::findUseless(
    ArrayRef<std::string> names,
    llvm::function_ref<bool(unsigned argument)> isWanted) const {
  return llvm::find_if(entries, [&](const Entry &entry) {
    for (unsigned i = 0; i < names.size(); ++i)
      if (entry.matches(i, names[i]) && isWanted(i))
        return false;
    return true;
  });
}

/// Lists names in the form "a, b, c, ...".
static void list(InFlightDiagnostic &diagnostic, ArrayRef<StringRef> names) {
  constexpr size_t most = 20;
  llvm::interleaveComma(names.take_front(most), diagnostic);
  if (names.size() > most)
    diagnostic << ", ...";
}

LogicalResult ArgumentList::verify(func::FuncOp model,
                                   ArrayRef<std::string> names) const {
  const Entry *unknown = findUseless(names, [](unsigned) { return true; });
  if (unknown == entries.end())
    return success();
  InFlightDiagnostic diagnostic = model.emitError("--")
                                  << option << ": no argument is named '"
                                  << unknown->text << "'; the names are ";
  list(diagnostic, llvm::to_vector_of<StringRef>(names));
  return diagnostic;
}

LogicalResult ArgumentList::verifyParams(
    func::FuncOp model, ArrayRef<std::string> names,
    llvm::function_ref<std::string(unsigned argument)> getOther) const {
  auto isParam = [&](unsigned i) { return getOther(i).empty(); };
  const Entry *useless = findUseless(names, isParam);
  if (useless == entries.end())
    return success();
  SmallVector<StringRef> parameters;
  std::string chosen;
  for (unsigned i = 0; i < names.size(); ++i) {
    if (isParam(i))
      parameters.push_back(names[i]);
    else if (chosen.empty() && useless->matches(i, names[i]))
      chosen = "\"" + names[i] + "\" is " + getOther(i);
  }
  InFlightDiagnostic diagnostic =
      model.emitError("--") << option << ": '" << useless->text
                            << "' chooses no parameter: " << chosen << "; ";
  if (parameters.empty())
    return diagnostic << "the model has no parameters";
  diagnostic << "the parameters are ";
  list(diagnostic, parameters);
  return diagnostic;
}

bool ArgumentList::contains(unsigned position, StringRef name) const {
  return llvm::any_of(entries, [&](const Entry &entry) {
    return entry.matches(position, name);
  });
}
