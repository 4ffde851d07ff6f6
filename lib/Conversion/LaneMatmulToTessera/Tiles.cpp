//===- Tiles.cpp - Matrices that the lanes of a kernel hold ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The registers of an operand are compared with the lane map of the
// instruction's row, register by register and lane by lane. A tile is loaded
// where the lanes have a row and a column of memory that step as the map does;
// it is computed where each register is computed alike from the same register
// of other tiles.
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"

#include "BarrierScan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

using namespace mlir;
using namespace mlir::tessera;

static StringRef getRoleName(Role role) {
  return role == Role::A   ? "operand a"
         : role == Role::B ? "operand b"
                           : "the accumulator";
}

//===----------------------------------------------------------------------===//
// The order of accesses
//===----------------------------------------------------------------------===//

bool TileMatching::mayConflict(const LaneAccess &a, const LaneAccess &b) {
  if (a.memory != b.memory) {
    auto isAttribution = [&](Value memory) {
      return llvm::is_contained(launch.getWorkgroupAttributions(), memory);
    };
    return isWorkgroupMemory(cast<MemRefType>(a.memory.getType())) ==
               isWorkgroupMemory(cast<MemRefType>(b.memory.getType())) &&
           !(isAttribution(a.memory) && isAttribution(b.memory));
  }
  // Addresses can be compared if they have the same unknowns.
  auto numLanes = static_cast<size_t>(forms.getNumLanes());
  const SmallVector<LaneForm> &base = a.elements.front();
  std::set<std::vector<int64_t>> accessed;
  auto collect = [&](const LaneAccess &access, bool isFirst) {
    for (const SmallVector<LaneForm> &indices : access.elements) {
      SmallVector<LaneForm::Factors> offsets;
      for (auto [index, own] : llvm::zip_equal(indices, base)) {
        LaneForms::Form difference =
            forms.add(index, own.broadcast(/*lane=*/0), /*sign=*/-1);
        std::optional<LaneForm::Factors> constants =
            difference ? difference->getConstants(numLanes) : std::nullopt;
        if (!constants)
          return true;
        offsets.push_back(std::move(*constants));
      }
      for (size_t lane = 0; lane < numLanes; ++lane) {
        std::vector<int64_t> position;
        for (const LaneForm::Factors &offset : offsets)
          position.push_back(offset[lane]);
        if (isFirst)
          accessed.insert(std::move(position));
        else if (accessed.count(position))
          return true;
      }
    }
    return false;
  };
  return collect(a, /*isFirst=*/true) || collect(b, /*isFirst=*/false);
}

