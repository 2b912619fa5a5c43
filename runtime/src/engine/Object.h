//===- Object.h - loading compiled steps ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ENGINE_OBJECT_H
#define VEELINE_RUNTIME_ENGINE_OBJECT_H

#include "veeline/runtime.h"
#include "veeline/status.h"

#include <string>
#include <string_view>

namespace veeline::engine {

/// An ELF shared object that is loaded from memory, without a file. It resolves
/// the functions of runtime.h from the program that loads it.
class Object {
public:
  Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  ~Object();

  Status load(std::string_view bytes);
  Expected<veeline_step_fn> findStep(const std::string &symbol) const;

private:
  int descriptor = -1;
  void *handle = nullptr;
};

} // namespace veeline::engine

#endif // VEELINE_RUNTIME_ENGINE_OBJECT_H
