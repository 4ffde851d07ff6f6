//===- Spirv.h - Helpers of the SPIR-V conversion ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOSPIRV_SPIRV_H
#define CONVERSION_TESSERATOSPIRV_SPIRV_H

#include "Conversion/FragmentToVector.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"

namespace mlir::tessera {

/// The push constants: the arguments of the launch, 8 bytes each, or if these
/// do not fit, the address of memory with them. The variable for N arguments is
/// an array of N words in a struct and has N after its name; an address is a
/// word in a struct. Each implementation has 128 bytes (Vulkan specification,
/// "Required Limits").
inline constexpr llvm::StringLiteral paramsName = "__params";
inline constexpr unsigned maxPushedParameters = 16;

/// The storage type of an element in memory: i1 in a byte, two of i4 in one, an
/// index in 8, and floats without a type on devices as integers of their size.
Type getStorageType(Type element);
/// Its size in bytes; for i4 that of the byte that two elements share.
int64_t getStorageBytes(Type element);

/// i32, or a vector of i32, for an access of 4, 8 or 16 bytes.
Type getRawType(MLIRContext *context, int64_t bytes);

/// The differences between SPIR-V for Vulkan and for OpenCL ("Client API" in
/// the SPIR-V specification, section 2.16.2, "Validation Rules for Shader
/// Capabilities" and "for Kernel Capabilities").
struct SpirvEnvironment {
  /// In diagnostics: "vulkan", "opencl".
  llvm::StringRef target;
  spirv::ClientAPI api;
  spirv::AddressingModel addressing;
  spirv::MemoryModel memory;
  spirv::ExecutionModel execution;
  /// The storage class of the buffers that are passed to a kernel.
  spirv::StorageClass global;
  /// Its name in a barrier's semantics.
  spirv::MemorySemantics globalSemantics;
  /// Whether a barrier must also make writes visible explicitly.
  bool saysVisible;
  /// Bits of a component of a thread's or a workgroup's number.
  unsigned numberBits;
  /// A kernel is given its parameters themselves, rather than the address of a
  /// block of them, and memory may be accessed through pointers of any type.
  bool isKernel;
};

/// That of the target `vulkan`, or of `opencl`, which is that of `level-zero`
/// as well; null for another.
const SpirvEnvironment *getSpirvEnvironment(llvm::StringRef target);

/// A chip of a SPIR-V target; emits an error at `op` if there is none.
FailureOr<const Chip *> getSpirvChip(Operation *op);

/// Emits a barrier for the threads of `scope`, after which they see the others'
/// earlier writes to workgroup memory and, with `ordersGlobal`, to any memory.
void emitBarrier(OpBuilder &builder, Location loc, spirv::Scope scope,
                 const SpirvEnvironment &environment, bool ordersGlobal = true);

/// A device of SPIR-V: fragments of its matrix unit are cooperative matrices
/// (CooperativeMatrix.cpp), or vectors by a lane map.
class SpirvTarget : public FragmentTarget {
public:
  using FragmentTarget::FragmentTarget;

  const SpirvEnvironment &getSpirvEnvironment() const {
    return *tessera::getSpirvEnvironment(chip.target);
  }

  /// Gives each kernel the workgroup memory through which matrices become
  /// vectors of known lane maps and back.
  LogicalResult addScratch(gpu::GPUModuleOp module);

  Value emitMma(OpBuilder &builder, Location loc, const MatrixInstruction &row,
                MmaOp op, Value a, Value b, Value acc) const override;
  void emitSubgroupBarrier(OpBuilder &builder, Location loc) const override;
  Value emitGuardedRead(OpBuilder &builder, Location loc, Value memory,
                        ValueRange indices, int64_t width,
                        Value whole) const override;
  SmallVector<Value> emitFragmentLoad(OpBuilder &builder, LoadOp op,
                                      const TileLayout &layout) const override;
  void populateOpaque(TypeConverter &converter,
                      RewritePatternSet &patterns) const override;

