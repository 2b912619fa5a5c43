//===- Json.h - what subcommands print with --json --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VEELINE_JSON_H
#define VEELINE_TOOLS_VEELINE_JSON_H

#include <cstdio>
#include <nlohmann/json.hpp>

namespace veeline::driver {

/// Prints an object, whose texts need not be UTF-8.
inline void printObject(const nlohmann::json &object) {
  std::string text =
      object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  std::puts(text.c_str());
}

} // namespace veeline::driver

#endif // VEELINE_TOOLS_VEELINE_JSON_H
