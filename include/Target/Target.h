//===- Target.h - From the LLVM dialect to binaries -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "Dialect/Tessera/Target/Chip.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>

namespace mlir::tessera {

/// Moves what is in the `gpu.module`s of `module` to a module of its own, as
/// translation wants it. An error where two kernels have one name.
FailureOr<OwningOpRef<ModuleOp>> gatherKernels(ModuleOp module);

/// Translates a module in the LLVM dialect, for `machine`. Null on an error,
/// which is a diagnostic.
std::unique_ptr<llvm::Module> translate(ModuleOp module,
                                        llvm::LLVMContext &context,
                                        llvm::TargetMachine &machine);

/// Runs LLVM's optimizations for `machine`.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Both.
std::unique_ptr<llvm::Module>
translateAndOptimize(ModuleOp module, llvm::LLVMContext &context,
                     llvm::TargetMachine &machine);

/// What `machine` emits for `module`.
FailureOr<std::string> emitFile(Operation *op, llvm::Module &module,
                                llvm::TargetMachine &machine,
                                llvm::CodeGenFileType type);

/// The machine for a chip of the target `cpu`; the host's own processor if the
/// chip is the host's.
std::unique_ptr<llvm::TargetMachine> createCPUMachine(const Chip &chip);

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

/// Links one relocatable object for AMD's chips to a code object.
FailureOr<std::string> linkCodeObject(Operation *op, llvm::StringRef object);

/// What a code object says of a kernel. Registers are those of one lane, or of
/// a subgroup where they are scalar; memory is in bytes.
struct CodeObjectKernel {
  std::string name;
  /// Vector registers, accumulation registers among them where the chip has
  /// one file for both.
  int64_t vgprs = 0;
  int64_t agprs = 0, sgprs = 0;
  /// Registers that are kept in memory.
  int64_t vgprSpills = 0, sgprSpills = 0;
  /// Memory of one thread (spills, local arrays), and of the workgroup besides
  /// what the launch adds.
  int64_t privateBytes = 0, workgroupBytes = 0;
  /// The most threads of a workgroup, and the lanes of a subgroup.
  int64_t maxThreads = 0, subgroupSize = 0;
};

/// The kernels of a code object. An error where `bytes` are none.
FailureOr<std::vector<CodeObjectKernel>> readCodeObject(Operation *op,
                                                        llvm::StringRef bytes);

/// How many workgroups of `kernel`, of the most threads that they may have, are
/// at the same time on four SIMD units that run workgroups together (a compute
/// unit of CDNA, a workgroup processor of RDNA). `workgroupBytes`: what the
/// launch adds for each.
int64_t countResidentWorkgroups(const Chip &chip,
                                const CodeObjectKernel &kernel,
                                int64_t workgroupBytes);

/// The `spirv.module`s in `module` as binaries, one behind the other.
FailureOr<std::string> emitSPIRV(ModuleOp module);

/// The same as text of the spirv dialect.
FailureOr<std::string> printSPIRV(ModuleOp module);

/// The path of spirv-val on the PATH; empty if there is none.
std::string findSpirvVal();

/// Validates binaries of `emitSPIRV` by spirv-val, for Vulkan 1.3. An error at
/// `op` says what it rejects, or that it is not there.
LogicalResult runSpirvVal(Operation *op, llvm::StringRef bytes);

} // namespace mlir::tessera

#endif // TARGET_TARGET_H
