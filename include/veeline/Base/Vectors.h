//===- Vectors.h - one loop for several widths of vectors -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dispatch of a kernel to the widest vectors of the CPU. A kernel is an
// always-inline function. For each vector width, a variant inlines it with more
// instructions enabled, and the widest variant that the CPU supports is called.
// GCC's target_clones would do the same, but its resolvers run before a
// sanitizer's runtime is initialised.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_VECTORS_H
#define VEELINE_BASE_VECTORS_H

#define VEELINE_KERNEL inline __attribute__((always_inline))
#define VEELINE_VECTORS_256 __attribute__((target("avx2")))
// clang takes the widest vectors by itself.
#ifdef __clang__
#define VEELINE_VECTORS_512 __attribute__((target("avx512f")))
#else
#define VEELINE_VECTORS_512                                                    \
  __attribute__((target("avx512f,prefer-vector-width=512")))
#endif

namespace veeline {

/// The width of this CPU's widest vectors: 128, 256 or 512 bits.
inline int widestVectorBits() {
  static const int bits = __builtin_cpu_supports("avx512f") ? 512
                          : __builtin_cpu_supports("avx2")  ? 256
                                                            : 128;
  return bits;
}

} // namespace veeline

#endif // VEELINE_BASE_VECTORS_H