  /// By kernel and element type: the memory, and elements of each subgroup.
  llvm::DenseMap<std::pair<Operation *, Type>, std::pair<Value, int64_t>>
      scratch;
  /// By kernel: the columns that pass through scratch at a time where lanes
  /// hold rows; 0 for single tiles.
  llvm::DenseMap<Operation *, int64_t> wideCols;
};

/// Emits a matmul of SPV_INTEL_subgroup_matrix_multiply_accumulate on the
/// lanes' registers by the row's maps (Dpas.cpp).
Value emitDpas(OpBuilder &builder, Location loc, const MatrixInstruction &row,
               MmaOp op, Value a, Value b, Value acc);

/// The function of this name that is imported, which is declared where it is
/// not: upstream's dialect lacks the instruction that its calls become
/// (lib/Target).
FlatSymbolRefAttr getImportedFunction(OpBuilder &builder, Location loc,
                                      StringRef name, FunctionType type);

/// Marks the loads that block loads of `chip` perform, prefetches the blocks of
/// those in a loop, and records their requirements on the kernel's arguments
/// (BlockLoads.cpp).
void markBlockLoads(gpu::GPUFuncOp kernel, const Chip &chip);

/// Makes a kernel that needs more registers than a thread of `chip` has by
/// default request more (RegisterRequest.cpp).
void requestRegisters(gpu::GPUFuncOp kernel, const Chip &chip);

/// Adds patterns for functions that OpenCL.std supports and upstream's dialect
/// lacks: exp2, log2 (KernelMath.cpp).
void populateKernelMath(TypeConverter &converter, RewritePatternSet &patterns);

/// Whether `chip` computes with elements of `type` in f32, by their bits: bf16,
/// and f16 where it has none.
bool isComputedWide(Type type, const Chip &chip);
/// Computes the ops for which `isComputedWide` holds in f32, and rounds the
/// results (NarrowFloats.cpp).
void widenNarrowFloats(Operation *root, const Chip &chip);

/// Computes ops on i4 in i8, except extensions and truncations of i4. An op
/// whose result depends on the width is an error (NarrowIntegers.cpp).
LogicalResult widenNarrowIntegers(Operation *root,
                                  const SpirvEnvironment &environment);

/// Whether a fragment of an opaque instruction can consist of cooperative
/// matrices: whole tiles, of elements for which the device has some matmul.
bool canBeMatrix(const Chip &chip, FragmentType type);
/// Whether the device has some matmul whose matrices have the tile and the role
/// of `type`, and elements of `element`.
bool hasMatricesOf(const Chip &chip, FragmentType type, Type element);
/// Whether the conversion is one of accumulators to operands with the same
/// tiles, which the device computes without workgroup memory.
bool convertsInPlace(const Chip &chip, ConvertOp op);

/// The bytes of workgroup memory that the chip's table reserves for scratch, in
/// addition to those available to schedules: an eighth of all
/// (ReportedChip.cpp).
int64_t getScratchBytes(const Chip &chip);
/// The attribute of workgroup memory that is accessed after all others, from a
/// barrier on, and may be where these are.
constexpr llvm::StringLiteral sharesTilesName = "shares_tiles";

/// The elements between the rows of scratch for a map for stores
/// (TargetInfo/RowMaps.h), for elements of so many bytes.
constexpr int64_t getStorePadding(int64_t bytes) { return bytes < 4 ? 8 : 4; }

/// Erases the subgroup barriers of conversions through workgroup memory between
/// accesses to different memory (RedundantBarriers.cpp). Expects fragments that
/// were converted, and memory as memrefs.
void eraseRedundantBarriers(gpu::GPUFuncOp kernel);

/// Makes loops over steps of copies and matmuls of cooperative matrices load
/// the next step's tiles before this step's matmuls (PrefetchCopies.cpp).
/// Expects memory as pointers of SPIR-V, and barriers as gpu.barrier.
void prefetchCopies(gpu::GPUFuncOp kernel);

/// Moves the load of each cooperative matrix of operand a right before its
/// first matmul, after those of b, and that of each of b as well if a is in
/// registers already (OrderLoads.cpp). Expects memory as pointers
/// of SPIR-V.
void orderLoads(gpu::GPUFuncOp kernel);

/// Expands scalar arithmetic that SPIR-V does not have in this form, and
/// remainders of floating-point numbers unless the device `trustsRemainders`
/// (ExactArithmetic.cpp).
void expandExactArithmetic(gpu::GPUFuncOp kernel, bool trustsRemainders);

/// Computes maxima and minima of several numbers, which are NaN if one of them
/// is, with one test for all (JoinMaxima.cpp). Expects scalars.
void joinMaxima(gpu::GPUFuncOp kernel);

/// Converts divisions and remainders of indices and i64 to 32 bits for operands
/// that fit; others are kept if the device `trustsWide`, and are computed bit
/// by bit otherwise (NarrowDivisions.cpp).
void narrowDivisions(gpu::GPUFuncOp kernel, bool trustsWide);

/// Restricts fragments of opaque instructions of `chip` to ops that cooperative
/// matrices support. For all other ops they are converted to and from fragments
/// of known lane maps.
LogicalResult separateOpaque(Operation *root, const Chip &chip);

/// Makes parallel loops with reductions sequential, in the order of their
/// indices (LoopForms.cpp).
void sequenceReductions(Operation *root);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOSPIRV_SPIRV_H
