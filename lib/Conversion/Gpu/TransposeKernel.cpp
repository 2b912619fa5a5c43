//===- TransposeKernel.cpp - kernels of transpositions --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelClass.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace veeline;

/// The side of a square tile. Rows have one more element, so that the elements
/// of a column are in different banks of shared memory.
static constexpr int64_t tileSize = 32;
static constexpr int64_t tilePitch = tileSize + 1;
/// The number of rows of a tile that the threads of a block process at once.
static constexpr int64_t tileRows = 8;

/// True for an input that is contiguous along `loop`, but not along the last
/// loop.
static bool isTransposed(const NestAccess &access, unsigned loop) {
  return access.isMemRef && !access.isWritten && access.isRead &&
         access.strides.back() > 1 && access.strides[loop] == 1;
}

/// The loop along which some input is contiguous, if this input is not
/// contiguous along the last loop, but all outputs are.
static std::optional<unsigned> findTileLoop(const LoopNest &nest) {
  if (nest.hasReduction() || nest.loops.size() < 2 ||
      nest.loops.back().size < tileSize)
    return std::nullopt;
  for (const NestAccess &access : nest.outputs())
    if (access.strides.back() != 1)
      return std::nullopt;
  for (unsigned loop = 0; loop + 1 < nest.loops.size(); ++loop)
    if (nest.loops[loop].size >= tileSize &&
        llvm::any_of(nest.accesses, [&](const NestAccess &access) {
          return isTransposed(access, loop);
        }))
      return loop;
  return std::nullopt;
}

bool veeline::isTransposition(LoopNest nest) {
  nest.arrange();
  return findTileLoop(nest).has_value();
}

bool veeline::fitsTranspose(const KernelBody &body) {
  return !body.rows && body.nests.size() == 1 &&
         isTransposition(body.nests.front());
}

namespace {

/// Emits the code for one tile of the block: it is loaded along one loop, and
/// processed along the other.
class TransposeEmitter {
public:
  explicit TransposeEmitter(ThreadCode &code)
      : code(code), nest(code.body.nests.front()) {}

  void run();

private:
  /// The position of the thread in a tile, and whether the element there
  /// exists.
  struct Place {
    ThreadCode::Point point;
    Value exists;
    /// The element in shared memory.
    Value shared;
  };
  Place getPlace(Value alongTile, Value alongLast, Value shared);
  void forRows(bool isFilled, llvm::function_ref<void(const Place &)> body);
  void fill();
  void work();

  ThreadCode &code;
  LoopNest nest;
  unsigned tileLoop = 0, last = 0;
  /// The iteration of the first element of the block's tile.
  SmallVector<Value> ids;
  Value column, row;
  DenseMap<unsigned, Value> tiles;
};

} // namespace

TransposeEmitter::Place
TransposeEmitter::getPlace(Value alongTile, Value alongLast, Value shared) {
  OpBuilder &builder = code.builder;
  Place place;
  place.shared = shared;
  place.point = {ids, static_cast<unsigned>(nest.loops.size()), code.index(0)};
  for (auto [loop, step] :
       {std::pair(tileLoop, alongTile), std::pair(last, alongLast)}) {
    Value id = code.add(ids[loop], step);
    int64_t size = nest.loops[loop].size;
    if (size % tileSize) {
      Value exists = code.isLess(id, size);
      place.exists = place.exists ? arith::AndIOp::create(builder, code.loc,
                                                          place.exists, exists)
                                  : exists;
    }
    place.point.ids[loop] = id;
  }
  return place;
}

/// Emits `body` for every element of a tile that the thread has. Adjacent
/// threads have adjacent elements along the tile's loop while the tile is
/// filled, and along the last loop afterwards.
void TransposeEmitter::forRows(bool isFilled,
                               llvm::function_ref<void(const Place &)> body) {
  for (int64_t k = 0; k < tileSize; k += tileRows) {
    Value across = code.add(row, k);
    Value alongTile = isFilled ? column : across;
    Value alongLast = isFilled ? across : column;
    Place place = getPlace(alongTile, alongLast,
                           code.add(code.mul(alongLast, tilePitch), alongTile));
    code.when(place.exists, [&] { body(place); });
  }
}

void TransposeEmitter::fill() {
  forRows(/*isFilled=*/true, [&](const Place &place) {
    for (auto [i, tile] : tiles) {
      Value value = code.load(nest, nest.accesses[i], place.point, 1);
      memref::StoreOp::create(code.builder, code.loc, value, tile,
                              place.shared);
    }
  });
}

void TransposeEmitter::work() {
  forRows(/*isFilled=*/false, [&](const Place &place) {
    SmallVector<Value> results =
        code.emitBody(nest, place.point, 1, [&](unsigned i) -> Value {
          auto tile = tiles.find(i);
          if (tile == tiles.end())
            return {};
          return memref::LoadOp::create(code.builder, code.loc, tile->second,
                                        place.shared);
        });
    for (auto [access, value] : llvm::zip(nest.outputs(), results))
      code.store(value, nest, access, place.point, 1);
  });
}

void TransposeEmitter::run() {
  nest.arrange();
  tileLoop = findTileLoop(nest).value();
  last = nest.loops.size() - 1;
  SmallVector<int64_t> blocks;
  for (auto [i, loop] : llvm::enumerate(nest.loops)) {
    bool isTiled = i == tileLoop || i == last;
    blocks.push_back(isTiled ? llvm::divideCeil(loop.size, tileSize)
                             : loop.size);
  }
  code.setSizes(llvm::product_of(blocks), tileSize * tileRows);
  code.inlineOps({});
  code.builder.setInsertionPoint(nest.op);
  ids = code.delinearize(code.block(), blocks);
  ids[tileLoop] = code.mul(ids[tileLoop], tileSize);
  ids[last] = code.mul(ids[last], tileSize);
  Value thread = code.thread();
  column = code.rem(thread, tileSize);
  row = code.div(thread, tileSize);
  for (auto [i, access] : llvm::enumerate(nest.accesses))
    if (isTransposed(access, tileLoop))
      tiles[i] = code.addShared(access.elementType, tileSize * tilePitch);
  fill();
  gpu::BarrierOp::create(code.builder, code.loc);
  work();
}

void veeline::emitTranspose(ThreadCode &code) { TransposeEmitter(code).run(); }
