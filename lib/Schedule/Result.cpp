//===- Result.cpp - errors of the schedule library ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Result.h"

using namespace veeline::schedule;

const char *veeline::schedule::toString(OpKind kind) {
  switch (kind) {
  case OpKind::Forward:
    return "F";
  case OpKind::BackwardInput:
    return "B";
  case OpKind::BackwardWeight:
    return "W";
  case OpKind::Backward:
    return "BW";
  case OpKind::Recompute:
    return "R";
  }
  return "?";
}

std::string veeline::schedule::describe(const Op &op) {
  return std::string(toString(op.kind)) + " of chunk " +
         std::to_string(op.chunk) + ", microbatch " +
         std::to_string(op.microbatch) + (op.late ? " of the step before" : "");
}

std::string Error::str() const {
  return neighbourhood.empty() ? message : message + "\n" + neighbourhood;
}
