//===- Target.h - From the LLVM dialect to binaries -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "Target/IRModule.h"
#include "TargetInfo/Chip.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <optional>

namespace mlir::tessera {

/// Moves the contents of the `gpu.module`s of `module` to a separate module for
/// translation. Two kernels with the same name are an error.
FailureOr<OwningOpRef<ModuleOp>> gatherKernels(ModuleOp module);

/// The same for a GPU whose dynamic workgroup memory is an external array
/// without a size in address space 3, as NVPTX and AMDGPU expect it.
FailureOr<OwningOpRef<ModuleOp>> gatherGpuKernels(ModuleOp module);

/// The LLVM intrinsic that computes the function `name` of C's library of
/// mathematics ("fabs", for every float type), if the GPU back ends have code
/// for it.
std::optional<llvm::Intrinsic::ID> findMathIntrinsic(llvm::StringRef name);

/// Translates a module in the LLVM dialect to LLVM IR for `machine`. Errors are
/// diagnostics.
LogicalResult translate(ModuleOp module, IRModule &code,
                        llvm::TargetMachine &machine);

/// Emits an error at the first call in `module` of the function of this name,
/// which the target does not support; at the module if nothing calls it.
InFlightDiagnostic emitErrorAtCall(ModuleOp module, llvm::StringRef name);

/// Runs LLVM's optimizations on the translated module.
LogicalResult translateAndOptimize(ModuleOp module, IRModule &code,
                                   llvm::TargetMachine &machine);

/// Registers an LLVM back end with `initialize` once. LLVM's registry of back
/// ends is not synchronized, and threads compile concurrently.
void registerBackEnd(bool &isRegistered, llvm::function_ref<void()> initialize);

/// The target machine of a GPU chip, with LLVM's strongest optimization. Emits
/// an error and returns null if LLVM lacks the back end, which `backEnd` names
/// in the message, or the chip.
std::unique_ptr<llvm::TargetMachine>
createMachine(ModuleOp module, llvm::StringRef backEnd,
              const llvm::Triple &triple, const Chip &chip,
              llvm::StringRef features,
              std::optional<llvm::Reloc::Model> relocation = std::nullopt);

/// The target machine for a chip of target `cpu`; for the host's chip it uses
/// all features of the host CPU, unless `isPortable` requests only those that
/// all CPUs of that chip have.
std::unique_ptr<llvm::TargetMachine> createCPUMachine(const Chip &chip,
                                                      bool isPortable = false);

/// Links host objects to a shared library without dependencies: `imports` lists
/// the functions that it calls through its table `tessera_imports`, whose
/// entries have the same order.
FailureOr<std::string> linkHostLibrary(Operation *op,
                                       ArrayRef<std::string> objects,
                                       llvm::TargetMachine &machine,
                                       std::vector<std::string> &imports);

/// Translates the kernels in `module` (the LLVM dialect within `gpu.module`s)
/// to PTX, in the threads of the context. `hasLineTable`: the ops have debug
/// information, and one thread translates them all.
FailureOr<std::string> emitPTX(ModuleOp module, const Chip &chip,
                               bool hasLineTable = false);

/// Returns the path of ptxas, from the PATH or CUDA's default location; empty
/// if it is not found.
std::string findPtxas();

/// Assembles PTX to a cubin with ptxas, found on the PATH or in CUDA's default
/// location. `log` receives its output.
FailureOr<std::string> runPtxas(Operation *op, llvm::StringRef ptx,
                                const Chip &chip, std::string &log);

/// Compiles the kernels in `module` (the LLVM dialect within `gpu.module`s) to
/// assembly for a chip of target `hip`.
FailureOr<std::string> emitAMDGCN(ModuleOp module, const Chip &chip);

/// Compiles the kernels in `module` to a code object (HSACO), which HIP loads.
/// Without a table of lines, kernels are compiled in several threads.
FailureOr<std::string> emitHSACO(ModuleOp module, const Chip &chip,
                                 bool hasLineTable = false);

/// Links relocatable objects to a shared library (such as an AMD code object)
/// with lld. They must not have undefined symbols.
FailureOr<std::string> linkShared(Operation *op, ArrayRef<StringRef> objects);

/// Occupancy: the number of workgroups of `threads` threads, each with
/// `vectorRegisters`, resident on the four SIMD units that share workgroups (a
/// CDNA compute unit, an RDNA workgroup processor). `workgroupBytes` is the
/// memory of each workgroup, including dynamic memory.
int64_t countResidentWorkgroups(const Chip &chip, int64_t vectorRegisters,
                                int64_t threads, int64_t workgroupBytes);

/// Occupancy of an NVIDIA chip: the number of workgroups resident on one SM.
int64_t countResidentBlocks(const Chip &chip, int64_t registers,
                            int64_t threads, int64_t workgroupBytes);

/// Resource usage of a kernel as ptxas reports it.
struct PtxasKernel {
  std::string name;
  /// Registers per thread.
  int64_t registers = 0;
  /// Spilled bytes and total local memory per thread, in bytes.
  int64_t spillBytes = 0, stackBytes = 0;
  /// Workgroup memory that the kernel itself declares, in bytes.
  int64_t staticBytes = 0;
  /// Maximum number of threads per workgroup; 0 if the PTX does not specify it.
  int64_t threads = 0;
};

/// Parses the log of `runPtxas`, and `.maxntid` or `.reqntid` of the PTX.
std::vector<PtxasKernel> readPtxasLog(llvm::StringRef log, llvm::StringRef ptx);

/// Serializes the `spirv.module`s in `module` to concatenated binaries.
FailureOr<std::string> emitSPIRV(ModuleOp module);

/// Disassembles the `spirv.module`s in `module`, in the format of spirv-dis.
FailureOr<std::string> printSPIRV(ModuleOp module);

/// Returns the path of spirv-val from the PATH; empty if it is not found.
std::string findSpirvVal();

/// Validates binaries of `emitSPIRV` with spirv-val: for Vulkan 1.3, or for
/// OpenCL 2.2, or only for the SPIR-V version if an OpenCL module uses a
/// version later than 1.2. Emits an error at `op` if validation fails or
/// spirv-val is not found.
LogicalResult runSpirvVal(Operation *op, llvm::StringRef bytes);

} // namespace mlir::tessera

#endif // TARGET_TARGET_H
