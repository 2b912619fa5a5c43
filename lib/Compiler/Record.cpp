//===- Record.cpp - what compiling made, as JSON --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Record.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include "veeline/prediction.h"

using namespace veeline;
using namespace veeline::compiler;
namespace json = llvm::json;

static const char *name(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    break;
  }
  return "note";
}

static json::Object toJson(const Message &message) {
  json::Array notes;
  for (const Message &note : message.notes)
    notes.push_back(toJson(note));
  return json::Object{{"severity", name(message.severity)},
                      {"file", json::fixUTF8(message.file)},
                      {"line", message.line},
                      {"column", message.column},
                      {"message", json::fixUTF8(message.text)},
                      {"notes", std::move(notes)}};
}

/// Null if nothing was predicted.
static json::Value toJson(std::optional<double> microseconds) {
  return microseconds ? json::Value(*microseconds) : json::Value(nullptr);
}

static json::Object toJson(const artifact::Program &program) {
  json::Array ranks;
  for (const artifact::Rank &rank : program.ranks)
    ranks.push_back(json::Object{{"arena_bytes", rank.arenaBytes},
                                 {"peak_live_bytes", rank.peakLiveBytes},
                                 {"host_bytes", rank.hostBytes},
                                 {"ops", int64_t(rank.ops.size())}});
  return json::Object{
      {"program", json::fixUTF8(program.name)},
      {"schedule", json::fixUTF8(program.schedule)},
      {"stages", program.stages},
      {"chunks_per_stage", program.chunksPerStage},
      {"replicas", program.replicas},
      {"stage_replicas", json::Array(program.stageReplicas)},
      {"predicted_step_microseconds", toJson(predictStep(program))},
      {"predicted_period_microseconds", toJson(predictPeriod(program))},
      {"ranks", std::move(ranks)}};
}

std::string compiler::toJson(const CompileRecord &record,
                             const std::string &path, uint64_t bytes,
                             const artifact::Metadata &metadata) {
  json::Array programs, phases, messages;
  for (const artifact::Program &program : metadata.programs)
    programs.push_back(::toJson(program));
  for (const CompileRecord::Phase &phase : record.phases)
    phases.push_back(json::Object{{"program", json::fixUTF8(phase.program)},
                                  {"phase", phase.name},
                                  {"seconds", phase.seconds}});
  for (const Message &message : record.messages)
    messages.push_back(::toJson(message));
  json::Object object{{"format", "veeline-compilation"},
                      {"version", 1},
                      {"artifact", json::fixUTF8(path)},
                      {"bytes", int64_t(bytes)},
                      {"model", json::fixUTF8(metadata.model)},
                      {"target", metadata.target},
                      {"microbatches", metadata.microbatches},
                      {"programs", std::move(programs)},
                      {"phases", std::move(phases)},
                      {"seconds", record.seconds},
                      {"messages", std::move(messages)}};
  return llvm::formatv("{0:2}\n", json::Value(std::move(object)));
}
