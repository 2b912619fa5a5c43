//===- Verify.cpp - verification of a pipeline ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "Compare.h"
#include "GroupedSession.h"
#include "Interrupt.h"
#include "JsonLine.h"
#include "StepPlan.h"
#include "VerifyMemory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace veeline;
using namespace veeline::train;
using artifact::DataType;
using artifact::Parameter;

/// Describes what differs; empty if nothing does.
using Difference = std::string;

static Difference compareLosses(const std::vector<double> &a, const char *aName,
                                const std::vector<double> &b, int64_t step) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<uint64_t>(a[i]) != std::bit_cast<uint64_t>(b[i])) {
      char text[160];
      std::snprintf(text, sizeof(text),
                    "step %ld: result %zu (by microbatch) is %.17g in %s, "
                    "%.17g in sequential",
                    long(step), i, a[i], aName, b[i]);
      return text;
    }
  return "";
}

/// Compares all copies, because the ranks of a stage must have the same
/// parameters.
static Difference compareParams(const Run &run, const Session &a,
                                const GroupedSession &b) {
  for (size_t i = 0; i < run.metadata().params.size(); ++i)
    for (size_t copy = 0; copy < std::max<size_t>(a.numCopies(i), 1); ++copy) {
      const Parameter &param = run.metadata().params[i];
      Difference difference =
          describeDifference(param, a.value(i, copy), a.program().name.c_str(),
                             b.value(i), b.program().name.c_str());
      if (!difference.empty())
        return "parameter '" + param.name +
               "' after the last step: " + difference;
    }
  return "";
}

//===----------------------------------------------------------------------===//
// Verification of single steps
//===----------------------------------------------------------------------===//

namespace {
/// One line of the table: an accumulator over all steps.
struct Row {
  Session::Gradient gradient;
  bool equal = true;
};

class Verifier {
public:
  explicit Verifier(Run &run)
      : run(run), plan(run.options), distances(run.metadata().params.size()) {}

  Status verify();

private:
  Status open();
  Status runStep(int64_t step);
  void compareGradients(int64_t step);
  void compareGradient(int64_t step, size_t row,
                       const Session::Gradient &gradient);
  Status compareWithReference(int64_t step, const StepSettings &settings,
                              const StepResult &sequentialResult,
                              const std::vector<std::vector<char>> &values);
  /// The sum over chunks, in their order.
  template <typename Read>
  std::vector<char>
  totalGradient(const std::vector<Session::Gradient> &gradients, size_t param,
                Read read) const;
  double tolerance(DataType type) const {
    return type == DataType::f64 ? 1e-12 : 1e-5;
  }
  void note(const Difference &difference) {
    if (firstError.empty())
      firstError = difference;
  }
  void print() const;
  void printJson() const;

  Run &run;
  StepPlan plan;
  std::unique_ptr<Session> tested;
  std::unique_ptr<GroupedSession> sequential, reference;
  std::vector<Row> rows;
  /// The largest distance of all steps, by parameter.
  std::vector<double> distances;
  bool lossEqual = true;
  double lossDistance = 0;
  Difference firstError;
};
} // namespace

/// Whether both have gradients of the same parameters and chunks, in the same
/// order.
static bool sameGradients(const std::vector<Session::Gradient> &a,
                          const std::vector<Session::Gradient> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto &x, const auto &y) {
                      return x.param == y.param && x.chunk == y.chunk;
                    });
}

Status Verifier::open() {
  auto load = [&](std::unique_ptr<GroupedSession> &session,
                  const std::string &name) {
    VEELINE_TRY_VALUE(session, GroupedSession::create(run, name));
    return Status::success();
  };
  VEELINE_TRY_VALUE(tested, Session::create(run, run.options.program));
  VEELINE_TRY(load(sequential, "sequential"));
  // With stashed weights, the microbatches of a step use several versions of
  // the parameters, so there is no reference.
  bool isStashed =
      tested->program().asynchronous == artifact::Asynchronous::stashed;
  if (run.metadata().findProgram("reference") && !isStashed)
    VEELINE_TRY(load(reference, "reference"));
  if (!sameGradients(tested->gradients(), sequential->gradients()))
    return Status::error("'" + run.options.program +
                         "' and 'sequential' have not the same chunks");
  for (const Session::Gradient &gradient : tested->gradients())
    rows.push_back({gradient});
  return Status::success();
}

