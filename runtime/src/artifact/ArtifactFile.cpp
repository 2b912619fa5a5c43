//===- ArtifactFile.cpp - artifacts on disk -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the file are: header, metadata, table of sections, sections
// (docs/artifact.md).
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "veeline/Base/Checksum.h"
#include "veeline/Base/File.h"
#include "veeline/Base/Numbers.h"

#include "veeline/artifact.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace veeline;
using namespace veeline::artifact;

namespace {
/// The header. All numbers are little-endian, like the machines of this
/// backend.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t numSections;
  uint64_t totalBytes;
  uint64_t metadataOffset;
  uint64_t metadataBytes;
  uint64_t tableOffset; ///< The offset of the table of `numSections` Extents.
  uint64_t reserved;
  uint64_t checksum; ///< The CRC-64/XZ of the file with zero in this field.
};
static_assert(sizeof(Header) == 64);

struct Extent {
  uint64_t offset;
  uint64_t bytes;
};
} // namespace

/// The first byte is not text. The last two reveal a transfer that has changed
/// line ends.
static constexpr char magic[8] = {'\x8b', 'V', 'E', 'E', 'L', 'N', '\r', '\n'};
static constexpr size_t sectionAlignment = 64;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static uint64_t alignUp(uint64_t size) {
  return roundUp(size, sectionAlignment);
}

