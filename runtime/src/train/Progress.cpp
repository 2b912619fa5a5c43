//===- Progress.cpp - printed progress of training ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "veeline/Base/File.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace veeline;
using namespace veeline::train;

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

/// The line is not rewritten more often than a screen can show it, because that
/// costs time and helps nobody.
static constexpr double secondsBetweenRewrites = 0.1;

/// A line is rewritten only with `isAlone`, because launchers give processes
/// terminals whose lines end up in files.
Progress::Progress(int64_t steps, const WorkOfStep &work, int64_t logEvery,
                   bool isAlone, int64_t stepsBefore)
    : steps(steps), logEvery(logEvery), stepsBefore(stepsBefore), work(work),
      terminal(isAlone && ::isatty(STDOUT_FILENO)) {}

Progress::~Progress() { finish(); }

void Progress::finish() {
  if (std::exchange(open, false))
    std::fputc('\n', stdout);
  std::fflush(stdout);
}

std::string train::formatDuration(double seconds) {
  auto whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  char text[64];
  if (whole >= 3600)
    std::snprintf(text, sizeof(text), "%ldh%02ldm", long(whole / 3600),
                  long(whole / 60 % 60));
  else if (whole >= 60)
    std::snprintf(text, sizeof(text), "%ldm%02lds", long(whole / 60),
                  long(whole % 60));
  else
    std::snprintf(text, sizeof(text), "%lds", long(whole));
  return text;
}

/// Prints at least three digits. Returns the end of the text.
static size_t printRate(char *text, size_t size, double rate,
                        const char *unit) {
  const char *format = rate < 100 ? "%.3g %s/s" : "%.0f %s/s";
  int written = std::snprintf(text, size, format, rate, unit);
  return std::min(static_cast<size_t>(std::max(written, 0)), size - 1);
}

Rate::Rate(const WorkOfStep &work, double seconds) {
  size_t end =
      printRate(text, sizeof(text), double(work.samples) / seconds, "samples");
  if (work.tokens == 0 || end + 2 >= sizeof(text))
    return;
  text[end++] = ',';
  text[end++] = ' ';
  printRate(text + end, sizeof(text) - end, double(work.tokens) / seconds,
            "tokens");
}

const char *Progress::line(const StepRecord &record) {
  int width = static_cast<int>(std::to_string(steps).size());
  double perStep = record.totalSeconds / double(record.step - stepsBefore);
  std::snprintf(text, sizeof(text),
                "step %*ld/%ld  loss %.4f  lr %.2e  %s  %s left", width,
                long(record.step), long(steps), record.loss,
                record.learningRate, Rate(work, perStep).text,
                formatDuration(perStep * double(steps - record.step)).c_str());
  return text;
}

void Progress::show(const StepRecord &record) {
  bool last = record.step == steps;
  if (!terminal) {
    if (last || record.step == stepsBefore + 1 || record.step % logEvery == 0) {
      std::puts(line(record));
      std::fflush(stdout);
    }
    return;
  }
  if (!last && record.totalSeconds - lastShown < secondsBetweenRewrites)
    return;
  lastShown = record.totalSeconds;
  open = true;
  // "\r", then erase to the end of the line.
  std::printf("\r%s\x1b[K", line(record));
  std::fflush(stdout);
}

//===----------------------------------------------------------------------===//
// MetricsFile
//===----------------------------------------------------------------------===//

static void removeRegular(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
    ::unlink(path.c_str());
}

Status MetricsFile::failure() {
  int error = errno;
  // A file that lacks lines is worse than none.
  if (!hasBefore)
    removeRegular(path);
  return Status::error("cannot write '" + path + "': " + std::strerror(error));
}

MetricsFile::~MetricsFile() {
  if (!file)
    return;
  std::fclose(file);
  if (isEmpty && !hasBefore)
    removeRegular(path);
}

