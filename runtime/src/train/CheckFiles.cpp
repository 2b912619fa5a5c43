//===- CheckFiles.cpp - files that a run needs ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckFiles.h"

#include "Checkpointer.h"
#include "LearningRate.h"
#include "NameMap.h"
#include "Session.h"
#include "Train.h"
#include "veeline/Base/File.h"

#include <limits>

using namespace veeline;
using namespace veeline::train;

Status train::checkWritable(const std::string &path) {
  return path.empty() ? Status::success() : AtomicFile(path).open();
}

Status train::checkRecordOf(int32_t rank, const Options &options) {
  Status status =
      checkWritable(flightRecordName(options.flightRecorder, rank) + ".txt");
  return status.ok() ? status
                     : Status::error("--flight-recorder: " + status.message());
}

Status train::checkFiles(const Options &options, bool writesResults) {
  if (auto place = net::findPlace(); place.ok())
    VEELINE_TRY(checkTransport(options, *place));
  VEELINE_TRY(data::checkFiles(options.inputs));
  VEELINE_TRY(data::checkFiles(options.evaluation.inputs));
  if (options.takesInit())
    if (auto file = MappedFile::open(options.init); !file.ok())
      return file.status();
  if (options.takesInit() && !options.initNames.empty())
    VEELINE_TRY(data::NameMap::open(options.initNames).status());
  if (options.rates.shape == RateShape::file)
    VEELINE_TRY(readRates(options.rates.file).status());
  std::unique_ptr<data::Checkpoint> resumed;
  if (!options.resume.empty()) {
    std::vector<data::Damage> damages;
    VEELINE_TRY_VALUE(
        resumed,
        openToResume(options, std::numeric_limits<int64_t>::max(), damages));
  }
  if (!writesResults)
    return Status::success();
  VEELINE_TRY(
      lockCheckpointFolder(options, resumed.get(), /*waits=*/false).status());
  for (const std::string &path :
       {options.save, options.metrics, options.outputs,
        options.evaluation.metrics, options.timeline, options.profile})
    VEELINE_TRY(checkWritable(path));
  return options.flightRecorder.empty() ? Status::success()
                                        : checkRecordOf(0, options);
}

Status train::check(const Options &options) {
  // The run itself prints all remarks.
  Options silent = options;
  silent.hearRemark = [](const std::string &) {};
  VEELINE_TRY_VALUE(std::unique_ptr<Run> run, Run::load(silent));
  return run->findProgram(options.program).status();
}
