//===- LoadedProgram.cpp - a loaded program of the trainer ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedProgram.h"

using namespace veeline;

void engine::selectInputs(const LoadedProgram &loaded,
                          const artifact::Metadata &metadata,
                          const void *const *all, const veeline_rank &rank,
                          RankInputs &inputs) {
  int32_t replica =
      rank.program->placeOf(static_cast<size_t>(rank.index)).replica;
  int64_t first =
      int64_t(metadata.microbatches) * (replica - loaded.firstReplica());
  for (size_t i = 0; i < inputs.pointers.size(); ++i) {
    const auto *bytes = static_cast<const char *>(all[i]);
    if (i < metadata.batches.size()) {
      const artifact::Batch &batch = metadata.batches[i];
      bytes += first * artifact::bytesOf(batch.type, batch.shape);
    }
    inputs.pointers[i] = bytes;
  }
  if (!metadata.lengths.empty())
    inputs.lengths =
        static_cast<const int64_t *>(all[inputs.pointers.size()]) + first;
}
