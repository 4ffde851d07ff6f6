//===- Tiles.h - Matrices that the lanes of a kernel hold -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LANEMATMULTOTESSERA_TILES_H
#define LIB_CONVERSION_LANEMATMULTOTESSERA_TILES_H

#include "Copies.h"
#include "LaneElements.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/VendorOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tessera {

/// The address of a tile: the first element of its rows and columns.
struct TileAddress {
  Value memory;
  /// An index for each dimension of the memory. In a view, the only one is the
  /// position among its elements, and `pitch` the distance of two rows (of two
  /// columns if transposed).
  SmallVector<LaneForm> indices;
  bool isView = false;
  LaneForm pitch;
  bool transposed = false, inBounds = true;
};

/// A matrix that the lanes of a subgroup hold: the proof that it is a fragment.
struct Tile {
  enum Kind { Fill, Load, Matmul, Carried, Map } kind;
  Role role = Role::Acc;
  int64_t rows = 0, cols = 0;
  Type type = {};
  /// The op after which the fragment exists; null for the other kinds.
  Operation *position = nullptr;

  /// Fill: the value of each element, a constant or a uniform scalar.
  const LaneElement *scalar = nullptr;
  /// Load: the accesses that it replaces.
  TileAddress address = {};
  SmallVector<LaneAccess> accesses = {};
  /// Matmul: the op's result. Carried: the argument, or the result, of a loop.
  Value value = {};
  /// Map: the op on elements. A null operand is the scalar beside it.
  Operation *op = nullptr;
  SmallVector<Tile *> operands = {};
  SmallVector<const LaneElement *> scalars = {};

  /// The tile of which this one has the last columns.
  Tile *merged = nullptr;
  /// The fragment, once emitted.
  Value fragment = {};
};

/// A matrix instruction of the kernel.
struct TileMatmul {
  Operation *op;
  LaneMatmul form;
  const MatrixInstruction *row;
  Tile *a, *b, *acc, *result;
};

/// A value that a loop carries, as a tile.
struct CarriedTile {
  scf::ForOp loop;
  unsigned number;
  Tile *init, *argument, *yielded, *result;
};

/// Stores of a tile.
struct TileStore {
  Tile *tile;
  TileAddress address;
  SmallVector<LaneAccess> accesses;
  Operation *position;
  /// Whether the store of another tile includes this one.
  bool isMerged = false;
};

/// Compares the values of a kernel with the lane maps of its instructions.
class TileMatching {
public:
  TileMatching(gpu::LaunchOp launch, LaneForms &forms, LaneElements &elements,
               const WorkgroupCopies &copies, Obstacle &obstacle)
      : launch(launch), forms(forms), elements(elements), copies(copies),
        obstacle(obstacle) {}

  /// Finds all tiles. Fails if a lane has another element than its instruction
  /// expects, or if a value is used otherwise.
  LogicalResult run();

  /// Whether accesses can be moved to `last`, the last of them.
  LogicalResult checkOrder(ArrayRef<LaneAccess> accesses, Operation *last);

  std::deque<Tile> &getTiles() { return tiles; }

  std::vector<TileMatmul> matmuls;
  std::vector<CarriedTile> carried;
  std::vector<TileStore> stores;

private:
  using Elements = ArrayRef<const LaneElement *>;

  LogicalResult matchMatmul(Operation *op);
  LogicalResult matchLoops();
  LogicalResult matchStores();
  /// Lanes of the chip have other elements than those of the program. So what
  /// one stores may be loaded by another one, which a barrier must separate.
  LogicalResult checkExchanges();
  FailureOr<Tile *> match(Operation *user, Elements elements,
                          const LaneMap &map, Role role);
  FailureOr<Tile *> matchLoad(Operation *user, Elements elements,
                              const LaneMap &map, Role role);
  FailureOr<Tile *> matchMap(Operation *user, Elements elements,
                             const LaneMap &map, Role role);
  FailureOr<Tile *> matchPart(Operation *user, Elements elements,
                              const LaneMap &map, Role role);
  LogicalResult matchAddress(Operation *at, ArrayRef<LaneAccess> accesses,
                             ArrayRef<const SmallVector<LaneForm> *> indices,
                             const LaneMap &map, TileAddress &address);
  Tile *make(Tile tile) {
    tiles.push_back(std::move(tile));
    return &tiles.back();
  }
  /// The register of the matrix that an element is computed from; null if there
  /// is none.
  static const LaneElement *findPart(const LaneElement *element);
  bool mayConflict(const LaneAccess &a, const LaneAccess &b);

  gpu::LaunchOp launch;
  LaneForms &forms;
  LaneElements &elements;
  const WorkgroupCopies &copies;
  Obstacle &obstacle;
  std::deque<Tile> tiles;
  /// The tiles of results and of carried values, with their maps.
  llvm::MapVector<Value, std::pair<Tile *, const LaneMap *>> parts;
  std::map<std::pair<std::vector<const LaneElement *>, const LaneMap *>, Tile *>
      matched;
};

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LANEMATMULTOTESSERA_TILES_H
