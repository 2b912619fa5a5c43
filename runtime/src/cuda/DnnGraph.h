//===- DnnGraph.h - building graphs for cuDNN -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_CUDA_DNNGRAPH_H
#define VEELINE_RUNTIME_CUDA_DNNGRAPH_H

#include "Cudnn.h"

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace veeline::cuda {

/// Owns a descriptor of cuDNN.
class DnnDescriptor {
public:
  DnnDescriptor() = default;
  DnnDescriptor(DnnDescriptor &&other) noexcept { *this = std::move(other); }
  DnnDescriptor &operator=(DnnDescriptor &&other) noexcept {
    std::swap(dnn, other.dnn);
    std::swap(desc, other.desc);
    return *this;
  }
  ~DnnDescriptor() {
    if (desc)
      (void)dnn->cudnnBackendDestroyDescriptor(desc);
  }

  DnnResult create(const Cudnn &newDnn, int type);
  DnnResult set(int name, int type, int64_t count, const void *values);
  /// Sets an attribute whose values are pointers.
  template <typename T>
  DnnResult set(int name, int type, int64_t count, T *const *values) {
    return set(name, type, count, static_cast<const void *>(values));
  }
  DnnResult set(int name, const DnnDescriptor &value);
  DnnResult set(int name, const std::vector<int64_t> &values);
  DnnResult setNumber(int name, int64_t value);
  DnnResult setFlag(int name, bool value);
  /// Sets an attribute whose value is an enumerator. `type` is the attribute
  /// type of the enumeration.
  DnnResult setEnum(int name, int type, int value);
  /// Gets the values of attribute `name`. `count` receives their number.
  /// `values` has room for `most`.
  DnnResult get(int name, int type, int64_t most, int64_t &count,
                void *values) const;
  DnnResult finalize();

  api::BackendDesc get() const { return desc; }
  explicit operator bool() const { return desc; }

private:
  const Cudnn *dnn = nullptr;
  api::BackendDesc desc = nullptr;
};

/// The target of a plan: the GPU of a handle, or a GPU that is only described
/// by properties, for which nothing can run.
struct DnnTarget {
  api::DnnHandle handle = nullptr;
  const DnnDescriptor *properties = nullptr;
};

/// A plan that runs a graph.
struct DnnPlan {
  DnnDescriptor desc; ///< Empty if cuDNN cannot compute the graph.
  int64_t workspaceBytes = 0;
};

/// A graph of operations, in the order in which they are added. After a call
/// fails, no further calls are made. plan() returns the failure if it is an
/// error.
class DnnGraph {
public:
  using Sizes = std::vector<int64_t>;
  struct Tensor {
    api::BackendDesc desc = nullptr;
    Sizes sizes, strides;
  };

  explicit DnnGraph(const Cudnn &dnn) : dnn(dnn) {}

  // Tensors. The caller chooses identifiers of those in memory. They must be
  // less than `firstVirtual`.
  static constexpr int64_t firstVirtual = 64;
  Tensor addOperand(int64_t id, int type, const Sizes &sizes,
                    const Sizes &strides);
  /// A scalar of f32 in the host's memory.
  Tensor addNumber(int64_t id);

  // Operations that compute in f32. Their results are not in memory.
  Tensor multiply(const Tensor &a, const Tensor &b);
  Tensor pointwise(int mode, const Tensor &x, const Tensor *b = nullptr,
                   int type = api::dnnFloat);
  Tensor reduce(int op, const Tensor &x, const Sizes &sizes);
  /// The index of each element along dimension `axis`, in the shape of `x`.
  Tensor index(const Tensor &x, int64_t axis);
  Tensor isAtLeast(const Tensor &a, const Tensor &b);
  /// `x` if the condition is true, else `other`.
  Tensor select(const Tensor &x, const Tensor &other, const Tensor &condition);
  /// The transpose of the last two dimensions of `x`, as elements of `type`.
  Tensor transpose(const Tensor &x, int type);
  /// The product, as elements of `type`.
  Tensor matmul(const Tensor &a, const Tensor &b, int type);

  // Operations that write to memory.
  void pointwiseTo(const Tensor &result, int mode, const Tensor &x,
                   const Tensor *b = nullptr);
  void reduceTo(const Tensor &result, int op, const Tensor &x);
  void matmulTo(const Tensor &result, const Tensor &a, const Tensor &b);

  /// Plans the graph by the first proposal of cuDNN's heuristics that can be
  /// compiled, is deterministic if that is required, and needs at most
  /// `maxWorkspace` bytes. If there is none, `result` stays empty.
  Status plan(const DnnTarget &target, bool deterministic, int64_t maxWorkspace,
              DnnPlan &result);

private:
  Tensor addTensor(int64_t id, int type, const Sizes &sizes,
                   const Sizes &strides, bool isVirtual, bool isByValue);
  Tensor addVirtual(int type, const Sizes &sizes);
  bool isGoing() const { return error.ok() && !isRefused; }
  bool require(const DnnResult &result);
  /// A new descriptor, which the graph owns, or null after a failure.
  DnnDescriptor *create(int type);
  void finalize(DnnDescriptor &desc);
  void addOperation(
      int type,
      std::initializer_list<std::pair<int, api::BackendDesc>> operands);
  void addPointwise(int mode, int compute, int64_t axis, const Tensor &x,
                    const Tensor *b, const Tensor *t, const Tensor &y);
  DnnResult propose(const DnnTarget &target, const DnnDescriptor &graph,
                    int mode, std::vector<DnnDescriptor> &configs);
  DnnResult isDeterministic(const DnnDescriptor &config, bool &answer);
  DnnResult tryConfig(const DnnTarget &target, const DnnDescriptor &config,
                      bool deterministic, int64_t maxWorkspace,
                      DnnPlan &result);

  const Cudnn &dnn;
  Status error = Status::success();
  bool isRefused = false; ///< Whether cuDNN does not support what was added.
  int64_t nextVirtual = firstVirtual;
  std::vector<std::unique_ptr<DnnDescriptor>> kept;
  std::vector<api::BackendDesc> operations;
};

} // namespace veeline::cuda

#endif // VEELINE_RUNTIME_CUDA_DNNGRAPH_H
