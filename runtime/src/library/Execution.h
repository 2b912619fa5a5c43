//===- Execution.h - calls of oneDNN ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_LIBRARY_EXECUTION_H
#define VEELINE_RUNTIME_LIBRARY_EXECUTION_H

#include <dnnl.hpp>

#include <initializer_list>
#include <utility>
#include <vector>

namespace veeline::library {

/// A primitive and its arguments. It is called through the C interface, because
/// that of C++ builds a hash map in each call.
class Execution {
public:
  Execution() = default;
  Execution(dnnl::primitive primitive, const dnnl::engine &engine,
            const std::vector<std::pair<int, dnnl::memory::desc>> &operands)
      : primitive(std::move(primitive)) {
    for (const auto &[name, description] : operands) {
      memories.emplace_back(description, engine, nullptr);
      arguments.push_back({name, memories.back().get()});
    }
  }

  dnnl_status_t run(const dnnl::stream &stream,
                    std::initializer_list<const void *> handles) {
    size_t i = 0;
    for (const void *handle : handles)
      if (dnnl_status_t status = dnnl_memory_set_data_handle_v2(
              memories[i++].get(), const_cast<void *>(handle), stream.get()))
        return status;
    return dnnl_primitive_execute(primitive.get(), stream.get(),
                                  static_cast<int>(arguments.size()),
                                  arguments.data());
  }

private:
  dnnl::primitive primitive;
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
};

} // namespace veeline::library

#endif // VEELINE_RUNTIME_LIBRARY_EXECUTION_H
