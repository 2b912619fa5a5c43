//===- DeviceModule.cpp - the kernels of an artifact ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/DeviceModule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Conversion/KernelTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::compiler;

DeviceModule::DeviceModule(MLIRContext &context) {
  context.loadDialect<gpu::GPUDialect>();
  OpBuilder builder(&context);
  module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  kernels =
      gpu::GPUModuleOp::create(builder, builder.getUnknownLoc(), "kernels");
  module.get()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                        builder.getUnitAttr());
  table = builder.getArrayAttr({});
}

void DeviceModule::share(ModuleOp other) {
  other->setAttr(kernelsAttrName, table);
}

void DeviceModule::take(ModuleOp other) {
  table = other->getAttrOfType<ArrayAttr>(kernelsAttrName);
  SymbolTable symbols(kernels);
  for (auto source :
       llvm::make_early_inc_range(other.getOps<gpu::GPUModuleOp>())) {
    for (auto kernel :
         llvm::make_early_inc_range(source.getOps<gpu::GPUFuncOp>())) {
      if (symbols.lookup(kernel.getNameAttr()))
        continue;
      kernel->remove();
      symbols.insert(kernel);
    }
    source.erase();
  }
  other->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
}

/// True if `step` calls `name`, itself or through others.
static bool reaches(ModuleOp module, StringRef step, StringRef name) {
  SymbolTable symbols(module);
  llvm::SetVector<func::FuncOp> functions;
  if (auto function = symbols.lookup<func::FuncOp>(step))
    functions.insert(function);
  for (size_t i = 0; i < functions.size(); ++i) {
    func::FuncOp function = functions[i];
    if (function.getSymName() == name)
      return true;
    function.walk([&](func::CallOp call) {
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        functions.insert(callee);
    });
  }
  return false;
}

/// The number of the kernel with this name, or -1.
static int32_t findKernel(ArrayAttr table, StringRef name) {
  for (auto [i, attribute] : llvm::enumerate(table)) {
    FailureOr<KernelEntry> entry = KernelEntry::fromAttribute(attribute);
    if (succeeded(entry) && entry->name == name)
      return static_cast<int32_t>(i);
  }
  return -1;
}

void DeviceModule::describe(ModuleOp other, artifact::Program &program) {
  Builder builder(other.getContext());
  for (auto [i, rank] : llvm::enumerate(program.ranks)) {
    rank.readsBack = reaches(other, rank.stepSymbol, "veeline_load");
    int64_t members =
        int64_t(program.replicas) * program.widthOf(program.placeOf(i).stage);
    for (artifact::Reduction &reduction : rank.reductions)
      for (artifact::ReducedPiece &piece : reduction.pieces) {
        Type type = piece.type == artifact::DataType::f64
                        ? Type(builder.getF64Type())
                        : Type(builder.getF32Type());
        if (!piece.gathers)
          piece.sumKernel = findKernel(table, getSumKernelName(type, members));
      }
  }
}

/// Emits a remark on kernels that spill registers.
static void remarkSpills(gpu::GPUModuleOp kernels, const GpuImage &image) {
  std::string list;
  for (const GpuKernelUse &use : image.uses)
    if (use.spillBytes)
      list += (list.empty() ? "" : ", ") + use.kernel + " on " + use.chip +
              " (" + std::to_string(use.spillBytes) + ")";
  if (!list.empty())
    kernels.emitRemark("kernels that keep bytes of each thread in memory, for "
                       "lack of registers: ")
        << list;
}

llvm::Expected<std::string>
DeviceModule::getKey(const CodeCache &cache, const GpuTargetOptions &options) {
  auto tools = listGpuTools(options);
  if (!tools)
    return tools.takeError();
  std::string text, toolkit;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().assumeVerified());
  for (const std::string &path : *tools)
    toolkit += CodeCache::identify(path) + '\n';
  return cache.getKey(
      {"gpu image", llvm::join(options.chips, ","), options.ptx ? "ptx" : "",
       std::to_string(options.optimizationLevel), toolkit, text});
}

/// Writes what `readImage` reads: a line of JSON that describes the image, then
/// its bytes.
static std::string writeImage(const GpuImage &image) {
  llvm::json::Array uses;
  for (const GpuKernelUse &use : image.uses)
    uses.push_back(llvm::json::Array{use.kernel, use.chip, use.registers,
                                     use.spillBytes, use.stackBytes,
                                     use.sharedBytes});
  llvm::json::Value head = llvm::json::Object{{"ptx", image.ptxChip},
                                              {"toolkit", image.toolkitVersion},
                                              {"uses", std::move(uses)}};
  return llvm::formatv("{0}\n{1}", head, image.bytes);
}

static std::optional<GpuImage> readImage(llvm::StringRef text) {
  auto [line, bytes] = text.split('\n');
  llvm::Expected<llvm::json::Value> head = llvm::json::parse(line);
  if (!head) {
    llvm::consumeError(head.takeError());
    return std::nullopt;
  }
  GpuImage image;
  const llvm::json::Object &entries = *head->getAsObject();
  image.bytes = bytes;
  image.ptxChip = entries.getString("ptx")->str();
  image.toolkitVersion = entries.getString("toolkit")->str();
  for (const llvm::json::Value &value : *entries.getArray("uses")) {
    const llvm::json::Array &use = *value.getAsArray();
    image.uses.push_back({use[0].getAsString()->str(),
                          use[1].getAsString()->str(), *use[2].getAsInteger(),
                          *use[3].getAsInteger(), *use[4].getAsInteger(),
                          *use[5].getAsInteger()});
  }
  return image;
}

llvm::Expected<bool> DeviceModule::find(const CodeCache &cache, StringRef key,
                                        const GpuTargetOptions &options,
                                        artifact::Artifact &artifact) {
  std::optional<std::string> bytes = cache.find(key);
  std::optional<GpuImage> image = bytes ? readImage(*bytes) : std::nullopt;
  if (!image)
    return false;
  if (llvm::Error problem = describe(std::move(*image), options, artifact))
    return std::move(problem);
  return true;
}

llvm::Error DeviceModule::compile(const GpuTargetOptions &options,
                                  const CodeCache *cache, StringRef key,
                                  artifact::Artifact &artifact) {
  llvm::Expected<GpuImage> image = compileToImage(kernels, options);
  if (!image)
    return image.takeError();
  if (cache)
    cache->add(key, writeImage(*image));
  return describe(std::move(*image), options, artifact);
}

llvm::Error DeviceModule::describe(GpuImage image,
                                   const GpuTargetOptions &options,
                                   artifact::Artifact &artifact) {
  remarkSpills(kernels, image);
  artifact.image = std::move(image.bytes);
  artifact.metadata.target = "cuda";
  artifact::DeviceCode &code = artifact.metadata.device.emplace();
  code.chips = options.chips;
  code.ptx = image.ptxChip;
  code.toolkit = image.toolkitVersion;
  for (Attribute attribute : table) {
    FailureOr<KernelEntry> entry = KernelEntry::fromAttribute(attribute);
    if (failed(entry))
      return llvm::createStringError("the table of kernels is damaged");
    code.kernels.push_back({entry->name, entry->grid, entry->block,
                            static_cast<int32_t>(entry->sharedBytes),
                            static_cast<int32_t>(entry->numArguments)});
  }
  return llvm::Error::success();
}
