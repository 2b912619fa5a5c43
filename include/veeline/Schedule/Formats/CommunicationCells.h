//===- CommunicationCells.h - messages in schedule files --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_SCHEDULE_FORMATS_COMMUNICATIONCELLS_H
#define VEELINE_SCHEDULE_FORMATS_COMMUNICATIONCELLS_H

#include "veeline/Schedule/Communication/Program.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::schedule::communication {

/// The communication cells of a .csv file, as PyTorch's pipelining writes them:
/// 2SEND_F0 starts to send what chunk 2 made of microbatch 0 to the rank of
/// chunk 3, 3RECV_F0 to receive it there; SEND_B and RECV_B are gradients, from
/// chunk 3 to chunk 2. A receive is waited for before the operation that uses
/// it, sends at the end of the row. All is one communicator; edge k leads from
/// chunk k to k+1.
struct Cells {
  Program program;
  /// "file:line:column: 2SEND_F0" of each operation.
  std::vector<std::vector<std::string>> names;
};

/// Nothing for a file without such cells. Errors begin with "file:line:column:
/// " and are those of `readCsv`, a cell that sends what is not there yet or
/// that the last (or first) chunk has nobody for, and an operation whose input
/// comes from another rank and is not received before it.
Expected<std::optional<Cells>> readCommunicationCells(std::string_view text,
                                                      const std::string &file);
/// The same of a file; nothing for one that is no .csv.
Expected<std::optional<Cells>> readCommunicationCells(const std::string &path);

/// The order with such cells, for PyTorch's loader with
/// format="compute_comms". Messages are issued in the order in which they are
/// made, receives as early as that permits, which is right under the rules of
/// NCCL with one communicator (`Strategy::Overlap`). Every chunk has an UNSHARD
/// before its first operation, and a REDUCE_GRAD and a RESHARD after its last
/// one. Errors: what PyTorch cannot run (late operations, stages of several
/// ranks, edges that skip a chunk, later chunks without an input gradient), and
/// those of `trafficOf`.
Expected<std::string> toCommunicationCsv(const Problem &problem,
                                         const Schedule &schedule);

/// The error of a program with the places of its cells, a line each.
std::string toText(const Cells &cells, const Error &error);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_FORMATS_COMMUNICATIONCELLS_H
