//===- Chip.h - Chips and their matrix instructions, as data ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_CHIP_H
#define DIALECT_TESSERA_TARGET_CHIP_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Target/LaneMap.h"

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera {

/// One row of an instruction table: a way to compute
/// `acc[m, n] += a[m, k] * b[k, n]` on the registers of one subgroup, or of a
/// few together.
struct MatrixInstruction {
  /// Unique over all tables; what `!tessera.fragment<..., "name">` says.
  std::string name;
  int64_t m, n, k;
  /// Element types by their MLIR spelling: "f16", "bf16", "f32", "f64", "i4",
  /// "i8", "i32", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ".
  std::string aType, bType, accType;
  /// Rounds or truncates f32 operands to tf32: needs `precision tf32`.
  bool tf32 = false;
  /// Keeps fewer bits of a sum than `accType` has. Unless `precision fast_f8`
  /// permits that, it adds up at most `maxFewBits` products at a time, to
  /// registers besides the accumulator.
  bool fewBits = false;
  /// Reads integers as signed only; others take `unsigned_a` and
  /// `unsigned_b`.
  bool signedOnly = false;
  /// Of an opaque instruction of i8: which products the device has. The
  /// conversion makes those of other signs of several of these.
  enum class Signs { Both, Signed, Unsigned };
  Signs signs = Signs::Both;
  /// Runs on a matrix unit; otherwise it is made of scalar FMAs, or of dot
  /// products that each lane computes by itself.
  bool matrixUnit = true;
  /// How many subgroups execute it together; the maps count the lanes of all.
  int64_t subgroups = 1;
  /// Reads a, or b, from swizzled workgroup memory rather than from registers:
  /// the map then gives the tile's extents only.
  bool aInMemory = false, bInMemory = false;
  /// Operands in memory may be stored either way; else a by rows and b by
  /// columns.
  bool anyOrder = false;
  /// Adds to an accumulator in tensor memory, which is not registers of any
  /// lane: `accMap` says which lane reads which of its elements.
  bool tensorMemory = false;
  /// Feature level from which on the chips of the table have it (sm_80: 80).
  int64_t since = 0;
  /// Only the device knows which lane holds which element (a cooperative matrix
  /// of SPIR-V): the maps give the tiles' extents only.
  bool opaque = false;
  LaneMap aMap, bMap, accMap;

  const LaneMap &getMap(Role role) const {
    return role == Role::A ? aMap : role == Role::B ? bMap : accMap;
  }
  /// Whether a product takes registers for sums besides the accumulator.
  bool sumsApart(Precision precision) const {
    return fewBits && precision != Precision::FastF8;
  }
  bool isInMemory(Role role) const {
    return role == Role::A ? aInMemory : role == Role::B && bInMemory;
  }
};

/// How many products an instruction that keeps few bits may add up.
constexpr int64_t maxFewBits = 128;

/// The tiling that the default schedule starts from, for one class of operand
/// types. Sizes in elements, `kBytes` in bytes of an operand row.
struct ScheduleDefaults {
  std::array<int64_t, 2> workgroup, subgroup;
  int64_t kBytes;
  /// 0: operands are not staged; fragments load from global memory.
  int64_t stages;
  /// Subgroups that own a fragment together: `subgroup` is their tile.
  int64_t group = 1;
  /// The rate of the matrix unit with this tiling, measured, as a part of the
  /// best one's. Of tilings for groups, as is what follows; their `stages` are
  /// the most that are of use.
  double speed = 1.0;
  /// For instructions that take registers for sums besides the accumulator, or
  /// for the others.
  bool sumsApart = false;
};

/// How the default schedule computes attention by groups of subgroups, where
/// the chip has instructions for them. What does not fit has half the keys, or
/// fewer stages.
struct AttentionDefaults {
  /// Groups of a workgroup, each with rows of its own.
  int64_t groups = 1;
  /// Keys of a block, and how many blocks are in flight.
  int64_t keys = 64, stages = 1;
};

/// How the default schedule computes a batch of matrices of which each is one
/// tile of one subgroup. By itself such a tile fills no workgroup.
struct BatchDefaults {
  /// Subgroups of a workgroup, each with matrices of its own. 1: it stays a
  /// workgroup for each matrix.
  int64_t subgroups = 1;
  /// Subgroups that a processor has room for. Where a batch has more matrices,
  /// a subgroup takes several, up to `perSubgroup`.
  int64_t resident = 0, perSubgroup = 1;
  /// Operands of no more fragments along K are loaded straight from memory,
  /// since nothing else reads them, and all loads are issued together.
  int64_t directFragments = 0;
};

/// How kernels without fragments use the chip's threads.
struct SimtDefaults {
  /// Of a workgroup.
  int64_t threads;
  /// Points that follow each other, which one thread walks through. 1:
  /// neighbouring points are for neighbouring threads.
  int64_t pointsPerThread;
  /// Workgroups that fill the chip.
  int64_t workgroups;
  /// Vectors that one thread loads before it uses the first.
  int64_t unroll;
};

/// What a bulk copy engine asks of windows over an image, of which it brings
/// the pixels that follow each other.
struct BulkWindowLimits {
  /// That windows move over: those of the image but its number and its
  /// channels.
  unsigned dimensions;
  /// How far the first and the last place are from the image's first and last
  /// one, at most (one more before it).
  int64_t maxCorner;
  /// How far a place within a window is from its first one.
  int64_t maxOffset;
  /// From a window to the next one.
  int64_t maxStride;
  /// Of a tile.
  int64_t maxPixels;
};

/// An engine that copies tiles between memory and workgroup memory by itself,
/// and what it asks of them.
struct BulkCopyEngine {
  /// Of the memory.
  int64_t maxRank;
  /// Of a tile.
  int64_t maxRows;
  /// Of the memory's rows, in bytes.
  int64_t alignment;
  /// Threads that can hand registers over to others of the workgroup together.
  int64_t registerGroup;
  /// What threads keep that do nothing but issue copies.
  int64_t leastRegisters;
  /// Images that it walks through by itself.
  std::vector<BulkWindowLimits> windows;
};

/// Loads by which a subgroup brings blocks of a matrix from memory straight to
/// the registers of its matrix unit, and what they ask of the memory. All in
/// bytes but `mostRows`.
struct BlockLoads {
  /// Of the matrix's first element.
  int64_t alignment;
  /// Of the columns that a block begins at, from the first one.
  int64_t columnAlignment;
  /// A row's length: at least, at most, and what it is a multiple of.
  int64_t leastWidth, mostWidth, widthMultiple;
  /// What is a multiple of this: from a row to the next one.
  int64_t pitchMultiple;
  int64_t mostRows;
  /// Turns of a loop that a block is prefetched before it is loaded. 0: it is
  /// not.
  int64_t prefetchTurns;
};

/// What the default schedule expects of a chip, as measured. Times in
/// nanoseconds, of one processor where nothing else is said.
struct ChipRates {
  /// Multiply-adds of operands of two bytes with the best tiling.
  double products = 1;
  /// From a tile's last product to the next tile's first one: for a tile, and
  /// for each of its elements.
  double tile = 0, epilogue = 0;
  /// A step along K that a tiling of the table does not have: where steps are
  /// shorter than its.
  double step = 0;
  /// Bytes that all processors read or write together, and one by itself.
  double memory = 1, processorMemory = 1;
  /// Bytes of tiles that all processors read through the cache together, and
  /// one by itself, and how many times as long rows take that begin within a
  /// line of it.
  double tiles = 1, processorTiles = 1, splitLines = 1;
  int64_t lineBytes = 1;
  /// A kernel's launch, and its first loads.
  double start = 0;
  /// Bytes that a workgroup in a cluster reads from the others' memory, with
  /// the time until they have met.
  double clusterMemory = 1;
  /// How many workgroups a cluster may have that leaves no processor idle.
  int64_t clusterParts = 1;
  /// What workgroups that share tiles lose by it, as a part of the whole time.
  double sharing = 0;
  /// A copy from memory to memory, by all processors: until it has begun and
  /// ended, the bytes that it reads and writes, and the elements that it moves
  /// where rows become columns.
  double copyStart = 0, copies = 1, turnedElements = 1;
  /// What a multiplication takes less, of all processors, in a product by
  /// groups of subgroups: than where operands are copied to workgroup memory
  /// element by element, and than by single subgroups, of elements of less than
  /// four bytes and of others.
  double savedByRows = 0, savedByOrder = 0, savedByOrderOfWords = 0;
  /// The same where the channels of an image are too few for wide copies.
  double savedByRuns = 0;
};

/// What the compiler has to know of a chip.
struct Chip {
  /// "sm_90a", "gfx942", "x86-64-avx512".
  std::string name;
  /// "cuda", "hip", "vulkan", "opencl", "cpu".
  std::string target;
  /// The hardware on which its programs were executed, for documents. Empty:
  /// none so far.
  std::string executedOn = "";
  /// Lanes of a subgroup.
  int64_t subgroupSize;
  /// Most workgroup memory that one workgroup can have, in bytes.
  int64_t workgroupMemoryBytes;
  /// Most threads in one workgroup.
  int64_t maxThreads;
  /// Widest single memory access of a thread, in bytes.
  int64_t accessBytes;
  /// Wide accesses must be aligned to their width.
  bool alignedAccess;
  /// Padding of each row of a staged tile that keeps accesses of a column free
  /// of bank conflicts, in bytes.
  int64_t rowPaddingBytes;
  /// Has copies from global to workgroup memory that bypass registers.
  bool asyncCopy;
  /// The least bytes that one of them moves.
  int64_t asyncCopyBytes = 0;
  /// Bytes that a load of one lane can bring straight to workgroup memory,
  /// where lanes of a subgroup write one behind the other. None: there are no
  /// such loads, or `asyncCopy` is the better way.
  llvm::SmallVector<int64_t, 2> directCopyBytes = {};
  /// Bytes of an operand's row in a step of the default schedule where such
  /// loads of the widest access bring all of both operands. 0: as elsewhere.
  int64_t directStepBytes = 0;
  /// Elements of so many bits, of a tile in workgroup memory, that a load turns
  /// as it reads them: a lane gets runs of a column. 0: none.
  int64_t transposingReadBits = 0;
  /// Workgroups that can run at the same time, as a cluster, and read each
  /// other's workgroup memory. 1: none.
  int64_t clusterWorkgroups = 1;
  /// Has bulk copies of tiles, which one thread issues.
  std::optional<BulkCopyEngine> bulkCopies = std::nullopt;
  /// Has loads of blocks for its matrix unit.
  std::optional<BlockLoads> blockLoads = std::nullopt;
  /// Registers of 4 bytes: the most that one thread can have, and that the
  /// threads of one workgroup can have together. 0: as many as it takes.
  int64_t registersPerThread = 0, registersPerWorkgroup = 0;
  /// What a kernel can ask for instead, and then half as many threads run on a
  /// processor. 0: nothing.
  int64_t largeRegistersPerThread = 0;
  /// Columns of tensor memory that a processor has, each of 128 words, for the
  /// accumulators of instructions that add to it. 0: none.
  int64_t tensorMemoryColumns = 0;
  /// Units that run workgroups, on the largest device of this chip; the
  /// default schedule wants to keep them busy. 0: known at run time only.
  int64_t processors = 0;
  /// Staged tiles of which lanes read runs of columns keep words of a column
  /// together (lib/Conversion/FragmentToVector/InterleavedTiles.cpp). Else rows
  /// stay as they are, since the chip has loads that turn tiles, or lanes that
  /// are single.
  bool interleavesColumns = false;
  /// The default schedule swizzles staged tiles instead of padding them.
  bool preferSwizzle = false;
  /// Pipelined loops are unrolled by their stages, so that each access to a
  /// staged tile has its slot in the instruction's constant offset rather than
  /// in an address that is computed anew in each step.
  bool unrollStages = false;
  /// The longest row, in elements, that the default schedule gives to one
  /// subgroup where an epilogue reduces along N. Code grows with it.
  int64_t maxRow = 256;
  /// Default tilings with a matrix unit, and with scalar FMAs.
  ScheduleDefaults matrixDefaults, scalarDefaults;
  /// The one with a matrix unit where block loads bring both operands: a step
  /// is one fragment.
  std::optional<ScheduleDefaults> blockDefaults = std::nullopt;
  /// Rows and columns of a workgroup's tile, of subgroup tiles as in
  /// `matrixDefaults`, where there are as many as processors; 0: there is none.
  std::array<int64_t, 2> largeWorkgroup = {0, 0};
  BatchDefaults batchDefaults;
  AttentionDefaults attentionDefaults;
  /// Tilings for instructions of several subgroups together, where the chip has
  /// them. The default schedule takes the one by which the contraction takes
  /// least time.
  std::vector<ScheduleDefaults> groupDefaults;
  ChipRates rates;
  SimtDefaults simt;
  /// The rows this chip has, best first.
  std::vector<MatrixInstruction> instructions;

  /// Computes with f16; else its kernels do so in f32, by the elements' bits.
  bool hasF16 = true;
  /// Computes with f64; else kernels of it are refused.
  bool hasF64 = true;
  /// Adds f32, and f64, to memory atomically; else by comparing and exchanging.
  bool hasAtomicF32 = true, hasAtomicF64 = true;

  /// The floats, by their bits, of which a kernel may ask that NaNs, infinities
  /// and signed zeros be kept. Of others a compiler may take it that there are
  /// none (Vulkan, "Precision and Operation of SPIR-V Instructions").
  llvm::SmallVector<unsigned, 3> keptNans;

  /// The most registers that one thread can have, if its kernel asks for them.
  int64_t getMostRegisters() const {
    return std::max(registersPerThread, largeRegistersPerThread);
  }

  /// Whether a subgroup is several lanes, which have numbers and exchange
  /// values; else it is one thread.
  bool hasLanes() const { return subgroupSize > 1; }

  const MatrixInstruction *findInstruction(llvm::StringRef name) const;
};

/// The target whose chips `target` has. It is its own, but for level-zero,
/// whose devices run what is compiled for opencl.
llvm::StringRef getChipTarget(llvm::StringRef target);

/// Whether the kernels of a target are SPIR-V.
bool isSpirvTarget(llvm::StringRef target);

/// A chip by name, or null. Chips live as long as the program.
const Chip *findChip(llvm::StringRef target, llvm::StringRef name);

/// The names of the known chips of a target, nearest to `name` first.
std::vector<std::string> getKnownChips(llvm::StringRef target,
                                       llvm::StringRef name = "");

/// All chips of all targets, for documents and tests.
const std::vector<Chip> &getAllChips();

/// The name of the chip this program runs on, for the target `cpu`.
llvm::StringRef getHostChip();

/// Whether the matrix unit of `chip` multiplies these types, for some shape.
bool hasMatrixProduct(const Chip &chip, Type a, Type b, Type acc);

/// The best instruction of `chip` for a product of these types by so many
/// subgroups together, whose shape divides MxNxK. Where none takes operands of
/// i4, it is one of i8, to which they are to be widened in registers, with or
/// without a sign: i8 has room for both. Null if there is none. `why` receives
/// a line for each row of these types, or of the matrix unit, that was
/// passed over, and why. `aInMemory`: a is in swizzled workgroup memory, if the
/// instruction wants it there; else it is in registers. `anyUnsigned`: elements
/// of a or of b are unsigned.
const MatrixInstruction *selectInstruction(
    const Chip &chip, Type a, Type b, Type acc, Precision precision, int64_t m,
    int64_t n, int64_t k, llvm::SmallVectorImpl<std::string> *why = nullptr,
    int64_t subgroups = 1, bool aInMemory = true, bool anyUnsigned = false);

/// The instruction whose operand map distributes a fragment of `type` that no
/// product constrains, over so many subgroups. Null only if the chip has no
/// instruction for that number.
const MatrixInstruction *selectPlainLayout(const Chip &chip, FragmentType type,
                                           int64_t subgroups = 1);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_CHIP_H
