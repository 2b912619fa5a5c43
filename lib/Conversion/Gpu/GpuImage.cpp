//===- GpuImage.cpp - one image of native code for several chips ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toolkit.h"
#include "veeline/Conversion/GpuTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"

#include <thread>

using namespace mlir;
using namespace veeline;

namespace {

/// The code of one chip at all stages of assembling.
struct ChipCode {
  GpuChip chip;
  std::string ptx, cubin, log, error;
  std::vector<GpuKernelUse> uses;
};

} // namespace

/// The number before ` unit` in `line`, or 0.
static int64_t numberBefore(llvm::StringRef line, llvm::StringRef unit) {
  size_t end = line.find((" " + unit).str());
  if (end == llvm::StringRef::npos)
    return 0;
  llvm::StringRef digits = line.take_front(end);
  digits = digits.drop_front(digits.find_last_not_of("0123456789") + 1);
  int64_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

/// Parses what `ptxas -v` reports about every kernel.
static std::vector<GpuKernelUse> parseLog(llvm::StringRef log,
                                          llvm::StringRef chip) {
  std::vector<GpuKernelUse> uses;
  for (llvm::StringRef line : llvm::split(log, '\n')) {
    constexpr llvm::StringLiteral start = "Compiling entry function '";
    size_t at = line.find(start);
    if (at != llvm::StringRef::npos) {
      llvm::StringRef name = line.drop_front(at + start.size());
      uses.push_back({name.take_until([](char c) { return c == '\''; }).str(),
                      chip.str()});
      continue;
    }
    if (uses.empty())
      continue;
    GpuKernelUse &use = uses.back();
    if (line.contains("bytes stack frame")) {
      use.stackBytes = numberBefore(line, "bytes stack frame");
      use.spillBytes = numberBefore(line, "bytes spill stores") +
                       numberBefore(line, "bytes spill loads");
    } else if (line.contains(" registers")) {
      use.registers = numberBefore(line, "registers");
      use.sharedBytes = numberBefore(line, "bytes smem");
    }
  }
  // The log begins with the last kernel.
  std::reverse(uses.begin(), uses.end());
  return uses;
}

static std::vector<std::string> getKernelNames(gpu::GPUModuleOp module) {
  std::vector<std::string> names;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      names.push_back(function.getName().str());
  return names;
}

static void assemble(const Toolkit &toolkit, ChipCode &code) {
  llvm::Expected<std::string> cubin =
      toolkit.assemble(code.ptx, code.chip, code.log);
  if (!cubin) {
    code.error = llvm::toString(cubin.takeError());
    return;
  }
  code.cubin = std::move(*cubin);
  code.uses = parseLog(code.log, code.chip.name);
}

static llvm::Error assembleAll(const Toolkit &toolkit,
                               std::vector<ChipCode> &codes,
                               llvm::ArrayRef<std::string> kernels) {
  std::vector<std::thread> threads;
  threads.reserve(codes.size());
  for (ChipCode &code : codes)
    threads.emplace_back([&] { assemble(toolkit, code); });
  for (std::thread &thread : threads)
    thread.join();
  for (const ChipCode &code : codes) {
    if (!code.error.empty())
      return llvm::createStringError("%s: %s", code.chip.name.data(),
                                     code.error.c_str());
    // The assembler accepts a file without kernels, too.
    for (const std::string &kernel : kernels)
      if (llvm::none_of(code.uses, [&](const GpuKernelUse &use) {
            return use.kernel == kernel;
          }))
        return llvm::createStringError(
            "the assembler made no code of kernel '%s' for %s; it "
            "says: %s",
            kernel.c_str(), code.chip.name.data(), code.log.c_str());
  }
  return llvm::Error::success();
}

/// Makes an image of PTX only, for `chip` and all later ones.
static llvm::Expected<GpuImage> makePtxImage(gpu::GPUModuleOp module,
                                             const GpuTargetOptions &options) {
  GpuImage image;
  image.ptxChip = "sm_80";
  llvm::Expected<std::string> ptx =
      compileToPtx(module, image.ptxChip, options);
  if (!ptx)
    return ptx.takeError();
  image.bytes = std::move(*ptx);
  image.bytes.push_back('\0');
  return image;
}

/// The code of the highest chip whose PTX runs on later chips, or null.
static const ChipCode *findPtx(llvm::ArrayRef<ChipCode> codes) {
  const ChipCode *highest = nullptr;
  for (const ChipCode &code : codes)
    if (code.chip.isPortable() &&
        (!highest || code.chip.number > highest->chip.number))
      highest = &code;
  return highest;
}

/// Finds the toolkit that native code needs.
static llvm::Expected<Toolkit> findAssembler(const GpuTargetOptions &options) {
  llvm::Expected<Toolkit> toolkit = Toolkit::find(options.toolkit);
  if (toolkit)
    return toolkit;
  return llvm::createStringError(
      "%s; PTX alone, which the driver compiles, needs no toolkit",
      llvm::toString(toolkit.takeError()).c_str());
}

llvm::Expected<std::vector<std::string>>
veeline::listGpuTools(const GpuTargetOptions &options) {
  llvm::Expected<Toolkit> toolkit = findAssembler(options);
  if (toolkit)
    return toolkit->listFiles();
  if (!options.chips.empty())
    return toolkit.takeError();
  llvm::consumeError(toolkit.takeError());
  return std::vector<std::string>();
}

llvm::Expected<std::string>
veeline::findToolkit(const GpuTargetOptions &options) {
  llvm::Expected<Toolkit> toolkit = Toolkit::find(options.toolkit);
  if (!toolkit)
    return toolkit.takeError();
  return toolkit->getVersion();
}

llvm::Error veeline::checkGpuTarget(const GpuTargetOptions &options) {
  if (options.chips.empty())
    return llvm::Error::success();
  std::vector<GpuChip> chips;
  for (const std::string &name : options.chips) {
    llvm::Expected<GpuChip> chip = findChip(name);
    if (!chip)
      return chip.takeError();
    chips.push_back(*chip);
  }
  llvm::Expected<Toolkit> toolkit = findAssembler(options);
  if (!toolkit)
    return toolkit.takeError();
  for (const GpuChip &chip : chips)
    if (llvm::Error error = toolkit->checkKnows(chip))
      return error;
  return llvm::Error::success();
}

llvm::Expected<GpuImage>
veeline::compileToImage(gpu::GPUModuleOp module,
                        const GpuTargetOptions &options) {
  if (options.chips.empty() && !options.ptx)
    return llvm::createStringError("an image needs a chip or PTX");
  if (options.chips.empty())
    return makePtxImage(module, options);
  std::vector<ChipCode> codes;
  for (const std::string &name : options.chips) {
    llvm::Expected<GpuChip> chip = findChip(name);
    if (!chip)
      return chip.takeError();
    codes.push_back({*chip, {}, {}, {}, {}, {}});
  }
  llvm::Expected<Toolkit> toolkit = findAssembler(options);
  if (!toolkit)
    return toolkit.takeError();
  for (ChipCode &code : codes) {
    if (llvm::Error error = toolkit->checkKnows(code.chip))
      return error;
    llvm::Expected<std::string> ptx =
        compileToPtx(module, code.chip.name, options);
    if (!ptx)
      return ptx.takeError();
    code.ptx = std::move(*ptx);
  }
  if (llvm::Error error = assembleAll(*toolkit, codes, getKernelNames(module)))
    return error;
  GpuImage image;
  image.toolkitVersion = toolkit->getVersion();
  std::vector<Toolkit::Part> parts;
  for (const ChipCode &code : codes) {
    parts.push_back({"elf", code.chip, code.cubin});
    llvm::append_range(image.uses, code.uses);
  }
  if (const ChipCode *ptx = options.ptx ? findPtx(codes) : nullptr) {
    parts.push_back({"ptx", ptx->chip, ptx->ptx});
    image.ptxChip = ptx->chip.name.str();
  }
  llvm::Expected<std::string> bytes = toolkit->merge(parts);
  if (!bytes)
    return bytes.takeError();
  image.bytes = std::move(*bytes);
  return image;
}
