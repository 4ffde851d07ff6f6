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
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace mlir::tessera {

/// Moves what is in the `gpu.module`s of `module` to a module of its own, as
/// translation wants it. An error where two kernels have one name.
FailureOr<OwningOpRef<ModuleOp>> gatherKernels(ModuleOp module);

/// Translates a module in the LLVM dialect, for `machine`. Errors are
/// diagnostics.
LogicalResult translate(ModuleOp module, IRModule &code,
                        llvm::TargetMachine &machine);

/// An error at the first call in `module` of the function of this name, which
/// the target lacks; at the module where nothing calls it.
InFlightDiagnostic emitErrorAtCall(ModuleOp module, llvm::StringRef name);

/// Runs LLVM's optimizations after that.
LogicalResult translateAndOptimize(ModuleOp module, IRModule &code,
                                   llvm::TargetMachine &machine);

/// Registers a back end of LLVM's by `initialize`, the first time. LLVM's list
/// of back ends has no lock of its own, and threads compile at the same time.
void registerBackEnd(bool &isRegistered, llvm::function_ref<void()> initialize);

/// The machine for a chip of the target `cpu`; the host's own processor if the
/// chip is the host's, unless `isPortable` asks for what all processors of that
/// chip have.
std::unique_ptr<llvm::TargetMachine> createCPUMachine(const Chip &chip,
                                                      bool isPortable = false);

/// Links objects for the host to a shared library that depends on nothing: what
/// it calls is named in `imports`, and called through its table
/// `tessera_imports`, whose entries stand in the same order.
FailureOr<std::string> linkHostLibrary(Operation *op,
                                       ArrayRef<std::string> objects,
                                       llvm::TargetMachine &machine,
                                       std::vector<std::string> &imports);

/// The kernels in `module` (the LLVM dialect within `gpu.module`s) as PTX.
FailureOr<std::string> emitPTX(ModuleOp module, const Chip &chip);

/// The path of ptxas: on the PATH, or where CUDA installs it. Empty if there is
/// none.
std::string findPtxas();

/// PTX to a cubin by ptxas, found on the PATH or where CUDA installs it. `log`
/// receives what it printed.
FailureOr<std::string> runPtxas(Operation *op, llvm::StringRef ptx,
                                const Chip &chip, std::string &log);

/// The kernels in `module` (the LLVM dialect within `gpu.module`s) as assembly
/// for a chip of the target `hip`.
FailureOr<std::string> emitAMDGCN(ModuleOp module, const Chip &chip);

/// The same as a code object (HSACO), which HIP loads.
FailureOr<std::string> emitHSACO(ModuleOp module, const Chip &chip);

/// Links relocatable objects to a shared library (an AMD code object is one),
/// by lld. All that they refer to is in them.
FailureOr<std::string> linkShared(Operation *op, ArrayRef<StringRef> objects);

/// How many workgroups of `threads` threads, each with `vectorRegisters`, are
/// at the same time on four SIMD units that run workgroups together (a compute
/// unit of CDNA, a workgroup processor of RDNA). `workgroupBytes`: the memory
/// of each workgroup, with what the launch adds.
int64_t countResidentWorkgroups(const Chip &chip, int64_t vectorRegisters,
                                int64_t threads, int64_t workgroupBytes);

/// The same of an NVIDIA chip, on one multiprocessor.
int64_t countResidentBlocks(const Chip &chip, int64_t registers,
                            int64_t threads, int64_t workgroupBytes);

/// What ptxas said of a kernel.
struct PtxasKernel {
  std::string name;
  /// Of a thread.
  int64_t registers = 0;
  /// Of a thread, in bytes: what is kept in memory, and all memory of its own.
  int64_t spillBytes = 0, stackBytes = 0;
  /// Workgroup memory that the kernel itself declares, in bytes.
  int64_t staticBytes = 0;
  /// The most that a workgroup may have; 0 where the PTX does not say.
  int64_t threads = 0;
};

/// Reads what `runPtxas` gives as its log, and `.maxntid` or `.reqntid` of the
/// PTX.
std::vector<PtxasKernel> readPtxasLog(llvm::StringRef log, llvm::StringRef ptx);

/// The `spirv.module`s in `module` as binaries, one behind the other.
FailureOr<std::string> emitSPIRV(ModuleOp module);

/// The same as assembly, as spirv-dis prints it.
FailureOr<std::string> printSPIRV(ModuleOp module);

/// The path of spirv-val on the PATH; empty if there is none.
std::string findSpirvVal();

/// Validates binaries of `emitSPIRV` by spirv-val: for Vulkan 1.3, those of
/// OpenCL for OpenCL 2.2 or, where they are of a later SPIR-V than its 1.2, for
/// that version alone. An error at `op` says what it rejects, or that it is not
/// there.
LogicalResult runSpirvVal(Operation *op, llvm::StringRef bytes);

} // namespace mlir::tessera

#endif // TARGET_TARGET_H
