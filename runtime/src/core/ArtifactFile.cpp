//===- ArtifactFile.cpp - artifacts on disk -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header, metadata, table of sections, sections; docs/artifact.md.
//
//===----------------------------------------------------------------------===//

#include "Checksum.h"
#include "File.h"
#include "Json.h"

#include "veeline/artifact.h"

#include <cstring>

using namespace veeline;
using namespace veeline::artifact;

namespace {
/// All numbers are little-endian, as this backend's machines are.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t numSections;
  uint64_t totalBytes;
  uint64_t metadataOffset;
  uint64_t metadataBytes;
  uint64_t tableOffset; ///< Of numSections Extents.
  uint64_t reserved;
  uint64_t checksum; ///< CRC-64/XZ of the file with this field as zero.
};
static_assert(sizeof(Header) == 64);

struct Extent {
  uint64_t offset;
  uint64_t bytes;
};
} // namespace

/// The first byte is no text, the last two find a transfer that changed line
/// ends.
static constexpr char magic[8] = {'\x8b', 'V', 'E', 'E', 'L', 'N', '\r', '\n'};
static constexpr size_t sectionAlignment = 64;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static void padToAlignment(std::string &bytes) {
  bytes.resize((bytes.size() + sectionAlignment - 1) / sectionAlignment *
               sectionAlignment);
}

template <typename T>
static void appendRaw(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

static uint64_t checksumOf(std::string_view file) {
  constexpr char zeros[sizeof(Header::checksum)] = {};
  Crc64 crc;
  crc.add(file.substr(0, offsetof(Header, checksum)));
  crc.add({zeros, sizeof(zeros)});
  crc.add(file.substr(sizeof(Header)));
  return crc.value();
}

static std::string encode(const Artifact &artifact) {
  std::string metadata = toCompactJson(artifact.metadata);
  std::string bytes(sizeof(Header), '\0');
  Header header{};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.version = formatVersion;
  header.numSections = static_cast<uint32_t>(artifact.objects.size());
  header.metadataOffset = bytes.size();
  header.metadataBytes = metadata.size();
  bytes += metadata;
  padToAlignment(bytes);

  header.tableOffset = bytes.size();
  std::vector<Extent> table(artifact.objects.size());
  bytes.resize(bytes.size() + table.size() * sizeof(Extent));
  for (size_t i = 0; i < table.size(); ++i) {
    padToAlignment(bytes);
    table[i] = {bytes.size(), artifact.objects[i].size()};
    bytes += artifact.objects[i];
  }
  header.totalBytes = bytes.size();
  if (!table.empty())
    std::memcpy(bytes.data() + header.tableOffset, table.data(),
                table.size() * sizeof(Extent));
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.checksum = checksumOf(bytes);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

Status artifact::writeArtifact(const std::string &path,
                               const Artifact &artifact) {
  if (Status status = validate(artifact); !status.ok())
    return Status::error("cannot write '" + path + "': " + status.message());
  return writeFileAtomically(path, encode(artifact));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool isWithin(uint64_t offset, uint64_t bytes, uint64_t total) {
  return offset <= total && bytes <= total - offset;
}

/// Checks everything that does not need the metadata.
static Status checkHeader(std::string_view file, const Header &header) {
  if (std::memcmp(header.magic, magic, sizeof(magic)) != 0)
    return Status::error("this is no Veeline artifact");
  if (header.version != formatVersion)
    return Status::error(
        "its format has version " + std::to_string(header.version) +
        ", this program reads version " + std::to_string(formatVersion) +
        "; compile the model again");
  if (header.totalBytes != file.size())
    return Status::error(
        std::string(file.size() < header.totalBytes ? "the file is truncated: "
                                                    : "the file is damaged: ") +
        "it has " + std::to_string(file.size()) + " bytes, its header says " +
        std::to_string(header.totalBytes));
  if (checksumOf(file) != header.checksum)
    return Status::error(
        "the file is damaged: its content does not match its checksum");
  if (!isWithin(header.metadataOffset, header.metadataBytes, file.size()) ||
      !isWithin(header.tableOffset,
                uint64_t(header.numSections) * sizeof(Extent), file.size()))
    return Status::error("its header points outside of the file");
  return Status::success();
}

static Expected<Artifact> decode(std::string_view file) {
  if (file.size() < sizeof(Header))
    return Status::error(
        "it has " + std::to_string(file.size()) + " bytes, less than the " +
        std::to_string(sizeof(Header)) +
        " of a header: it is truncated or no Veeline artifact");
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  if (Status status = checkHeader(file, header); !status.ok())
    return status;

  Expected<Metadata> metadata =
      fromJson(file.substr(header.metadataOffset, header.metadataBytes));
  if (!metadata.ok())
    return metadata.status();
  Artifact artifact;
  artifact.metadata = std::move(*metadata);
  for (uint32_t i = 0; i < header.numSections; ++i) {
    Extent extent;
    std::memcpy(&extent, file.data() + header.tableOffset + i * sizeof(Extent),
                sizeof(Extent));
    if (!isWithin(extent.offset, extent.bytes, file.size()))
      return Status::error("section " + std::to_string(i) +
                           " lies outside of the file");
    artifact.objects.emplace_back(file.substr(extent.offset, extent.bytes));
  }
  if (Status status = validate(artifact); !status.ok())
    return status;
  return artifact;
}

Expected<Artifact> artifact::readArtifact(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  Expected<Artifact> artifact = decode(file->bytes());
  if (!artifact.ok())
    return Status::error("cannot read '" + path + "': " + artifact.message());
  return artifact;
}