void Verifier::compareGradients(int64_t step) {
  size_t row = 0;
  for (const Session::Gradient &gradient : tested->allGradients()) {
    // The accumulators of a row are adjacent.
    while (rows[row].gradient.param != gradient.param ||
           rows[row].gradient.chunk != gradient.chunk)
      ++row;
    compareGradient(step, row, gradient);
  }
}

void Verifier::compareGradient(int64_t step, size_t i,
                               const Session::Gradient &gradient) {
  const Parameter &param = run.metadata().params[gradient.param];
  Difference difference = describeDifference(
      param, tested->read(gradient), tested->program().name.c_str(),
      sequential->gradient(i), "sequential");
  if (difference.empty())
    return;
  rows[i].equal = false;
  difference = "step " + std::to_string(step) + ": gradient of '" + param.name +
               "' in chunk " + std::to_string(rows[i].gradient.chunk) + ": " +
               difference;
  note(difference);
}

template <typename Read>
std::vector<char>
Verifier::totalGradient(const std::vector<Session::Gradient> &gradients,
                        size_t param, Read read) const {
  std::vector<char> total;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].param != param)
      continue;
    if (total.empty())
      total = read(i);
    else
      addTensor(run.metadata().params[param], total, read(i));
  }
  return total;
}

/// `values` are the parameters with which the step began.
Status
Verifier::compareWithReference(int64_t step, const StepSettings &settings,
                               const StepResult &sequentialResult,
                               const std::vector<std::vector<char>> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    VEELINE_TRY(reference->setValue(i, values[i]));
  StepResult result;
  VEELINE_TRY(reference->step(step, settings, sequentialResult.clip, result));
  const artifact::Metadata &metadata = run.metadata();
  double loss = meanOfResult(sequentialResult, 0, run.microbatches());
  double expected = meanOfResult(result, 0, run.microbatches());
  double distance =
      loss == expected ? 0 : std::abs(loss - expected) / std::abs(expected);
  if (!(distance <= tolerance(metadata.results[0].type)))
    note("step " + std::to_string(step) + ": the loss is " +
         std::to_string(loss) + ", in reference " + std::to_string(expected));
  lossDistance = std::max(lossDistance, distance);
  for (size_t i = 0; i < metadata.params.size(); ++i) {
    const Parameter &param = metadata.params[i];
    auto ours = tested->gradients();
    double distance = relativeDistance(
        param,
        totalGradient(ours, i, [&](size_t k) { return tested->read(ours[k]); }),
        totalGradient(reference->gradients(), i,
                      [&](size_t k) { return reference->gradient(k); }));
    distances[i] = std::max(distances[i], distance);
    if (distance > tolerance(param.type)) {
      char text[64];
      std::snprintf(text, sizeof(text), "%.3g, allowed are %.0e", distance,
                    tolerance(param.type));
      note("step " + std::to_string(step) + ": gradient of '" + param.name +
           "' is off that of reference by " + text);
    }
  }
  return Status::success();
}

Status Verifier::runStep(int64_t step) {
  std::vector<std::vector<char>> values;
  if (reference)
    for (size_t i = 0; i < run.metadata().params.size(); ++i)
      values.push_back(sequential->usedValue(i));
  StepResult result, expected;
  StepSettings settings = plan.begin(step);
  VEELINE_TRY(tested->step(step, settings, result));
  VEELINE_TRY(sequential->step(step, settings, result.clip, expected));
  VEELINE_TRY(plan.end(step, result));
  Difference losses = compareLosses(
      result.results, tested->program().name.c_str(), expected.results, step);
  lossEqual &= losses.empty();
  note(losses);
  compareGradients(step);
  // A value that is not a number has no distance from the reference.
  if (!reference || result.clip.skips)
    return Status::success();
  return compareWithReference(step, settings, expected, values);
}

/// Prints a line of JSON for each gradient, and one for the whole.
void Verifier::printJson() const {
  JsonLine line(256);
  for (const Row &row : rows) {
    const Parameter &param = run.metadata().params[row.gradient.param];
    line.begin("gradient");
    line.add("parameter", std::string_view(param.name));
    line.add("chunk", int64_t(row.gradient.chunk));
    line.add("elements", artifact::numElements(param.shape));
    line.addFlag("equal", row.equal);
    if (reference)
      line.add("distance", distances[row.gradient.param]);
    line.print();
  }
  line.begin("verification");
  line.add("program", std::string_view(tested->program().name));
  line.add("steps", run.options.steps);
  line.addFlag("equal", firstError.empty());
  line.addFlag("loss_equal", lossEqual);
  if (reference)
    line.add("loss_distance", lossDistance);
  line.print();
}

