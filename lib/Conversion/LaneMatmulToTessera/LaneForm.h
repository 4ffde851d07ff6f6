//===- LaneForm.h - Indices of all lanes as one form ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LANEMATMULTOTESSERA_LANEFORM_H
#define LIB_CONVERSION_LANEMATMULTOTESSERA_LANEFORM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <optional>
#include <vector>

namespace mlir::tessera {

/// An index of each lane of a subgroup: a sum of monomials of unknowns, which
/// the lanes have alike, each with a factor for each lane. The empty monomial
/// has the constants.
///
/// Example, lanes that count along rows of four, 16 rows for each subgroup q:
/// `q * 16 + lane / 4` has the monomial `q` with the factor 16 in each lane,
/// and the empty monomial with the factors 0, 0, 0, 0, 1, 1, ...
class LaneForm {
public:
  using Product = std::vector<unsigned>;
  using Factors = std::vector<int64_t>;

  LaneForm() = default;
  /// A constant of each lane.
  explicit LaneForm(const Factors &constants);
  /// An unknown.
  LaneForm(unsigned unknown, size_t numLanes);

  /// Whether all lanes have the same value.
  bool isUniform() const;
  /// The value, if it is one constant for all lanes.
  std::optional<int64_t> getConstant() const;
  /// The constant of each lane, if the form has no unknowns.
  std::optional<Factors> getConstants(size_t numLanes) const;
  /// The form in which lane i has the value that lane `lanes[i]` has here.
  LaneForm permute(llvm::ArrayRef<int64_t> lanes) const;
  /// The form in which all lanes have the value of one.
  LaneForm broadcast(size_t lane) const;

  const std::map<Product, Factors> &getTerms() const { return terms; }
  void addTerm(const Product &product, const Factors &factors);

  bool operator==(const LaneForm &other) const { return terms == other.terms; }
  bool operator<(const LaneForm &other) const { return terms < other.terms; }

private:
  std::map<Product, Factors> terms;
};

/// Evaluates the indices of a kernel for all lanes of a subgroup, or for all
/// threads of a workgroup: its lanes are then those threads.
class LaneForms {
public:
  using Form = std::optional<LaneForm>;

  /// The launch has a constant block size along x, a multiple of
  /// `subgroupSize`. For a workgroup, all block sizes are constant.
  LaneForms(gpu::LaunchOp launch, int64_t subgroupSize, bool isForWorkgroup);

  /// Whether all lanes of a subgroup have the same value.
  bool isUniform(Value value) const { return !differing.contains(value); }
  /// The form of an index or of an integer, if it has one.
  Form get(Value value);

  LaneForm makeConstant(int64_t value) const;
  Form add(const LaneForm &a, const LaneForm &b, int64_t sign = 1) const;
  Form multiply(const LaneForm &a, const LaneForm &b) const;
  /// floor(a / divisor), and the rest. Only for values that are not negative.
  Form divide(const LaneForm &a, int64_t divisor);
  Form remainder(const LaneForm &a, int64_t divisor);

  /// Emits a uniform form as an index.
  Value emit(OpBuilder &builder, Location loc, const LaneForm &form);

  int64_t getNumLanes() const { return numLanes; }

private:
  struct Range {
    int64_t low, high;
  };
  /// Something that the lanes have alike.
  struct Unknown {
    enum Kind { Plain, Subgroup, Quotient, Remainder } kind = Plain;
    Value value;
    LaneForm operand;
    int64_t divisor = 1;
    std::optional<Range> range;
  };

  void findDiffering();
  Form evaluate(Value value);
  Form evaluateArgument(BlockArgument argument);
  Form evaluateOp(Operation *op, unsigned number);
  Form evaluateExpr(AffineExpr expr, llvm::ArrayRef<LaneForm> dims,
                    llvm::ArrayRef<LaneForm> symbols);
  Form evaluateBits(Operation *op, const LaneForm &a, const LaneForm &b) const;
  Form evaluateCompare(arith::CmpIOp op, const LaneForm &a,
                       const LaneForm &b) const;
  Form select(const LaneForm &condition, const LaneForm &a,
              const LaneForm &b) const;
  Form castChecked(const LaneForm &form, unsigned bits) const;
  /// The number of the thread along x; along y or z, of a workgroup's threads.
  LaneForm getThread();
  LaneForm getThread(gpu::Dimension dimension) const;
  /// A constant of each lane, computed from its number.
  LaneForm getOfLane(llvm::function_ref<int64_t(int64_t)> function) const;
  /// Whether lanes have different results of `op` although they have the same
  /// operands.
  bool isOfLane(Operation *op) const;
  LaneForm getUnknown(Value value, std::optional<Range> range);
  LaneForm getUnknown(Unknown::Kind kind, const LaneForm &operand,
                      int64_t divisor);
  std::optional<Range> getRange(const LaneForm &form) const;
  /// Splits `a` into a part that `divisor` divides and a rest. If the rest is
  /// not constant, it is split into a uniform part and constants that the
  /// quotient does not depend on.
  bool split(const LaneForm &a, int64_t divisor, LaneForm &quotient,
             LaneForm &rest, LaneForm &uniform, LaneForm &constants) const;
  Value emitUnknown(OpBuilder &builder, Location loc, const Unknown &unknown);

  gpu::LaunchOp launch;
  int64_t subgroupSize, numLanes, numSubgroups;
  bool isForWorkgroup;
  std::array<int64_t, 3> sizes;
  std::vector<Unknown> unknowns;
  llvm::DenseMap<Value, unsigned> unknownOf;
  llvm::DenseMap<Value, Form> forms;
  /// The values that lanes may have differently.
  llvm::DenseSet<Value> differing;
  std::optional<unsigned> subgroup;
};

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LANEMATMULTOTESSERA_LANEFORM_H
