//===- PairColumns.cpp - Tiles of adjacent columns as one -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two tiles become one only if everything else that is computed from them, or
// that they are computed from, does so too. The pairs that follow from a pair
// of matmuls are collected; any that does not match drops all of them.
//
//===----------------------------------------------------------------------===//

#include "PairColumns.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

Precision mlir::tessera::getPrecision(const TileMatmul &matmul) {
  return matmul.form.tf32 ? Precision::Tf32 : Precision::Ieee;
}

const MatrixInstruction *
mlir::tessera::findFragmentInstruction(const Chip &chip,
                                       const TileMatmul &matmul, int64_t cols) {
  return selectInstruction(
      chip, matmul.a->type, matmul.b->type, matmul.result->type,
      getPrecision(matmul), matmul.result->rows, cols, matmul.a->cols,
      /*why=*/nullptr, /*subgroups=*/1, /*aInMemory=*/false,
      matmul.form.unsignedA || matmul.form.unsignedB);
}

namespace {

/// Joins the tiles that follow from one pair.
class Pairing {
public:
  Pairing(TileMatching &matching, LaneForms &forms)
      : matching(matching), forms(forms) {}

  /// Pairs the matmuls, or nothing.
  bool run(TileMatmul &left, TileMatmul &right) {
    if (!pairMatmuls(left, right))
      return false;
    commit();
    return true;
  }

  bool areAdjacent(const Tile &left, const Tile &right) const {
    return left.kind == Tile::Load && right.kind == Tile::Load &&
           areAdjacent(left.address, right.address, left.cols);
  }

private:
  bool areAdjacent(const TileAddress &left, const TileAddress &right,
                   int64_t cols) const {
    if (left.memory != right.memory || left.isView != right.isView ||
        left.transposed != right.transposed || !(left.pitch == right.pitch) ||
        left.inBounds != right.inBounds)
      return false;
    size_t column = left.indices.size() - 1;
    LaneForms::Form step = forms.makeConstant(cols);
    if (left.transposed && left.isView)
      step = forms.multiply(*step, left.pitch);
    else if (left.transposed)
      --column;
    for (size_t d = 0; d < left.indices.size(); ++d) {
      LaneForms::Form difference =
          forms.add(right.indices[d], left.indices[d], /*sign=*/-1);
      if (!difference || !step ||
          !(*difference == (d == column ? *step : LaneForm())))
        return false;
    }
    return true;
  }

  static Operation *getLater(Operation *a, Operation *b) {
    return a->isBeforeInBlock(b) ? b : a;
  }

  /// Whether the accesses of both can take place together, where the later ones
  /// are.
  bool canJoin(ArrayRef<LaneAccess> a, Operation *atA, ArrayRef<LaneAccess> b,
               Operation *atB) const {
    if (atA->getBlock() != atB->getBlock())
      return false;
    SmallVector<LaneAccess> both(a);
    llvm::append_range(both, b);
    return succeeded(matching.checkOrder(both, getLater(atA, atB)));
  }

  /// Whether two tiles have the same elements.
  bool areEqual(Tile *a, Tile *b) const {
    if (a == b)
      return true;
    return a->kind == Tile::Load && b->kind == Tile::Load &&
           a->address.memory == b->address.memory &&
           a->address.indices == b->address.indices &&
           a->address.isView == b->address.isView &&
           a->address.pitch == b->address.pitch &&
           a->address.transposed == b->address.transposed &&
           a->address.inBounds == b->address.inBounds &&
           canJoin(a->accesses, a->position, b->accesses, b->position);
  }

  bool pairMatmuls(TileMatmul &left, TileMatmul &right) {
    return left.row == right.row && left.form.tf32 == right.form.tf32 &&
           left.form.unsignedA == right.form.unsignedA &&
           left.form.unsignedB == right.form.unsignedB &&
           left.op->getBlock() == right.op->getBlock() &&
           areEqual(left.a, right.a) && pair(left.b, right.b) &&
           pair(left.result, right.result) && pair(left.acc, right.acc);
  }

  bool pair(Tile *left, Tile *right) {
    if (left == right || left->merged || right->merged ||
        left->kind != right->kind || left->cols != right->cols ||
        left->type != right->type || left->role != right->role ||
        left->role == Role::A)
      return false;
    auto [found, isNew] = pairs.try_emplace(left, right);
    if (!isNew)
      return found->second == right;
    // No tile has two roles.
    if (!partners.insert(left).second || !partners.insert(right).second)
      return false;
    return pairSources(left, right) && pairUses(left, right);
  }

  bool pairSources(Tile *left, Tile *right) {
    switch (left->kind) {
    case Tile::Fill:
      return left->scalar->kind == right->scalar->kind &&
             left->scalar->constant == right->scalar->constant &&
             left->scalar->value == right->scalar->value;
    case Tile::Load:
      return areAdjacent(*left, *right) &&
             canJoin(left->accesses, left->position, right->accesses,
                     right->position);
    case Tile::Matmul: {
      auto find = [&](Tile *tile) {
        return llvm::find_if(matching.matmuls, [&](const TileMatmul &matmul) {
          return matmul.result == tile;
        });
      };
      return pairMatmuls(*find(left), *find(right));
    }
    case Tile::Carried: {
      auto find = [&](Tile *tile) {
        return llvm::find_if(matching.carried, [&](const CarriedTile &carried) {
          return carried.argument == tile || carried.result == tile;
        });
      };
      CarriedTile &own = *find(left), &other = *find(right);
      return own.loop == other.loop &&
             (own.argument == left) == (other.argument == right) &&
             pair(own.argument, other.argument) &&
             pair(own.result, other.result) && pair(own.init, other.init) &&
             pair(own.yielded, other.yielded);
    }
    case Tile::Map:
      break;
    }
    if (left->position->getBlock() != right->position->getBlock() ||
        left->op->getName() != right->op->getName() ||
        left->op->getAttrDictionary() != right->op->getAttrDictionary())
      return false;
    for (auto [own, other, scalar, otherScalar] : llvm::zip_equal(
             left->operands, right->operands, left->scalars, right->scalars)) {
      if (bool(own) != bool(other))
        return false;
      if (own ? !pair(own, other)
              : scalar->kind != otherScalar->kind ||
                    scalar->constant != otherScalar->constant ||
                    scalar->value != otherScalar->value)
        return false;
    }
    return true;
  }

