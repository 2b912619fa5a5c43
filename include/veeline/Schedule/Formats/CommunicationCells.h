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

/// The communication cells of a .csv file, in the format of PyTorch's
/// pipelining. 2SEND_F0 starts to send chunk 2's output for microbatch 0 to the
/// rank of chunk 3; 3RECV_F0 starts to receive it there. SEND_B and RECV_B are
/// gradients, in the other direction. A receive is waited for before the
/// operation that uses it, a send at the end of the row. There is one
/// communicator, and edge k leads from chunk k to k+1.
struct Cells {
  Program program;
  /// "file:line:column: 2SEND_F0" for each operation.
  std::vector<std::vector<std::string>> names;
};

/// Reads the cells; nothing for a file without any. Errors begin with
/// "file:line:column: ":
/// - those of `readCsv`;
/// - a cell that sends a value before it is computed, or past the last (or
///   first) chunk;
/// - an operation whose input comes from another rank and is not received
///   before it.
Expected<std::optional<Cells>> readCommunicationCells(std::string_view text,
                                                      const std::string &file);
/// The same for the file at `path`; nothing if it is no .csv.
Expected<std::optional<Cells>> readCommunicationCells(const std::string &path);

/// Writes the order with such cells, for PyTorch's loader with
/// format="compute_comms". Messages are issued in the order in which they are
/// produced, and receives as early as that permits. This is correct under the
/// rules of NCCL with one communicator (`Strategy::Overlap`). Every chunk has
/// an UNSHARD before its first operation, and a REDUCE_GRAD and a RESHARD after
/// its last one. Errors: those of `trafficOf`, and what PyTorch cannot run,
/// which is late operations, stages of several ranks, edges that skip a chunk,
/// and later chunks without an input gradient.
Expected<std::string> toCommunicationCsv(const Problem &problem,
                                         const Schedule &schedule);

/// The error of a program with the places of its cells, one line each.
std::string toText(const Cells &cells, const Error &error);

} // namespace veeline::schedule::communication

#endif // VEELINE_SCHEDULE_FORMATS_COMMUNICATIONCELLS_H
