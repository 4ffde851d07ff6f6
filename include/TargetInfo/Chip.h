//===- Chip.h - Chips and their matrix instructions, as data ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_CHIP_H
#define TARGETINFO_CHIP_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "TargetInfo/DeviceSheet.h"
#include "TargetInfo/LaneMap.h"
#include "TargetInfo/ScheduleRates.h"

#include "llvm/ADT/StringRef.h"
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera {

/// One row of an instruction table: a way to compute `acc[m, n] += a[m, k] *
/// b[k, n]` on the registers of one subgroup, or of several subgroups together.
struct MatrixInstruction {
  /// Unique over all tables; the name in `!tessera.fragment<..., "name">`.
  std::string name;
  int64_t m, n, k;
  /// Element types as printed by MLIR: "f16", "bf16", "f32", "f64", "i4",
  /// "i8", "i32", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ".
  std::string aType, bType, accType;
  /// Rounds or truncates f32 operands to tf32: requires `precision tf32`.
  bool tf32 = false;
  /// Keeps fewer bits of a sum than `accType` has. Unless `precision fast_f8`
  /// permits this, at most `maxFewBits` terms are summed at a time, in
  /// registers other than the accumulator.
  bool fewBits = false;
  /// Treats integers as signed only; other rows support `unsigned_a` and
  /// `unsigned_b`.
  bool signedOnly = false;
  /// For an opaque instruction of i8: the signedness combinations that the
  /// device supports. The conversion computes other combinations with several
  /// of these.
  enum class Signs { Both, Signed, Unsigned };
  Signs signs = Signs::Both;
  /// Runs on a matrix unit; otherwise it is composed of scalar FMAs, or of dot
  /// products that each lane computes by itself.
  bool matrixUnit = true;
  /// Composed of instructions for dot products.
  bool dotProduct = false;
  /// The LLVM intrinsic of the processor that it consists of, where code of the
  /// host has it; empty for other instructions.
  std::string intrinsic;
  /// The number of subgroups that execute it together; the maps count the lanes
  /// of all of them.
  int64_t subgroups = 1;
  /// Reads a, or b, from swizzled workgroup memory instead of registers: the
  /// map then gives only the tile's extents.
  bool aInMemory = false, bInMemory = false;
  /// Operands in memory may be row-major or column-major; otherwise a must be
  /// row-major and b column-major.
  bool anyOrder = false;
  /// Accumulates in tensor memory, which is not part of the registers of any
  /// lane: `accMap` defines which lane reads which of its elements.
  bool tensorMemory = false;
  /// The first feature level of the chips that have the instruction (sm_80:
  /// 80).
  int64_t since = 0;
  /// The distribution of elements over lanes is known to the device only (a
  /// cooperative matrix of SPIR-V): the maps give only the tiles' extents.
  bool opaque = false;
  /// The instruction that computes this one in several parts; empty if it is
  /// one instruction. Parts of K: a lane holds adjacent elements of K, which it
  /// can load at once although they are narrow in memory, of operands that are
  /// widened in registers from `storedBits` for each element. Parts of N
  /// (`pairsColumns`): a lane holds two adjacent columns of b, which it can
  /// load at once from memory that has N along the rows.
  std::string repeated;
  int64_t storedBits = 0;
  bool pairsColumns = false;
  LaneMap aMap, bMap, accMap;

  const LaneMap &getMap(Role role) const {
    return role == Role::A ? aMap : role == Role::B ? bMap : accMap;
  }
  /// Whether the instruction needs registers for sums in addition to the
  /// accumulator.
  bool sumsApart(Precision precision) const {
    return fewBits && precision != Precision::FastF8;
  }
  bool isInMemory(Role role) const {
    return role == Role::A ? aInMemory : role == Role::B && bInMemory;
  }
};

/// The number of terms that an instruction with few bits may add up.
constexpr int64_t maxFewBits = 128;

/// The tiling that the default schedule starts from, for one class of operand
/// types. Sizes are in elements; `kBytes` is in bytes of an operand row.
struct ScheduleDefaults {
  std::array<int64_t, 2> workgroup, subgroup;
  int64_t kBytes;
  /// 0: operands are not staged; fragments are loaded from global memory.
  int64_t stages;
  /// The number of subgroups that own a fragment together: `subgroup` is their
  /// tile.
  int64_t group = 1;
  /// The measured rate of the matrix unit with this tiling, as a fraction of
  /// the best tiling's. This field and the following one are used for tilings
  /// for groups only; their `stages` is the largest useful number.
  double speed = 1.0;
  /// Whether this tiling is for instructions that need registers for sums in
  /// addition to the accumulator, or for the others.
  bool sumsApart = false;
};

/// Tilings of which the default schedule takes the one whose workgroups take
/// the least time by the number of rounds: as many workgroups as the device has
/// at a time.
struct RoundDefaults {
  struct Tiling {
    ScheduleDefaults defaults;
    /// The workgroups that a processor has at a time.
    int64_t resident;
    /// The time of a round, relative to those of the others.
    double time;
  };
  /// The processors of the device of which these are the numbers.
  int64_t processors;
  /// The last one has the smallest tile.
  std::vector<Tiling> tilings;
  /// The tiling for just its number of columns.
  ScheduleDefaults fewColumns;
  /// Tilings for operands of 16 bits of which a processor has one workgroup.
  std::vector<ScheduleDefaults> alone;
};

/// The parameters of the default schedule for attention by groups of subgroups,
/// on chips with instructions for them. If this does not fit, the default
/// schedule halves the keys or reduces the stages.
struct AttentionDefaults {
  /// The number of groups in a workgroup, each with its own rows.
  int64_t groups = 1;
  /// The keys of a block, and the number of blocks in flight.
  int64_t keys = 64, stages = 1;
  /// The keys of a block of persistent workgroups that stage their output,
  /// where the chip has them, and the time that a block takes besides that of
  /// its keys, as a number of keys.
  std::vector<int64_t> persistentKeys = {};
  int64_t blockKeys = 0;
  /// More such numbers, for at least two blocks of keys that all queries see,
  /// whose scores are the sums alone, and whose values have at most
  /// `unmaskedColumns` columns: a mask, a change of the scores, or more columns
  /// would take the registers that these blocks leave.
  std::vector<int64_t> unmaskedKeys = {};
  int64_t unmaskedColumns = 0;
};

/// The parameters of the default schedule for a batch of matrices each of which
/// is one tile of one subgroup. A single such tile cannot fill a workgroup.
struct BatchDefaults {
  /// The number of subgroups in a workgroup, each with its own matrices. 1: one
  /// workgroup per matrix.
  int64_t subgroups = 1;
  /// The number of subgroups that fit on one SM or compute unit. If a batch has
  /// more matrices, a subgroup computes several, up to `perSubgroup`.
  int64_t resident = 0, perSubgroup = 1;
  /// Operands of at most this many fragments along K are loaded directly from
  /// memory, since nothing else reads them, and all loads are issued together.
  int64_t directFragments = 0;
};

/// The use of the chip's threads by kernels without fragments.
struct SimtDefaults {
  /// The number of threads in a workgroup.
  int64_t threads;
  /// The number of consecutive points that one thread computes. 1: adjacent
  /// threads compute adjacent points.
  int64_t pointsPerThread;
  /// The number of workgroups that fill the chip.
  int64_t workgroups;
  /// The number of vectors that one thread loads before it uses the first.
  int64_t unroll;
  /// The threads of a processor that hide the latency of memory: with fewer,
  /// those of a window compute fewer points each, in fewer registers.
  int64_t threadsOfUnit = 512;
};

/// The limits of TMA's im2col mode: bulk copies of windows over an image, which
/// load consecutive pixels.
struct BulkWindowLimits {
  /// The number of image dimensions that windows move over: all except the
  /// image's batch and channel dimensions.
  unsigned dimensions;
  /// The largest distance of the first and the last window position from the
  /// image's first and last pixel (one more before the first).
  int64_t maxCorner;
  /// The largest distance of an element of a window from the window's first
  /// one.
  int64_t maxOffset;
  /// The largest distance between adjacent windows.
  int64_t maxStride;
  /// The largest number of pixels in a tile.
  int64_t maxPixels;
};

/// A hardware unit that copies tiles between global memory and workgroup memory
/// (TMA), and its limits.
struct BulkCopyEngine {
  /// The largest rank of the global memory.
  int64_t maxRank;
  /// The largest number of rows of a tile.
  int64_t maxRows;
  /// The required alignment of the rows in global memory, in bytes.
  int64_t alignment;
  /// The number of threads that must release their registers together to other
  /// threads of the workgroup.
  int64_t registerGroup;
  /// The number of registers that a thread which only issues copies keeps.
  int64_t leastRegisters;
  /// The images whose windows it can copy.
  std::vector<BulkWindowLimits> windows;
};

/// Block loads: a subgroup loads blocks of a matrix from global memory directly
/// to the registers of its matrix unit. The fields are the requirements on the
/// memory, in bytes except `mostRows`.
struct BlockLoads {
  /// The required alignment of the matrix's first element.
  int64_t alignment;
  /// The offset of a block's first column from the matrix's first one must be a
  /// multiple of this.
  int64_t columnAlignment;
  /// The length of a row: its minimum, its maximum, and a number that must
  /// divide it.
  int64_t leastWidth, mostWidth, widthMultiple;
  /// The row pitch must be a multiple of this.
  int64_t pitchMultiple;
  int64_t mostRows;
};

/// The measured rates of a chip that the default schedule uses. Times are in
/// nanoseconds; rates are those of one SM or compute unit unless stated
/// otherwise.
struct PerformanceModel {
  /// Multiply-adds of operands of two bytes with the best tiling.
  double mma = 1;
  /// The time from a tile's last matmul to the next tile's first one: for a
  /// tile, and for each of its elements.
  double tile = 0, epilogue = 0;
  /// The time for which a tile of few steps waits for vectors that its epilogue
  /// reads, in epilogues.
  double lateVectors = 0;
  /// With one short step, the epilogues of bytes are all of the time: in
  /// epilogues, of two groups, and of more, which hide each other's latencies.
  double epilogueOfTwo = 1, epilogueOfMore = 1;
  /// The additional time of a step along K whose extent is smaller than that of
  /// the table's tiling.
  double step = 0;
  /// The bytes that all SMs read or write together, and one by itself.
  double memory = 1, processorMemory = 1;
  /// The bytes of tiles that all SMs read through the cache together, and one
  /// by itself, and the factor by which rows that are not aligned to a cache
  /// line take longer.
  double tiles = 1, processorTiles = 1, splitLines = 1;
  int64_t lineBytes = 1;
  /// The time of a kernel's launch, and of its first loads.
  double start = 0;
  /// The bytes that a workgroup in a cluster reads from the other workgroups'
  /// memory, including the time to synchronize.
  double clusterMemory = 1;
  /// The largest number of workgroups in a cluster that does not leave an SM
  /// idle.
  int64_t clusterParts = 1;
  /// The processors without a workgroup where clusters have three or four
  /// workgroups, one on a processor, and where they have more.
  std::array<int64_t, 2> clusterIdle = {0, 0};
  /// The cost of sharing tiles between workgroups, as a fraction of the whole
  /// time.
  double sharing = 0;
  /// A copy from memory to memory by the whole device: the time to start and
  /// end, the bytes that it reads and writes, and the elements that a
  /// transposing copy moves.
  double copyStart = 0, copies = 1, transposedElements = 1;
  /// The time saved per multiply-add, device-wide, by a warpgroup kernel:
  /// compared with a kernel whose operands are copied to workgroup memory
  /// element by element, and compared with kernels of single subgroups, for
  /// elements of less than four bytes and for others.
  double savedByRows = 0, savedByOrder = 0, savedByOrderOfWords = 0;
  /// The same for images whose channels are too few for wide copies.
  double savedByRuns = 0;
  /// Matmuls by instructions of single subgroups: the time from a read of
  /// memory to the matmul that uses the data, with a barrier in between; 0: not
  /// known. The share of `mma` that they reach, the same factor again for f64,
  /// and the factor by which f64 takes longer in a workgroup that has an SM of
  /// its own. The time of an SM for the elements that a subgroup loads from
  /// workgroup memory one by one, in one load.
  double stepLatency = 0, subgroupShare = 1, f64Share = 1, f64Alone = 1,
         singleLoad = 0;
  /// The rates by which all schedules of a matmul are compared; none where they
  /// were not fitted.
  std::optional<ScheduleRates> schedules = std::nullopt;
};

/// How many workgroups are resident on one unit of a chip, as far as its limits
/// decide. 0: the chip has no such limit.
struct UnitLimits {
  /// Subgroups and workgroups of one unit.
  int64_t subgroups = 0, workgroups = 0;
  /// Workgroup memory of one unit in bytes, and the part that the system keeps
  /// for each workgroup.
  int64_t memoryBytes = 0, systemBytes = 0;
};

/// A tiling for large contractions with a matrix unit. A subgroup divides its
/// tile into virtual threads whose fragments have the extents of one matrix
/// instruction.
struct LargeTiling {
  std::array<int64_t, 2> workgroup, subgroup, fragment;
  /// The least extent of K, in bytes of the wider operand: other workgroups do
  /// not hide the time before the first step and after the last one.
  int64_t leastBytes;
};

/// The choices of the default schedule for a chip. They are not facts of the
/// hardware.
struct SchedulePolicy {
  /// Bytes of an operand's row in a step of the default schedule where async
  /// copies to LDS with the widest access load all of both operands. 0: as
  /// elsewhere.
  int64_t directStepBytes = 0;
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
  /// Rows and columns of the tiles of a workgroup and of a subgroup with scalar
  /// FMAs where there are as many as processors; 0: there are none.
  std::array<int64_t, 2> largeScalarWorkgroup = {0, 0},
                         largeScalarSubgroup = {0, 0};
  /// The vector registers of a subgroup of one lane, from which its default
  /// tiles follow. 0: subgroups have lanes.
  int64_t vectorRegisters = 0;
  /// The bytes of the largest cache that one processor does not share. Operands
  /// of more bytes are read from further away, once for each tile of the other
  /// operand: the default schedule then has other tiles, copies rows that fall
  /// into few sets of the cache, and divides long reductions. 0: unknown.
  int64_t cacheBytes = 0;
  /// The bytes along K of both operands in a block of such a reduction.
  int64_t blockBytes = 0;
  /// With scalar FMAs, K is divided until a processor has so many subgroups. 0:
  /// it is divided as with a matrix unit.
  int64_t scalarSubgroups = 0;
  /// The defaults with a matrix unit where block loads read both operands: a
  /// step is one fragment.
  std::optional<ScheduleDefaults> blockDefaults = std::nullopt;
  /// The number of loop iterations by which block loads are prefetched. 0:
  /// they are not prefetched.
  int64_t blockPrefetchIterations = 0;
  /// The defaults with a matrix unit instead of `matrixDefaults` where an
  /// operand is gathered, the matrix has no more columns than a tile of those,
  /// or there are fewer of their tiles than processors.
  std::optional<ScheduleDefaults> smallDefaults = std::nullopt;
  /// The defaults with a matrix unit before all others where there are at least
  /// two workgroups of the smallest tile for each processor, or nearly one of a
  /// tile of `alone`.
  std::optional<RoundDefaults> roundDefaults = std::nullopt;
  /// With a matrix unit, K of at least so many steps is divided among
  /// processors of which more than half would be idle. 0: as elsewhere, K of
  /// more steps among fewer.
  int64_t dividedSteps = 0;
  /// K of at most so many steps is divided into parts of one step, if no
  /// processor then has two of them. 0: parts have two steps at least.
  int64_t singleSteps = 0;
  /// With `smallDefaults`, K is divided until a processor has two workgroups,
  /// if each part has so many steps. 0: until it has one.
  int64_t pairedSteps = 0;
  /// Rows and columns of a workgroup's tile, of subgroup tiles as in
  /// `matrixDefaults`, where there are as many as processors; 0: there is none.
  std::array<int64_t, 2> largeWorkgroup = {0, 0};
  /// The tiling where copies of both operands run ahead, if no processor then
  /// computes more elements of the output than with `matrixDefaults`.
  std::optional<LargeTiling> largeTiling = std::nullopt;
  BatchDefaults batchDefaults;
  AttentionDefaults attentionDefaults;
  /// Tilings for instructions of several subgroups together, where the chip has
  /// them. The default schedule takes the one by which the contraction takes
  /// least time.
  std::vector<ScheduleDefaults> groupDefaults;
  /// Those that the model of all schedules compares besides. Their speed is not
  /// used.
  std::vector<ScheduleDefaults> comparedTilings = {};
  SimtDefaults simt;
};

/// The properties of a chip that the compiler uses.
struct Chip {
  /// "sm_90a", "gfx942", "x86-64-avx512".
  std::string name;
  /// "cuda", "hip", "vulkan", "opencl", "cpu".
  std::string target;
  /// The name that chips of the same hardware share: "sm_90" of sm_90a, which
  /// has more instructions. Empty: the chip's own name.
  std::string family = "";
  /// The chip whose code the host executes lane by lane; empty where the chip
  /// is not an emulation.
  std::string emulated = "";
  /// The hardware on which programs for the chip were executed, for the
  /// documentation. Empty: none so far.
  std::string executedOn = "";
  /// The number of lanes in a subgroup.
  int64_t subgroupSize;
  /// The most workgroup memory that one workgroup can use, in bytes.
  int64_t workgroupMemoryBytes;
  /// The most threads in one workgroup.
  int64_t maxThreads;
  /// The widest single memory access of a thread, in bytes.
  int64_t accessBytes;
  /// Whether wide accesses must be aligned to their width.
  bool alignedAccess;
  /// The padding of each row of a staged tile, in bytes, with which accesses to
  /// a column are free of bank conflicts.
  int64_t rowPaddingBytes;
  /// Whether the chip has copies from global to workgroup memory that bypass
  /// registers.
  bool asyncCopy;
  /// The smallest number of bytes that one of them copies.
  int64_t asyncCopyBytes = 0;
  /// The bytes that a lane can load directly to workgroup memory (async copy to
  /// LDS), where the lanes of a subgroup write consecutive addresses. Empty:
  /// the chip has no such loads, or `asyncCopy` is the better way.
  llvm::SmallVector<int64_t, 2> ldsCopyBytes = {};
  /// The element sizes in bits, powers of two, as a mask, for which a load from
  /// a tile in workgroup memory can transpose: a lane gets runs of a column.
  int64_t transposingReadBits = 0;
  /// The number of workgroups that can run at the same time as a cluster and
  /// read each other's workgroup memory. 1: the chip has no clusters.
  int64_t clusterWorkgroups = 1;
  /// Bulk copies of tiles (TMA), which one thread issues, if the chip has them.
  std::optional<BulkCopyEngine> bulkCopies = std::nullopt;
  /// Block loads for the matrix unit, if the chip has them.
  std::optional<BlockLoads> blockLoads = std::nullopt;
  /// Registers of 4 bytes: the most of one thread, and the most of all threads
  /// of one workgroup together. 0: unlimited.
  int64_t registersPerThread = 0, registersPerWorkgroup = 0;
  /// The number of registers that a kernel can request instead, with half as
  /// many threads resident on an SM or compute unit. 0: none.
  int64_t largeRegistersPerThread = 0;
  /// The columns of tensor memory of an SM, each of 128 words, for the
  /// accumulators of instructions that use it. 0: none.
  int64_t tensorMemoryColumns = 0;
  /// The number of SMs or compute units of the largest device of this chip; the
  /// default schedule aims to keep them busy. 0: known at run time only.
  int64_t processors = 0;
  /// The number of dies of a device, each with a cache of its own. Consecutive
  /// workgroups start on one die after the other.
  int64_t dies = 1;
  /// Whether staged tiles from which lanes read runs of columns use a k-packed
  /// (VNNI) layout (lib/Conversion/FragmentToVector/KPackedTiles.cpp).
  /// Otherwise the layout is unchanged, since the chip has transposing loads,
  /// are single.
  bool packsColumns = false;
  /// Facts that decide how many workgroups a unit keeps at a time.
  UnitLimits unit;
  /// The version of the vendor's code that kernels are emitted in: 84 for PTX
  /// 8.4. 0: the back end's default.
  int64_t codeVersion = 0;
  /// Devices that have this chip, as sold; the first one stands for the chip.
  std::vector<DeviceSheet> devices;
  SchedulePolicy policy;
  PerformanceModel model;
  /// The rows that this chip supports, best first.
  std::vector<MatrixInstruction> instructions;

  /// Whether the chip computes with f16; otherwise kernels compute in f32,
  /// converting the elements' bits.
  bool hasF16 = true;
  /// Whether the chip computes with f64; otherwise kernels that use it are
  /// rejected.
  bool hasF64 = true;
  /// Whether the chip has atomic adds of f32, and of f64; otherwise these use
  /// compare-and-swap.
  bool hasAtomicF32 = true, hasAtomicF64 = true;

  /// The float types, by their bits, for which a kernel can request that NaNs,
  /// infinities and signed zeros be preserved. For other types a compiler may
  /// assume that there are none (Vulkan, "Precision and Operation of SPIR-V
  /// Instructions").
  llvm::SmallVector<unsigned, 3> keptNans;

  /// Whether opaque fragments can be reduced along rows, and converted from
  /// accumulators to operands, in registers (VK_NV_cooperative_matrix2:
  /// cooperativeMatrixReductions, cooperativeMatrixConversions and
  /// cooperativeMatrixPerElementOperations).
  bool reducesMatrices = false;

  /// The most registers that one thread can have, if its kernel requests them.
  int64_t getMostRegisters() const {
    return std::max(registersPerThread, largeRegistersPerThread);
  }

  /// Whether a subgroup is several lanes, which have numbers and exchange
  /// values; else it is one thread.
  bool hasLanes() const { return subgroupSize > 1; }

  const MatrixInstruction *findInstruction(llvm::StringRef name) const;
};

/// The target whose chips `target` has: itself, except that level-zero runs
/// programs that are compiled for opencl.
llvm::StringRef getChipTarget(llvm::StringRef target);

/// A chip by name, or null. Chips live as long as the program.
const Chip *findChip(llvm::StringRef target, llvm::StringRef name);

/// The names of the known chips of a target, nearest to `name` first.
std::vector<std::string> getKnownChips(llvm::StringRef target,
                                       llvm::StringRef name = "");

/// All chips of all targets, for documents and tests.
const std::deque<Chip> &getAllChips();

/// The name of the chip on which this program runs, for the target `cpu`.
llvm::StringRef getHostChip();

/// Whether the matrix unit of `chip` supports these types, for some shape.
bool hasMatrixMultiply(const Chip &chip, Type a, Type b, Type acc);
/// Whether such an instruction is opaque: only the device knows which lane has
/// which element of a fragment.
bool hasOpaqueMultiply(const Chip &chip, Type a, Type b, Type acc);

/// The best instruction of `chip` for a matmul of these types by this number of
/// subgroups together, whose shape divides MxNxK. If no instruction supports
/// operands of i4, it is one of i8, to which the operands must be extended in
/// registers, with or without a sign: i8 can represent both. Null if there is
/// none. `why` receives a line with a reason for each row of these types, or of
/// the matrix unit, that was rejected. `aInMemory`: a is in swizzled workgroup
/// memory, if the instruction requires it there; otherwise it is in registers.
/// `anyUnsigned`: the elements of a or of b are unsigned.
const MatrixInstruction *selectInstruction(
    const Chip &chip, Type a, Type b, Type acc, Precision precision, int64_t m,
    int64_t n, int64_t k, llvm::SmallVectorImpl<std::string> *why = nullptr,
    int64_t subgroups = 1, bool aInMemory = true, bool anyUnsigned = false);

/// The instruction that repeats `row` for an operand that is widened in
/// registers from `storedBits` for each element; the longest one that divides
/// fragments of `k`. Null if there is none.
const MatrixInstruction *findRepetition(const Chip &chip,
                                        const MatrixInstruction &row,
                                        int64_t storedBits, int64_t k);

/// The instruction that repeats `row` along N for an operand b that is stored
/// with N along the rows, if it divides fragments of `n` columns. Null if there
/// is none.
const MatrixInstruction *
findColumnPairs(const Chip &chip, const MatrixInstruction &row, int64_t n);

/// The instruction whose operand map distributes a fragment of `type` that is
/// not connected to a matmul, over this number of subgroups. Null only if the
/// chip has no instruction for that number.
const MatrixInstruction *selectPlainLayout(const Chip &chip, FragmentType type,
                                           int64_t subgroups = 1);

} // namespace mlir::tessera

#endif // TARGETINFO_CHIP_H