  /// Everything that uses one tile must use the other one alike.
  bool pairUses(Tile *left, Tile *right) {
    size_t numLeft = 0, numRight = 0;
    for (TileMatmul &matmul : matching.matmuls) {
      if (matmul.a == left || matmul.a == right)
        return false;
      for (auto operand : {&TileMatmul::b, &TileMatmul::acc}) {
        numRight += matmul.*operand == right;
        if (matmul.*operand != left)
          continue;
        ++numLeft;
        auto other =
            llvm::find_if(matching.matmuls, [&](const TileMatmul &candidate) {
              return candidate.*operand == right &&
                     areEqual(matmul.a, candidate.a);
            });
        if (other == matching.matmuls.end() ||
            !pair(matmul.result, other->result))
          return false;
      }
    }
    for (CarriedTile &carried : matching.carried)
      for (auto source : {&CarriedTile::init, &CarriedTile::yielded}) {
        numRight += carried.*source == right;
        if (carried.*source != left)
          continue;
        ++numLeft;
        auto other =
            llvm::find_if(matching.carried, [&](const CarriedTile &candidate) {
              return candidate.*source == right &&
                     candidate.loop == carried.loop;
            });
        if (other == matching.carried.end() ||
            !pair(carried.argument, other->argument))
          return false;
      }
    for (Tile &map : matching.getTiles()) {
      if (map.kind != Tile::Map)
        continue;
      for (size_t i = 0; i < map.operands.size(); ++i) {
        numRight += map.operands[i] == right;
        if (map.operands[i] != left)
          continue;
        ++numLeft;
        auto other = llvm::find_if(matching.getTiles(), [&](Tile &candidate) {
          return candidate.kind == Tile::Map && candidate.operands.size() > i &&
                 candidate.operands[i] == right &&
                 candidate.op->getName() == map.op->getName();
        });
        if (other == matching.getTiles().end() || !pair(&map, &*other))
          return false;
      }
    }
    for (TileStore &store : matching.stores) {
      numRight += store.tile == right;
      if (store.tile != left)
        continue;
      ++numLeft;
      auto other =
          llvm::find_if(matching.stores, [&](const TileStore &candidate) {
            return candidate.tile == right &&
                   areAdjacent(store.address, candidate.address, left->cols) &&
                   canJoin(store.accesses, store.position, candidate.accesses,
                           candidate.position);
          });
      if (other == matching.stores.end())
        return false;
      storePairs.push_back({&store, &*other});
    }
    return numLeft == numRight;
  }

  void commit() {
    for (auto [left, right] : pairs) {
      left->cols += right->cols;
      right->merged = left;
      if (left->position)
        left->position = getLater(left->position, right->position);
      llvm::append_range(left->accesses, right->accesses);
    }
    for (auto [left, right] : storePairs) {
      left->position = getLater(left->position, right->position);
      llvm::append_range(left->accesses, right->accesses);
      right->isMerged = true;
    }
  }

  TileMatching &matching;
  LaneForms &forms;
  llvm::MapVector<Tile *, Tile *> pairs;
  llvm::DenseSet<Tile *> partners;
  SmallVector<std::pair<TileStore *, TileStore *>> storePairs;
};

} // namespace

void mlir::tessera::pairColumns(TileMatching &matching, LaneForms &forms,
                                const Chip &chip) {
  auto isCandidate = [&](const TileMatmul &matmul) {
    if (matmul.result->merged || matmul.result->cols != matmul.row->n)
      return false;
    const MatrixInstruction *own =
        findFragmentInstruction(chip, matmul, matmul.row->n);
    const MatrixInstruction *wide =
        findFragmentInstruction(chip, matmul, 2 * matmul.row->n);
    return wide && wide->matrixUnit && (!own || !own->matrixUnit);
  };
  auto areNeighbors = [&](const TileMatmul &left, const TileMatmul &right) {
    return left.op->getBlock() == right.op->getBlock() &&
           Pairing(matching, forms).areAdjacent(*left.b, *right.b);
  };
  // From the left: a tile with a neighbor there is the right one of a pair.
  bool hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (TileMatmul &left : matching.matmuls) {
      if (!isCandidate(left) ||
          llvm::any_of(matching.matmuls, [&](const TileMatmul &other) {
            return isCandidate(other) && areNeighbors(other, left);
          }))
        continue;
      for (TileMatmul &right : matching.matmuls)
        if (isCandidate(right) && areNeighbors(left, right) &&
            Pairing(matching, forms).run(left, right)) {
          hasChanged = true;
          break;
        }
    }
  }
}
