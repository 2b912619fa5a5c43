//===- Bells.h - the bells of a run's ranks ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_BELLS_H
#define VEELINE_RUNTIME_NET_BELLS_H

#include "Bell.h"

#include <string>
#include <vector>

namespace veeline::net {

/// The bells of all ranks. The bell of a process is in memory without a name,
/// which is freed with the last process that uses it. Processes on the same
/// host find it through /proc. If they cannot, nobody rings, and a waiting rank
/// polls.
class Bells {
public:
  Bells();
  ~Bells();
  Bells(const Bells &) = delete;
  Bells &operator=(const Bells &) = delete;

  /// What the other processes need to find the bell of this process.
  std::string describe() const;
  /// Finds the bells of the others by what `describe` returned on each rank.
  void connect(int32_t self, const std::vector<std::string> &descriptions);

  Bell &own() { return mine ? mine->bell : unshared; }
  /// Whether the bells of all ranks were found.
  bool everyoneRings() const { return found.size() + 1 == bells.size(); }
  /// Null if it was not found, as on another host.
  Bell *of(int32_t rank) const { return bells[static_cast<size_t>(rank)]; }

private:
  struct Memory {
    Bell bell;
    uint64_t token[2]; ///< Identifies this memory.
  };
  static Memory *map(int file);
  static Memory *find(const std::string &description);

  Bell unshared;
  int file = -1;
  Memory *mine = nullptr;
  std::vector<Memory *> found; ///< The memory of others.
  std::vector<Bell *> bells;   ///< By rank.
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_BELLS_H