/// Returns the size of the first line and of the whole rows of steps up to
/// `lastStep` in a CSV file. Returns 0 if there are no such rows.
static size_t bytesUpTo(std::string_view text, int64_t lastStep) {
  size_t header = text.find('\n') + 1, kept = header;
  for (size_t end; header > 0 && (end = text.find('\n', kept)) != text.npos;) {
    int64_t step = 0;
    std::from_chars(text.data() + kept, text.data() + end, step);
    if (step < 1 || step > lastStep)
      break;
    kept = end + 1;
  }
  return kept > header ? kept : 0;
}

Expected<bool> train::cutRows(const std::string &path,
                              const std::string &header,
                              const RowsBefore &before) {
  auto old = MappedFile::open(path);
  if (before.lastStep == 0 || !old.ok())
    return false;
  size_t kept = bytesUpTo(old->bytes(), before.lastStep);
  if (kept == 0)
    return false;
  auto fail = [&] {
    return Status::error("cannot write '" + path +
                         "': " + std::strerror(errno));
  };
  bool hasSameColumns = old->bytes().starts_with(header);
  if (::truncate(path.c_str(), static_cast<off_t>(kept)) != 0)
    return fail();
  if (hasSameColumns)
    return true;
  VEELINE_TRY_VALUE(
      std::string other,
      moveAside(path, path + ".to-step-" + std::to_string(before.lastStep)));
  before.say("'" + path +
             "' has other columns than this run; its rows are in '" + other +
             "' now");
  return false;
}

/// Opens the file after the rows that are kept, or with a new header.
Status MetricsFile::openFile(const std::string &header,
                             const RowsBefore &before) {
  VEELINE_TRY_VALUE(hasBefore, cutRows(path, header, before));
  file = std::fopen(path.c_str(), hasBefore ? "ae" : "we");
  if (!file)
    return failure();
  return hasBefore ? Status::success() : put(header);
}

Status MetricsFile::put(const std::string &text) {
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return written && std::fflush(file) == 0 ? Status::success() : failure();
}

Status MetricsFile::open(const std::string &newPath, const WorkOfStep &newWork,
                         Columns newColumns, const RowsBefore &before) {
  path = newPath;
  work = newWork;
  columns = std::move(newColumns);
  std::string header = "step,loss,learning_rate,gradient_norm";
  if (columns.clipFactor)
    header += ",clip_factor";
  if (columns.lossScale)
    header += ",loss_scale";
  header += ",seconds,samples_per_second";
  if (work.tokens > 0)
    header += ",tokens_per_second";
  for (const std::string &name : columns.metrics)
    header += "," + name;
  constexpr size_t maxBytesOfNumber = 32;
  row.reserve(maxBytesOfNumber * (9 + columns.metrics.size()));
  return openFile(header + "\n", before);
}

/// Appends the shortest text that reads back as `value`.
template <typename T> static void append(std::string &row, T value) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  row.append(text, end);
}

/// Appends a column.
static void appendRate(std::string &row, double rate) {
  char text[32];
  std::snprintf(text, sizeof(text), rate < 100 ? ",%.4g" : ",%.1f", rate);
  row += text;
}

Status MetricsFile::add(const StepRecord &record) {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), ",%.6f", record.seconds);
  row.clear();
  append(row, record.step);
  for (double value : {record.loss, record.learningRate, record.gradientNorm}) {
    row += ',';
    // The sign of a NaN is arbitrary.
    append(row, std::isnan(value) ? std::fabs(value) : value);
  }
  if (columns.clipFactor) {
    row += ',';
    append(row, record.clipFactor);
  }
  if (columns.lossScale) {
    row += ',';
    append(row, record.lossScale);
  }
  row += seconds;
  appendRate(row, double(work.samples) / record.seconds);
  if (work.tokens > 0)
    appendRate(row, double(work.tokens) / record.seconds);
  for (double metric : record.metrics) {
    row += ',';
    append(row, metric);
  }
  row += '\n';
  isEmpty = false;
  return put(row);
}

Status MetricsFile::close() {
  if (!file)
    return Status::success();
  return std::fclose(std::exchange(file, nullptr)) == 0 ? Status::success()
                                                        : failure();
}
