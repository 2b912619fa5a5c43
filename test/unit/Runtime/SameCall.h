//===- SameCall.h - comparing declarations of one function ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_UNIT_RUNTIME_SAMECALL_H
#define VEELINE_TEST_UNIT_RUNTIME_SAMECALL_H

#include <type_traits>

namespace veeline::test {

/// Whether both are passed in the same way.
template <typename Ours, typename Theirs>
inline constexpr bool
    isAlike = sizeof(Ours) == sizeof(Theirs) &&
              std::is_pointer_v<Ours> ==
                  std::is_pointer_v<Theirs> &&std::is_floating_point_v<Ours> ==
                  std::is_floating_point_v<Theirs>;

template <typename... Types> struct List {};
template <typename Ours, typename Theirs>
inline constexpr bool areAlike = false;
template <typename... Ours, typename... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) inline constexpr bool areAlike<
    List<Ours...>, List<Theirs...>> = (isAlike<Ours, Theirs> && ...);

template <typename Ours, typename Theirs>
inline constexpr bool isSameCall = false;
template <typename R, typename... A, typename S, typename... B>
inline constexpr bool isSameCall<R (*)(A...), S (*)(B...)> =
    isAlike<R, S> &&areAlike<List<A...>, List<B...>>;

} // namespace veeline::test

#endif // VEELINE_TEST_UNIT_RUNTIME_SAMECALL_H
