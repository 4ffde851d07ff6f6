//===- ScheduleBuilder.h - Builds default schedules -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULING_SCHEDULEBUILDER_H
#define LIB_SCHEDULING_SCHEDULEBUILDER_H

#include "Scheduling/Schedule.h"

namespace mlir::tessera {

/// Builds the default schedule of a contraction. Each step changes `fields`,
/// and relies on those before it:
///
///   class -> tile -> step -> fit the tile and the step -> stages -> batches
///   -> memory -> registers -> block loads -> finish
///
/// A step is implemented in the file of its concern: DefaultSchedule.cpp (class
/// and finish), DefaultTile.cpp, DefaultStep.cpp (K and stages),
/// DefaultBatches.cpp, DefaultResources.cpp (memory and registers),
/// DefaultParts.cpp (parts of K), DefaultVectors.cpp (subgroups of one lane).
class ScheduleBuilder {
public:
  using Tile = std::array<int64_t, 2>;

  /// `wantsRows`: the tile of a subgroup has whole rows, if N is static.
  /// `wantsBlocks`: operands are loaded by block loads, if possible.
  ScheduleBuilder(ContractOp op, const Chip &chip, bool wantsRows,
                  bool wantsBlocks);

  /// `prediction` is that of `getDefaultSchedule`.
  ScheduleAttr build(std::string *prediction);
  /// The best schedule with instructions of single subgroups.
  ScheduleAttr buildBySubgroups(std::string *prediction = nullptr);
  /// Whether the output is staged where that is legal.
  bool wantsStagedOutput() const {
    return (splitsPairs || storesBytes) && fields.stages > 0;
  }

private:
  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  /// Selects the class of instructions, and the chip's tiling for it.
  void chooseClass();
  /// One of the chip's tilings by rounds; null if none suits.
  const ScheduleDefaults *chooseByRounds();
  const ScheduleDefaults *chooseAlone(const RoundDefaults &rounds);
  /// The processors that rounds of workgroups are counted for.
  int64_t countBusyProcessors() const;
  /// The parts of K, of so many steps, by the chip's `dividedSteps`, and by its
  /// `pairedSteps`.
  int64_t countDividedParts(int64_t workgroups, int64_t steps);
  int64_t countPairedParts(int64_t workgroups, int64_t steps);
  /// Halves the rows of such a tile where its parts of K are too short for two
  /// workgroups of a processor.
  void halvePairedTiles();
  bool suitsSmallTiles();
  bool suitsShortSteps(int64_t workgroups) const;
  /// Starts with that tiling, adapted to wide accumulators and to whole rows.
  void startTile();
  /// Chooses `k` and `kFragment`.
  void chooseStep();
  /// Makes tiles narrower where a thread has too few registers for matrices
  /// that the epilogue reads besides the sums.
  void fitEpilogue();
  /// Gives byte outputs a tile of all columns, if it is about as large.
  void fitColumns();
  /// Halves the tile while it is larger than the problem.
  void fitTile();
  /// Makes tiles smaller where stores of single elements dominate.
  void narrowForStores();
  /// Makes tiles smaller while SMs are idle.
  void fillProcessors();
  /// Takes the chip's large tile if all SMs have work even so.
  void enlargeTile();
  bool suitsLargeTiling(const LargeTiling &large);
  /// Takes `large` if it suits the contraction, and no processor then computes
  /// more elements.
  void useLargeTiling(const LargeTiling &large);
  void widenScalarTile();
  /// Makes steps longer where an operand has a producer, and so few workgroups
  /// have work that the latency of each step is exposed.
  void lengthenStep();
  /// Shortens the step to K, and copies all of K at once if copies are
  /// synchronous.
  void fitStep();
  /// Limits the stages to the number of steps.
  void fitStages();
  /// Gives several small matrices of a batch to one workgroup.
  void chooseBatches();
  void fitMemory();
  void fitRegisters();
  /// Makes a step one fragment for block loads. Returns whether these can load
  /// both operands.
  bool finishBlocks();
  /// Chooses the fields that do not change tiles.
  void finish();

  //===--------------------------------------------------------------------===//
  // Parts of steps
  //===--------------------------------------------------------------------===//

  /// Widens the tile of a subgroup to rows of N elements, with about the same
  /// number of elements if instructions of the same class permit.
  Tile widenToRows();
  /// Whether the subgroup has one lane, and operands are as wide as
  /// accumulators. Narrower ones are extended, as vectors along K.
  bool usesPlainVectors();
  /// Whether the subgroup has one lane, and dot products along K of bytes.
  bool usesVectorDots();
  /// Whether the subgroup has one lane, and transposes vectors along K of rhs.
  bool transposesVectors();
  /// The tile of a subgroup that does.
  Tile chooseTransposedTile();
  /// The tile of a subgroup of one lane, in its vector registers. None for
  /// others, and where extents are not known.
  std::optional<Tile> chooseVectorTile();
  /// Chooses `k` and `kFragment` for staged operands of a subgroup of one lane.
  /// Returns whether it has.
  bool chooseStepOfVectors();
  /// The bytes of a row of a staged operand.
  int64_t chooseStepBytes();
  /// Uses the shortest fragments of a small matrix.
  void shortenFragments();
  /// The number of fragments along K that are loaded directly for a small
  /// matrix: all of them, or 1 if the matrix is staged.
  int64_t chooseDirectFragments();
  /// The number of matrices that a workgroup and a subgroup compute, with so
  /// many `fragments` of operands in registers for each.
  std::array<int64_t, 2> countMatrices(int64_t fragments);
  int64_t chooseSplitK();
  /// The parts of the reduction of so many workgroups, by an estimate
  /// (DefaultParts.cpp).
  int64_t estimateParts(int64_t workgroups);
  int64_t chooseRaster();

