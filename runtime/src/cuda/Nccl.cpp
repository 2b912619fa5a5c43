//===- Nccl.cpp - the functions of NCCL -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl.h"

#include "Driver.h"
#include "Library.h"

using namespace veeline;
using namespace veeline::cuda;

/// 2.18, the version of NcclConfig.
static constexpr int leastNccl = 21800;
static constexpr const char *what = "NCCL of version 2.18 or later";

/// The version in the form "2.18.5". Versions before 2.9 have another form, but
/// are too old anyway.
static std::string versionOf(int version) {
  int unit = version < 10000 ? 1000 : 10000;
  return std::to_string(version / unit) + "." +
         std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

static const char *nameOf(api::NcclResult result) {
#define VEELINE_NAME(name, number)                                             \
  if (result == (number))                                                      \
    return #name;
  VEELINE_NCCL_ERRORS(VEELINE_NAME)
#undef VEELINE_NAME
  return "an unknown error";
}

Status Nccl::check(const std::string &call, api::NcclResult result,
                   api::Comm comm) const {
  if (result == api::ncclSuccess || result == api::ncclInProgress)
    return Status::success();
  const char *text = ncclGetErrorString(result);
  const char *last = ncclGetLastError(comm);
  return Status::error(call + ": " + nameOf(result) + " (" +
                       std::to_string(result) +
                       "): " + (text ? text : "NCCL has no words for it") +
                       (last && *last ? std::string("; ") + last : ""));
}

/// Called before functions are looked up, because an old version lacks some of
/// them.
static Status checkVersion(const Library &library, int &version) {
  api::NcclResult (*ask)(int *) = nullptr;
  VEELINE_TRY(library.find("ncclGetVersion", ask, what));
  if (api::NcclResult result = ask(&version); result != api::ncclSuccess)
    return Status::error("'" + library.path() +
                         "' does not say its version: ncclGetVersion: " +
                         nameOf(result) + " (" + std::to_string(result) + ")");
  if (version < leastNccl)
    return Status::error("NCCL '" + library.path() + "' has version " +
                         versionOf(version) + ", and " + versionOf(leastNccl) +
                         " or later is needed; install a newer one, or name "
                         "its file with --nccl");
  return Status::success();
}

Expected<Nccl> Nccl::load(const std::string &path) {
  VEELINE_TRY_VALUE(
      Library library,
      Library::open({"NCCL, which carries messages between processes",
                     "--nccl",
                     "install NCCL 2.18 or later",
                     {"libnccl.so.2"}},
                    path));
  Nccl nccl;
  VEELINE_TRY(checkVersion(library, nccl.version));
#define VEELINE_FIND(type, name, parameters)                                   \
  VEELINE_TRY(library.find(#name, nccl.name, what));
  VEELINE_NCCL_FUNCTIONS(VEELINE_FIND)
#undef VEELINE_FIND
  return nccl;
}

Expected<NcclType> cuda::ncclTypeOf(artifact::DataType type) {
  switch (type) {
#define VEELINE_TYPE(ours, name, number)                                       \
  case artifact::DataType::ours:                                               \
    return NcclType{number, (number) == 1                                      \
                                ? artifact::byteSize(artifact::DataType::ours) \
                                : 1};
    VEELINE_NCCL_TYPES(VEELINE_TYPE)
#undef VEELINE_TYPE
  }
  return Status::error(
      "its elements are of type number " +
      std::to_string(static_cast<int>(type)) +
      ", which NCCL is not known to carry; ranks that are threads of one "
      "process need no NCCL");
}
