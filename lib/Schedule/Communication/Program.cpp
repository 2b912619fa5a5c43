//===- Program.cpp - communication programs as text -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Communication/Program.h"

using namespace veeline::schedule::communication;

const char *veeline::schedule::communication::toString(Model model) {
  switch (model) {
  case Model::Nccl:
    return "nccl";
  case Model::Mpi:
    return "mpi";
  case Model::NcclDuplex:
    return "nccl-duplex";
  }
  return "";
}

const char *veeline::schedule::communication::describe(Model model) {
  return model == Model::NcclDuplex ? "nccl, sends and receives side by side"
                                    : toString(model);
}

std::optional<Model>
veeline::schedule::communication::parseModel(std::string_view name) {
  for (Model model : {Model::Nccl, Model::Mpi, Model::NcclDuplex})
    if (name == toString(model))
      return model;
  return std::nullopt;
}

const char *veeline::schedule::communication::toString(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Malformed:
    return "malformed";
  case ErrorKind::Group:
    return "a wrong group";
  case ErrorKind::Handle:
    return "a wrong handle";
  case ErrorKind::Duplicate:
    return "two messages of one identity";
  case ErrorKind::Unmatched:
    return "one end without the other";
  case ErrorKind::Mismatch:
    return "ends that do not name each other";
  case ErrorKind::Type:
    return "ends of different types";
  case ErrorKind::Shape:
    return "a value before its shape";
  case ErrorKind::Crossed:
    return "another order than sent";
  case ErrorKind::AtOnce:
    return "two at once";
  case ErrorKind::Deadlock:
    return "a deadlock";
  }
  return "";
}

static const char *nameOf(Direction direction) {
  switch (direction) {
  case Direction::Activation:
    return " activation";
  case Direction::Gradient:
    return " gradient";
  case Direction::Shape:
    return " shape";
  }
  return "";
}

static std::string describe(const MessageId &id) {
  return "edge " + std::to_string(id.edge) + nameOf(id.direction) +
         ", microbatch " + std::to_string(id.microbatch) +
         (id.part >= 0 ? ", part " + std::to_string(id.part) : "") +
         (id.replica ? ", replica " + std::to_string(id.replica) : "");
}

std::string veeline::schedule::communication::describe(const Op &op) {
  switch (op.kind) {
  case OpKind::Compute:
    return "computation";
  case OpKind::Ready:
    return "wait for the receiver's memory for " + ::describe(op.message);
  case OpKind::Send:
    return "send of " + ::describe(op.message) + ", to rank " +
           std::to_string(op.peer);
  case OpKind::Receive:
    return "receive of " + ::describe(op.message) + ", from rank " +
           std::to_string(op.peer);
  case OpKind::Wait:
    return "wait for handle " + std::to_string(op.handle);
  case OpKind::AllReduce:
    if (op.reduction == ReductionId::ofNorms())
      return "norms of the last step";
    if (op.reduction.isOfShares())
      return "all-gather of parameter " + std::to_string(op.reduction.param) +
             ", on communicator " + std::to_string(op.communicator);
    return "all-reduce of chunk " + std::to_string(op.reduction.chunk) +
           ", parameter " + std::to_string(op.reduction.param) +
           ", on communicator " + std::to_string(op.communicator);
  }
  return "";
}

std::string veeline::schedule::communication::toText(const Program &program,
                                                     const Error &error) {
  auto line = [&](Position at, const std::string &text) {
    return "rank " + std::to_string(at.rank) + ", op " + std::to_string(at.op) +
           ": " + describe(program.ranks[at.rank][at.op]) + " " + text + "\n";
  };
  std::string text = line(error.at, error.message);
  for (const Error::Note &note : error.notes)
    text += "  " + line(note.at, note.text);
  return text;
}