template <typename T>
static void appendRaw(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// Encodes everything before the sections. The header has no checksum yet.
static std::string encodeHead(const Artifact &artifact,
                              const std::vector<std::string_view> &sections) {
  std::string metadata = toCompactJson(artifact.metadata);
  std::string bytes(sizeof(Header), '\0');
  Header header{};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.version = formatVersion;
  header.numSections = static_cast<uint32_t>(sections.size());
  header.metadataOffset = bytes.size();
  header.metadataBytes = metadata.size();
  bytes += metadata;
  bytes.resize(alignUp(bytes.size()));
  header.tableOffset = bytes.size();
  uint64_t end = bytes.size() + sections.size() * sizeof(Extent);
  for (std::string_view section : sections) {
    Extent extent = {alignUp(end), section.size()};
    appendRaw(bytes, extent);
    end = extent.offset + extent.bytes;
  }
  header.totalBytes = end;
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

/// Calls `add` with the parts of the file in order: `head`, then each section
/// after its padding. Stops at the first error. Nothing is copied, because
/// sections can be large.
template <typename Add>
static Status forEachPiece(std::string_view head,
                           const std::vector<std::string_view> &sections,
                           Add &&add) {
  constexpr char zeros[sectionAlignment] = {};
  Status status = add(head);
  uint64_t end = head.size();
  for (std::string_view section : sections) {
    if (status.ok())
      status = add(std::string_view(zeros, alignUp(end) - end));
    if (status.ok())
      status = add(section);
    end = alignUp(end) + section.size();
  }
  return status;
}

/// Calls `add` with all parts of the file in order.
template <typename Add>
static Status encode(const Artifact &artifact, Add &&add) {
  std::vector<std::string_view> sections(artifact.objects.begin(),
                                         artifact.objects.end());
  if (artifact.metadata.device)
    sections.push_back(artifact.image);
  sections.insert(sections.end(), artifact.values.begin(),
                  artifact.values.end());
  std::string head = encodeHead(artifact, sections);
  Crc64 crc;
  (void)forEachPiece(head, sections, [&](std::string_view piece) {
    crc.add(piece);
    return Status::success();
  });
  uint64_t checksum = crc.value();
  std::memcpy(head.data() + offsetof(Header, checksum), &checksum,
              sizeof(checksum));
  return forEachPiece(head, sections, std::forward<Add>(add));
}

Status artifact::writeArtifact(const std::string &path,
                               const Artifact &artifact) {
  if (Status status = validate(artifact); !status.ok())
    return Status::error("cannot write '" + path + "': " + status.message());
  AtomicFile file(path);
  VEELINE_TRY(file.open());
  VEELINE_TRY(encode(
      artifact, [&](std::string_view piece) { return file.write(piece); }));
  return file.commit();
}

Expected<std::string> artifact::toBytes(const Artifact &artifact) {
  VEELINE_TRY(validate(artifact));
  std::string bytes;
  VEELINE_TRY(encode(artifact, [&](std::string_view piece) {
    bytes += piece;
    return Status::success();
  }));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

bool artifact::isArtifact(const std::string &path) {
  // Without the line ends, because readArtifact reports damage to these.
  constexpr std::string_view name(magic, sizeof(magic) - 2);
  Expected<MappedFile> file = MappedFile::open(path);
  return file.ok() && file->bytes().starts_with(name);
}

static uint64_t checksumOf(std::string_view file) {
  constexpr char zeros[sizeof(Header::checksum)] = {};
  Crc64 crc;
  crc.add(file.substr(0, offsetof(Header, checksum)));
  crc.add({zeros, sizeof(zeros)});
  crc.add(file.substr(sizeof(Header)));
  return crc.value();
}

static bool isWithin(uint64_t offset, uint64_t bytes, uint64_t total) {
  return offset <= total && bytes <= total - offset;
}

/// Checks everything that does not need the metadata.
static Status checkHeader(std::string_view file, const Header &header) {
  if (std::memcmp(header.magic, magic, sizeof(magic)) != 0)
    return Status::error("this is no Veeline artifact; veeline compile "
                         "makes one of a model");
  if (header.version < oldestFormatVersion || header.version > formatVersion)
    return Status::error(
        "its format has version " + std::to_string(header.version) +
        ", this program reads versions " + std::to_string(oldestFormatVersion) +
        " to " + std::to_string(formatVersion) + "; compile the model again");
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

/// The number of sections with values of parameters or constants. They are the
/// last ones.
static uint32_t countValues(const Metadata &metadata) {
  int64_t count = 0;
  for (const Parameter &param : metadata.params)
    if (param.init.stored)
      count = std::max(count, int64_t(param.init.stored->section) + 1);
  for (const Program &program : metadata.programs)
    for (const Rank &rank : program.ranks)
      for (const Constant &constant : rank.constants)
        count = std::max(count, int64_t(constant.section) + 1);
  return static_cast<uint32_t>(count);
}

/// Whether a rank gathers parameters.
static bool gathers(const Metadata &metadata) {
  auto isGather = [](const Op &op) { return op.kind == OpKind::allGather; };
  for (const Program &program : metadata.programs)
    for (const Rank &rank : program.ranks)
      if (std::ranges::any_of(rank.ops, isGather))
        return true;
  return false;
}

/// Decodes a file. Sections of the result are views of `file`.
static Expected<Artifact> decode(std::string_view file) {
  if (file.size() < sizeof(Header))
    return Status::error(
        "it has " + std::to_string(file.size()) + " bytes, less than the " +
        std::to_string(sizeof(Header)) +
        " of a header: it is truncated or no Veeline artifact");
  Header header;
  std::memcpy(&header, file.data(), sizeof(header));
  VEELINE_TRY(checkHeader(file, header));

  VEELINE_TRY_VALUE(
      Metadata metadata,
      fromJson(file.substr(header.metadataOffset, header.metadataBytes)));
  Artifact artifact;
  artifact.metadata = std::move(metadata);
  uint32_t numValues = countValues(artifact.metadata);
  uint32_t numImages = artifact.metadata.device ? 1 : 0;
  if (uint64_t(numValues) + numImages > header.numSections)
    return Status::error(
        "it has " + std::to_string(header.numSections) +
        " sections, and its parameters and constants start from the values "
        "of " +
        std::to_string(numValues) +
        (numImages ? ", and it has an image for a GPU" : ""));
  uint32_t numObjects = header.numSections - numValues - numImages;
  for (uint32_t i = 0; i < header.numSections; ++i) {
    Extent extent;
    std::memcpy(&extent, file.data() + header.tableOffset + i * sizeof(Extent),
                sizeof(Extent));
    if (!isWithin(extent.offset, extent.bytes, file.size()))
      return Status::error("section " + std::to_string(i) +
                           " lies outside of the file");
    std::string_view section = file.substr(extent.offset, extent.bytes);
    if (i < numObjects)
      artifact.objects.emplace_back(section);
    else if (i < numObjects + numImages)
      artifact.image = section;
    else
      artifact.values.push_back(section);
  }
  if (artifact.metadata.target == "cuda" && header.version < oldestOfGpus)
    return Status::error(
        "its format has version " + std::to_string(header.version) +
        ", this program reads those for GPUs from version " +
        std::to_string(oldestOfGpus) + " on; compile the model again");
  // Before, steps waited at their end for what they gather, or in the next one
  // for what they had posted.
  if (header.version < oldestWithGathers && gathers(artifact.metadata))
    return Status::error(
        "its format has version " + std::to_string(header.version) +
        ", this program reads those with --shard-optimizer from version " +
        std::to_string(oldestWithGathers) + " on; compile the model again");
  VEELINE_TRY(validate(artifact));
  return artifact;
}

Expected<Artifact> artifact::readArtifact(const std::string &path) {
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  auto storage = std::make_shared<MappedFile>(std::move(file));
  Expected<Artifact> artifact = decode(storage->bytes());
  if (!artifact.ok())
    return Status::error("cannot read '" + path + "': " + artifact.message());
  artifact->storage = std::move(storage);
  return artifact;
}

Expected<Artifact> artifact::readArtifactFromMemory(std::string_view bytes) {
  // The alignment is that of sections in the file.
  constexpr std::align_val_t alignment{sectionAlignment};
  std::shared_ptr<void> storage(
      ::operator new(bytes.size(), alignment),
      [](void *memory) { ::operator delete(memory, alignment); });
  if (!bytes.empty())
    std::memcpy(storage.get(), bytes.data(), bytes.size());
  Expected<Artifact> artifact =
      decode({static_cast<const char *>(storage.get()), bytes.size()});
  if (!artifact.ok())
    return Status::error("cannot read an artifact in memory: " +
                         artifact.message());
  artifact->storage = std::move(storage);
  return artifact;
}