void Verifier::print() const {
  std::string equality = tested->program().name + " = sequential";
  size_t width = sizeof("parameter") - 1;
  for (const Parameter &param : run.metadata().params)
    width = std::max(width, param.name.size());
  auto line = [&](const std::string &name, const std::string &chunk,
                  const std::string &elements, const std::string &verdict,
                  const std::string &distance) {
    std::printf("%-*s  %5s  %10s  %-*s  %s\n", int(width), name.c_str(),
                chunk.c_str(), elements.c_str(), int(equality.size()),
                verdict.c_str(), reference ? distance.c_str() : "");
  };
  auto format = [](double distance) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.2e", distance);
    return std::string(text);
  };
  line("parameter", "chunk", "elements", equality, "distance to reference");
  line("loss", "", "", lossEqual ? "bit for bit" : "DIFFERENT",
       format(lossDistance));
  for (const Row &row : rows) {
    const Parameter &param = run.metadata().params[row.gradient.param];
    line(param.name, std::to_string(row.gradient.chunk),
         std::to_string(artifact::numElements(param.shape)),
         row.equal ? "bit for bit" : "DIFFERENT",
         format(distances[row.gradient.param]));
  }
}

Status Verifier::verify() {
  VEELINE_TRY(checkGroups(run));
  VEELINE_TRY(checkMemoryOfVerify(run));
  VEELINE_TRY(open());
  for (int64_t step = 1; step <= run.options.steps; ++step) {
    if (interruptSignal())
      return Status::error("interrupted before all steps were verified");
    VEELINE_TRY(runStep(step));
  }
  note(compareParams(run, *tested, *sequential));
  VEELINE_TRY(tested->readStatus());
  VEELINE_TRY(sequential->readStatus());
  if (reference)
    VEELINE_TRY(reference->readStatus());
  if (run.options.logsJson)
    printJson();
  else
    print();
  if (!firstError.empty())
    return Status::error("verification failed: " + firstError);
  if (run.options.logsJson)
    return Status::success();
  std::printf("verified: %ld step%s of '%s' equal 'sequential' bit for bit%s\n",
              long(run.options.steps), run.options.steps == 1 ? "" : "s",
              tested->program().name.c_str(),
              reference ? " and agree with 'reference'" : "");
  return Status::success();
}

Status train::verify(Run &run) { return Verifier(run).verify(); }

//===----------------------------------------------------------------------===//
// Comparison of a whole run
//===----------------------------------------------------------------------===//

static void printComparison(size_t steps, bool equal) {
  JsonLine line(64);
  line.begin("comparison");
  line.add("steps", int64_t(steps));
  line.addFlag("equal", equal);
  line.print();
}

/// The error of a run that differs; with --log json there is an event, too.
static Status differs(const Run &run, size_t steps,
                      const Difference &difference) {
  if (run.options.logsJson)
    printComparison(steps, /*equal=*/false);
  return Status::error("not equal to the sequential run: " + difference);
}

Status train::compareWithSequential(Run &run, const Session &trained,
                                    const std::vector<TrainedStep> &steps) {
  VEELINE_TRY_VALUE(std::unique_ptr<GroupedSession> sequential,
                    GroupedSession::create(run, "sequential"));
  const char *name = trained.program().name.c_str();
  StepPlan plan(run.options);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (interruptSignal())
      return Status::error("interrupted before all steps were compared");
    auto step = static_cast<int64_t>(i) + 1;
    StepResult result;
    VEELINE_TRY(
        sequential->step(step, plan.begin(step), steps[i].clip, result));
    VEELINE_TRY(plan.end(step, result));
    Difference difference =
        compareLosses(steps[i].losses, name, result.results, step);
    if (!difference.empty())
      return differs(run, steps.size(), difference);
  }
  Difference difference = compareParams(run, trained, *sequential);
  VEELINE_TRY(trained.readStatus());
  VEELINE_TRY(sequential->readStatus());
  if (!difference.empty())
    return differs(run, steps.size(), difference);
  if (run.options.logsJson) {
    printComparison(steps.size(), /*equal=*/true);
    return Status::success();
  }
  std::printf("compared: losses of %ld step%s and all parameters equal the "
              "sequential run bit for bit\n",
              long(steps.size()), steps.size() == 1 ? "" : "s");
  return Status::success();
}