LogicalResult TileMatching::checkOrder(ArrayRef<LaneAccess> accesses,
                                       Operation *last) {
  llvm::SmallPtrSet<Operation *, 16> own;
  for (const LaneAccess &access : accesses)
    own.insert(access.op);
  for (const LaneAccess &access : accesses) {
    if (access.op->getBlock() != last->getBlock())
      return obstacle.set(access.op, "accesses a part of a matrix in another "
                                     "block than the other parts");
    if (access.op == last)
      continue;
    for (Operation *op = access.op->getNextNode(); op != last;
         op = op->getNextNode()) {
      if (own.contains(op) || isMemoryEffectFree(op))
        continue;
      if (op->getNumRegions() != 0 || copies.isCopy(op) ||
          !isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
               VectorTransferOpInterface, nvgpu::LdMatrixOp>(op))
        return obstacle.set(op, "is between the accesses of a matrix");
      if (!getStoredValue(access.op) && !getStoredValue(op))
        continue;
      FailureOr<LaneAccess> other = elements.getAccess(op);
      if (failed(other))
        return failure();
      if (mayConflict(access, *other))
        return obstacle.set(op, "is between the accesses of a matrix, and may "
                                "access the same elements");
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The row (0) or column (1) of a register in each lane.
static LaneForm getTilePosition(const LaneMap &map, int64_t reg, bool column) {
  LaneForm::Factors positions;
  for (int64_t lane = 0; lane < map.getNumLanes(); ++lane) {
    auto [row, col] = map.at(lane, reg);
    positions.push_back(column ? col : row);
  }
  return LaneForm(positions);
}

LogicalResult
TileMatching::matchAddress(Operation *at, ArrayRef<LaneAccess> accesses,
                           ArrayRef<const SmallVector<LaneForm> *> indices,
                           const LaneMap &map, TileAddress &address) {
  address.memory = accesses.front().memory;
  for (const LaneAccess &access : accesses) {
    if (access.memory != address.memory)
      return obstacle.set(access.op, "accesses another memory than the other "
                                     "parts of the matrix");
    address.inBounds &= access.inBounds;
  }
  if (!forms.isUniform(address.memory))
    return obstacle.set(at, "accesses a memory that depends on the lane");
  auto type = cast<MemRefType>(address.memory.getType());
  auto numRegisters = static_cast<int64_t>(indices.size());

  // The two last dimensions, in either order.
  if (type.getRank() >= 2 && type.isLastDimUnitStride()) {
    for (bool transposed : {false, true}) {
      bool matches = true;
      for (int64_t reg = 0; reg < numRegisters && matches; ++reg)
        for (int64_t d = 0; d < type.getRank() && matches; ++d) {
          auto dim = static_cast<size_t>(d);
          LaneForms::Form expected =
              (*indices.front())[dim].broadcast(/*lane=*/0);
          if (d + 2 >= type.getRank())
            expected = forms.add(
                *expected,
                getTilePosition(map, reg,
                                (d + 1 == type.getRank()) != transposed));
          matches = expected && *expected == (*indices[reg])[dim];
        }
      if (!matches)
        continue;
      for (const LaneForm &index : *indices.front())
        address.indices.push_back(index.broadcast(/*lane=*/0));
      address.transposed = transposed;
      return success();
    }
  }

  // Rows or columns at any distance.
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic) || !address.inBounds)
    return obstacle.set(at, "does not access rows and columns as the lane map "
                            "of the instruction has them");
  SmallVector<LaneForm> linear;
  for (const SmallVector<LaneForm> *own : indices) {
    LaneForms::Form sum = LaneForm();
    for (auto [index, stride] : llvm::zip_equal(*own, strides))
      if (sum) {
        LaneForms::Form part =
            forms.multiply(index, forms.makeConstant(stride));
        sum = part ? forms.add(*sum, *part) : std::nullopt;
      }
    if (!sum)
      return obstacle.set(at, "has indices of an unknown form");
    linear.push_back(*sum);
  }
  LaneForm base = linear.front().broadcast(/*lane=*/0);
  auto getStep = [&](int64_t row, int64_t col) -> LaneForms::Form {
    std::optional<std::pair<int64_t, int64_t>> found = map.find(row, col);
    if (!found)
      return std::nullopt;
    return forms.add(linear[static_cast<size_t>(found->second)].broadcast(
                         static_cast<size_t>(found->first)),
                     base, /*sign=*/-1);
  };
  LaneForms::Form steps[] = {getStep(1, 0), getStep(0, 1)};
  if (steps[0] && steps[1])
    for (bool transposed : {false, true}) {
      const LaneForm &pitch = *steps[transposed ? 1 : 0];
      if (steps[transposed ? 0 : 1]->getConstant() != int64_t(1))
        continue;
      bool matches = true;
      for (int64_t reg = 0; reg < numRegisters && matches; ++reg) {
        LaneForms::Form lines = forms.multiply(
            getTilePosition(map, reg, /*column=*/transposed), pitch);
        LaneForms::Form expected =
            lines ? forms.add(*lines, getTilePosition(map, reg, !transposed))
                  : std::nullopt;
        expected = expected ? forms.add(*expected, base) : std::nullopt;
        matches = expected && *expected == linear[static_cast<size_t>(reg)];
      }
      if (!matches)
        continue;
      address.indices = {base};
      address.isView = true;
      address.pitch = pitch;
      address.transposed = transposed;
      return success();
    }
  return obstacle.set(at, "does not access rows and columns as the lane map of "
                          "the instruction has them");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The constant or uniform scalar that all elements are, or null.
static const LaneElement *findScalar(ArrayRef<const LaneElement *> elements) {
  const LaneElement *first = elements.front();
  for (const LaneElement *element : elements)
    if (element->kind != first->kind ||
        (element->kind != LaneElement::Constant &&
         element->kind != LaneElement::Uniform) ||
        element->constant != first->constant || element->value != first->value)
      return nullptr;
  return first;
}

/// The op of these elements that is the last one in their block, or null if
/// they are in different blocks.
static Operation *findLast(ArrayRef<const LaneElement *> elements) {
  Operation *last = elements.front()->op;
  for (const LaneElement *element : elements) {
    if (element->op->getBlock() != last->getBlock())
      return nullptr;
    if (last->isBeforeInBlock(element->op))
      last = element->op;
  }
  return last;
}

FailureOr<Tile *> TileMatching::match(Operation *user, Elements elements,
                                      const LaneMap &map, Role role) {
  if (static_cast<int64_t>(elements.size()) != map.getNumRegisters())
    return obstacle.set(user, "has another number of elements in each lane");
  Tile tile{Tile::Fill};
  tile.role = role;
  tile.rows = map.getRows();
  tile.cols = map.getCols();
  tile.type = elements.front()->type;
  if (!FragmentType::isValidElementType(tile.type))
    return obstacle.set(user, "has elements of a type that fragments do not "
                              "have");
  if (const LaneElement *scalar = findScalar(elements)) {
    // Each use has its own, since they may become parts of different matrices.
    tile.scalar = scalar;
    return make(tile);
  }
  // The maps of rows are distinct objects, also if they are equal.
  std::pair<std::vector<const LaneElement *>, const LaneMap *> key{
      std::vector<const LaneElement *>(elements.begin(), elements.end()), &map};
  if (auto found = matched.find(key); found != matched.end())
    return found->second;
  LaneElement::Kind kind = elements.front()->kind;
  for (const LaneElement *element : elements)
    if (element->kind != kind)
      return obstacle.set(user, "has " + getRoleName(role) +
                                    " of elements of different origin");
  FailureOr<Tile *> result = failure();
  if (kind == LaneElement::Loaded)
    result = matchLoad(user, elements, map, role);
  else if (kind == LaneElement::Computed)
    result = matchMap(user, elements, map, role);
  else if (kind == LaneElement::Part)
    result = matchPart(user, elements, map, role);
  else
    return obstacle.set(user, "has different constants or scalars in the "
                              "registers of " +
                                  getRoleName(role));
  if (succeeded(result))
    matched[key] = *result;
  return result;
}

FailureOr<Tile *> TileMatching::matchLoad(Operation *user, Elements registers,
                                          const LaneMap &map, Role role) {
  Tile tile{Tile::Load};
  tile.role = role;
  tile.rows = map.getRows();
  tile.cols = map.getCols();
  tile.type = registers.front()->type;
  tile.position = findLast(registers);
  if (!tile.position)
    return obstacle.set(registers.front()->op,
                        "loads a part of a matrix in another block than the "
                        "other parts");
  llvm::SmallPtrSet<Operation *, 16> ops;
  SmallVector<const SmallVector<LaneForm> *> indices;
  for (const LaneElement *element : registers) {
    indices.push_back(&element->indices);
    if (!ops.insert(element->op).second)
      continue;
    FailureOr<LaneAccess> access = elements.getAccess(element->op);
    if (failed(access))
      return failure();
    tile.accesses.push_back(std::move(*access));
  }
  if (failed(matchAddress(tile.position, tile.accesses, indices, map,
                          tile.address)) ||
      failed(checkOrder(tile.accesses, tile.position)))
    return failure();
  return make(std::move(tile));
}

FailureOr<Tile *> TileMatching::matchMap(Operation *user, Elements registers,
                                         const LaneMap &map, Role role) {
  const LaneElement *first = registers.front();
  Tile tile{Tile::Map};
  tile.role = role;
  tile.rows = map.getRows();
  tile.cols = map.getCols();
  tile.type = first->type;
  tile.op = first->op;
  tile.position = findLast(registers);
  for (const LaneElement *element : registers)
    if (!isSameOp(*first, *element) || !tile.position)
      return obstacle.set(element->op, "computes an element of a matrix "
                                       "otherwise than the other ones are");
  for (size_t i = 0; i < first->operands.size(); ++i) {
    SmallVector<const LaneElement *> operand;
    for (const LaneElement *element : registers)
      operand.push_back(element->operands[i]);
    tile.scalars.push_back(findScalar(operand));
    tile.operands.push_back(nullptr);
    if (tile.scalars.back())
      continue;
    FailureOr<Tile *> matchedOperand = match(first->op, operand, map, role);
    if (failed(matchedOperand))
      return failure();
    tile.operands.back() = *matchedOperand;
  }
  if (llvm::all_of(tile.operands, [](Tile *operand) { return !operand; }))
    return obstacle.set(first->op, "computes a matrix of scalars alone");
  return make(std::move(tile));
}

FailureOr<Tile *> TileMatching::matchPart(Operation *user, Elements elements,
                                          const LaneMap &map, Role role) {
  Value value = elements.front()->value;
  for (auto [number, element] : llvm::enumerate(elements))
    if (element->value != value ||
        element->number != static_cast<int64_t>(number))
      return obstacle.set(user, "has the registers of " + getRoleName(role) +
                                    " in another order than they were "
                                    "computed in");
  auto found = parts.find(value);
  if (found == parts.end()) {
    // A value that a loop carries, of which the first use determines the map.
    scf::ForOp loop;
    unsigned number;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
      number = argument.getArgNumber() - 1;
    } else {
      loop = cast<scf::ForOp>(value.getDefiningOp());
      number = cast<OpResult>(value).getResultNumber();
    }
    CarriedTile tile{loop, number, nullptr, nullptr, nullptr, nullptr};
    auto add = [&](Value own) {
      Tile part{Tile::Carried};
      part.role = role;
      part.rows = map.getRows();
      part.cols = map.getCols();
      part.type = getElementTypeOrSelf(own.getType());
      part.value = own;
      Tile *made = make(part);
      parts[own] = {made, &map};
      return made;
    };
    tile.argument = add(loop.getRegionIterArg(number));
    tile.result = add(loop.getResult(number));
    carried.push_back(tile);
    found = parts.find(value);
  }
  auto [tile, ownMap] = found->second;
  if (tile->role != role || *ownMap != map)
    return obstacle.set(user, "has " + getRoleName(role) +
                                  " in another layout than it was computed in");
  return tile;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult TileMatching::matchMatmul(Operation *op) {
  std::optional<LaneMatmul> form = getLaneMatmul(op);
  if (!form->unsupported.empty())
    return obstacle.set(op, "has " + form->unsupported);
  const MatrixInstruction *row = findOwnInstruction(op);
  if (!row || row->accMap.getNumLanes() != forms.getNumLanes())
    return obstacle.set(op, "has no lane map: no chip in the tables has an "
                            "instruction of this shape and these types");
  Tile result{Tile::Matmul};
  result.rows = row->m;
  result.cols = row->n;
  result.type = getElementTypeOrSelf(op->getResult(0).getType());
  result.value = op->getResult(0);
  result.position = op;
  Tile *made = make(result);
  parts[op->getResult(0)] = {made, &row->accMap};
  matmuls.push_back({op, *form, row, nullptr, nullptr, nullptr, made});
  return success();
}

LogicalResult TileMatching::matchLoops() {
  // Loops around may be found meanwhile.
  for (size_t i = 0; i < carried.size(); ++i) {
    if (carried[i].init)
      continue;
    scf::ForOp loop = carried[i].loop;
    unsigned number = carried[i].number;
    auto [argument, map] = parts[loop.getRegionIterArg(number)];
    Role role = argument->role;
    for (bool isInit : {true, false}) {
      Value value =
          isInit ? loop.getInitArgs()[number] : loop.getYieldedValues()[number];
      FailureOr<Elements> own = elements.get(value);
      if (failed(own))
        return failure();
      FailureOr<Tile *> tile = match(loop, *own, *map, role);
      if (failed(tile))
        return failure();
      (isInit ? carried[i].init : carried[i].yielded) = *tile;
    }
  }
  return success();
}

const LaneElement *TileMatching::findPart(const LaneElement *element) {
  if (element->kind == LaneElement::Part)
    return element;
  for (const LaneElement *operand : element->operands)
    if (const LaneElement *part = findPart(operand))
      return part;
  return nullptr;
}

LogicalResult TileMatching::matchStores() {
  struct Group {
    SmallVector<LaneAccess> accesses;
    SmallVector<const LaneElement *> registers;
    SmallVector<SmallVector<LaneForm>> indices;
    size_t numFound = 0;
  };
  llvm::MapVector<std::pair<std::pair<Value, Value>, Block *>, Group> groups;
  SmallVector<Operation *> ops;
  launch.getBody().walk([&](Operation *op) {
    if (getStoredValue(op) && !copies.isCopy(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    FailureOr<LaneAccess> access = elements.getAccess(op);
    if (failed(access))
      return failure();
    FailureOr<Elements> stored = elements.get(getStoredValue(op));
    if (failed(stored))
      return failure();
    for (auto [element, indices] : llvm::zip_equal(*stored, access->elements)) {
      const LaneElement *part = findPart(element);
      auto found = part ? parts.find(part->value) : parts.end();
      if (found == parts.end())
        return obstacle.set(op, "stores a value that is not of a matrix");
      const LaneMap &map = *found->second.second;
      Group &group = groups[{{part->value, access->memory}, op->getBlock()}];
      auto numRegisters = static_cast<size_t>(map.getNumRegisters()),
           number = static_cast<size_t>(part->number);
      group.registers.resize(numRegisters);
      group.indices.resize(numRegisters);
      if (group.registers[number])
        return obstacle.set(op, "stores an element of a matrix twice before "
                                "the others are stored");
      group.registers[number] = element;
      group.indices[number] = indices;
      if (group.accesses.empty() || group.accesses.back().op != op)
        group.accesses.push_back(*access);
      if (++group.numFound < numRegisters)
        continue;
      // The whole tile.
      FailureOr<Tile *> tile =
          match(op, group.registers, map, found->second.first->role);
      if (failed(tile))
        return failure();
      SmallVector<const SmallVector<LaneForm> *> positions;
      for (const SmallVector<LaneForm> &position : group.indices)
        positions.push_back(&position);
      TileStore store{*tile, {}, group.accesses, op};
      if (failed(matchAddress(op, store.accesses, positions, map,
                              store.address)) ||
          failed(checkOrder(store.accesses, op)))
        return failure();
      stores.push_back(std::move(store));
      group = Group();
    }
  }
  for (auto &[key, group] : groups)
    if (group.numFound != 0)
      return obstacle.set(group.accesses.front().op,
                          "stores a part of a matrix without the rest");
  return success();
}

LogicalResult TileMatching::checkExchanges() {
  bool hasOneLayout = llvm::all_of(matmuls, [&](const TileMatmul &matmul) {
    return matmul.row == matmuls.front().row;
  });
  for (const TileStore &store : stores) {
    for (Value source : copies.getSources())
      if (mayShareMemory(source, store.address.memory, launch))
        return obstacle.set(store.position, "stores to a memory from which "
                                            "tiles are copied");
    for (const Tile &tile : tiles) {
      if (tile.kind != Tile::Load ||
          !mayShareMemory(tile.address.memory, store.address.memory, launch))
        continue;
      // The same elements, or others, of accumulators of one shape, which have
      // one layout: a lane loads what it stores.
      bool isSame =
          hasOneLayout && tile.role == Role::Acc &&
          store.tile->role == Role::Acc && tile.rows == store.tile->rows &&
          tile.cols == store.tile->cols && tile.type == store.tile->type &&
          tile.address.memory == store.address.memory;
      bool isEqual = tile.address.indices == store.address.indices &&
                     tile.address.transposed == store.address.transposed &&
                     tile.address.pitch == store.address.pitch;
      auto conflicts = [&] {
        for (const LaneAccess &loaded : tile.accesses)
          for (const LaneAccess &stored : store.accesses)
            if (mayConflict(loaded, stored))
              return true;
        return false;
      };
      if (isSame && (isEqual || !conflicts()))
        continue;
      llvm::SmallPtrSet<Operation *, 16> loads;
      for (const LaneAccess &access : tile.accesses)
        loads.insert(access.op);
      for (const LaneAccess &access : store.accesses)
        if (!isSeparatedByBarriers(access.op, launch, [&](Operation *op) {
              return loads.contains(op);
            }))
          return obstacle.set(access.op,
                              "stores to a memory from which another matrix is "
                              "loaded, without a gpu.barrier in between");
    }
  }
  return success();
}

LogicalResult TileMatching::run() {
  SmallVector<Operation *> ops;
  launch.getBody().walk([&](Operation *op) {
    if (getLaneMatmul(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(matchMatmul(op)))
      return failure();
  for (TileMatmul &matmul : matmuls) {
    const LaneMap *maps[] = {&matmul.row->aMap, &matmul.row->bMap,
                             &matmul.row->accMap};
    Role roles[] = {Role::A, Role::B, Role::Acc};
    Tile **targets[] = {&matmul.a, &matmul.b, &matmul.acc};
    for (unsigned i = 0; i < 3; ++i) {
      FailureOr<Elements> own = elements.get(matmul.op->getOperand(i));
      if (failed(own))
        return failure();
      FailureOr<Tile *> tile = match(matmul.op, *own, *maps[i], roles[i]);
      if (failed(tile))
        return failure();
      *targets[i] = *tile;
    }
  }
  if (failed(matchLoops()) || failed(matchStores()) || failed(matchLoops()))
    return failure();
  return checkExchanges();
}