  /// Halves the tile along `d`, the workgroup's before the subgroup's. Returns
  /// whether it could.
  bool halve(unsigned d);
  /// Halves the tiles of workgroup and subgroup along `d`; the workgroup's
  /// stays as large as the default one of a subgroup.
  bool shrink(unsigned d);
  /// Divides the workgroup's tile among twice as many subgroups. Returns
  /// whether it could.
  bool splitSubgroup();
  /// Whether half the step is a whole number of fragments.
  bool canHalveStep();

  //===--------------------------------------------------------------------===//
  // Facts
  //===--------------------------------------------------------------------===//

  ScheduleAttr make();
  /// The instruction for a subgroup's tile and a step of `k`, or null.
  const MatrixInstruction *select(Tile tile, int64_t k);
  /// Whether the tile has an instruction of the same class for a step of `k`.
  bool hasClass(Tile tile, int64_t k);
  bool canLoadBlocks(const MatrixInstruction &row);
  /// The number of workgroups with tiles of this size; nothing if the extents
  /// of the output are dynamic or 0. Along M and N, and for the batch.
  std::optional<std::array<int64_t, 3>> countTiles(Tile workgroup);
  std::optional<int64_t> countWorkgroups(Tile workgroup);
  bool isCopiedDirectly(unsigned side);
  /// Whether the staged tiles are swizzled rather than padded.
  bool prefersSwizzle();
  /// Whether each matrix of a batch is one tile of one subgroup, smaller than
  /// the default one.
  bool isSmall();
  /// Whether the chip's rates are measured, and the steps load operands as they
  /// are in memory: the latency of gathers and producers is not known.
  bool hasKnownLatency();
  /// Whether a producer divides or computes a function, which takes longer than
  /// the matmul of a step. Nothing overlaps with it.
  bool hasSlowProducer();
  /// Whether a thread has registers for the accumulators of `matrices`, and for
  /// so many `fragments` of operands.
  bool mayHold(int64_t fragments, int64_t matrices);
  int64_t estimateHeld();
  /// Whether a thread has few registers besides accumulators, operands and data
  /// on its way to workgroup memory.
  bool isTight();
  /// Divides the tile among more subgroups until they can hold such data.
  void shareHeld();
  /// Makes the few steps of a part of K one, if its workgroups have an SM each
  /// and registers can hold it: the steps would wait for memory one after the
  /// other.
  void holdParts();
  /// Lengthens the steps of parts of K of 32-bit words, and loads more of them
  /// ahead.
  void lengthenParts();
  /// Whether registers hold the rows of lhs or rhs on their way to workgroup
  /// memory, although the chip has asynchronous copies: the rows are aligned to
  /// less than these require.
  bool isHeld(unsigned side);

  ContractOp op;
  const Chip &chip;
  MatrixForm form;
  /// The extents of M, N and K; 1 for empty ones.
  std::array<int64_t, 3> extents;
  bool hasWholeRows, usesBlocks;
  /// The bits of an element of the wider operand.
  int64_t operandBits;
  /// The largest step that the producers permit, 0 for any; and any such step.
  int64_t limit, longest;

  const MatrixInstruction *instruction = nullptr;
  bool usesMatrixUnit = false;
  const ScheduleDefaults *defaults = nullptr;
  /// The number of elements of a subgroup's first tile.
  int64_t largestTile = 0;
  /// The number of steps of the first `k`, or kDynamic.
  int64_t steps = ShapedType::kDynamic;
  /// Whether no two elements of a row of the output can be stored at once.
  bool splitsPairs = false;
  /// Whether the output's elements are single bytes, of which lanes would store
  /// two at once.
  bool storesBytes = false;
  /// Whether the tiles are small enough to leave K whole.
  bool keepsK = false;
  /// By how much the step was made longer.
  int64_t lengthened = 1;
  ScheduleFields fields;
};

/// The steps that each part of a reduction keeps, to pay for adding it up.
inline constexpr int64_t stepsOfPart = 32;

/// Whether rows of lhs (0), rhs (1) or the output (2) are known not to be
/// aligned to `bytes`.
bool hasMisalignedRows(ContractOp op, unsigned side, int64_t bytes);

} // namespace mlir::tessera

#endif // LIB_SCHEDULING_SCHEDULEBUILDER_H
