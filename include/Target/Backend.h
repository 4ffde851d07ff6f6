//===- Backend.h - All that differs from target to target -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target implements one interface, in its folder of lib/Target. Passes know
// the part of it that has no code: its names and its chips (TargetInfo.h).
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_BACKEND_H
#define TARGET_BACKEND_H

#include "Flags/CompileFlags.h"
#include "Runtime/Device.h"
#include "Target/CodeReport.h"
#include "TargetInfo/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <memory>

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::tessera {

namespace runtime = ::tessera::runtime;

/// A form of a target's code that `--emit` can write.
struct CodeStage {
  /// "ptx", "hsaco".
  llvm::StringLiteral name;
  bool isBinary = false;
  /// Code of several chips can be bundled in one file.
  bool takesSeveralChips = false;
};

/// The code of a program's kernels, and how it is generated.
struct KernelCode {
  /// Assemble by the vendor's assembler, where the target has one besides the
  /// driver.
  bool useAssembler = false;
  /// Have the vendor's validator check the code, where there is one.
  bool validate = false;
  /// Begins a stage of this name, which ends with the object.
  std::function<std::shared_ptr<void>(const char *)> startStage;
  /// The workgroup memory of a kernel's launch, in bytes.
  std::function<int64_t(llvm::StringRef)> getWorkgroupBytes;
  /// Receives what the code of a kernel takes.
  std::function<void(llvm::StringRef, const CodeReport &)> report;
  /// Adds a module of the LLVM dialect to the host's half of the program.
  std::function<LogicalResult(ModuleOp)> addToHost;

  /// The result: the code that a device loads, the functions that `addToHost`
  /// was given, and the text that the code was assembled from (PTX).
  runtime::KernelImage image;
  std::vector<std::string> hostFunctions;
  std::string text;
};

/// A target, from fragments to code that a device runs.
class TargetBackend {
public:
  explicit TargetBackend(const TargetInfo &info) : info(info) {}
  virtual ~TargetBackend();
  TargetBackend(const TargetBackend &) = delete;
  TargetBackend &operator=(const TargetBackend &) = delete;

  const TargetInfo &getInfo() const { return info; }

  //===--------------------------------------------------------------------===//
  // Dialects
  //===--------------------------------------------------------------------===//

  /// Registers the dialects of the target's kernels, with the interfaces by
  /// which they are converted and translated to LLVM IR.
  virtual void registerDialects(DialectRegistry &) const {}

  /// The attribute by which the vendor's dialect marks kernels among the
  /// functions of the LLVM dialect; empty if there is none.
  virtual llvm::StringRef getKernelAttribute() const { return ""; }

  //===--------------------------------------------------------------------===//
  // Passes
  //===--------------------------------------------------------------------===//

  /// The pipeline that lowers a portable program to kernels of this target:
  /// "tessera-to-nvvm-pipeline", and what it does.
  virtual llvm::StringRef getPipelineName() const = 0;
  virtual llvm::StringRef getPipelineDescription() const = 0;

  /// Adds the passes that lower legalized kernels to the vendor's dialect:
  /// per-lane vectors and intrinsics. `kernels` runs on each `gpu.module`. The
  /// passes read the chip from the module (`getChip`).
  virtual void addVendorPasses(OpPassManager &kernels,
                               const CompileFlags &flags) const = 0;

  /// Adds the passes that lower kernels from there to the dialect that is
  /// translated.
  virtual void addLoweringPasses(OpPassManager &kernels,
                                 const CompileFlags &flags) const = 0;

  /// Whether kernels can call functions; else these are inlined.
  virtual bool hasCalls() const { return true; }

  //===--------------------------------------------------------------------===//
  // Code
  //===--------------------------------------------------------------------===//

  /// The forms of the target's code. The first one that is text is shown in
  /// reports.
  virtual llvm::ArrayRef<CodeStage> getStages() const = 0;

  /// The kernels of `module`, which `addLoweringPasses` lowered, as the code of
  /// one of these stages. `lineTable`: with the lines of the source, if
  /// `hasLineTables`. Errors are diagnostics.
  virtual FailureOr<std::string> emit(llvm::StringRef stage, ModuleOp module,
                                      const Chip &chip,
                                      bool lineTable = false) const = 0;

  /// Generates the code that a device loads of the kernels of `module`, which
  /// may lose them. Errors are diagnostics.
  virtual LogicalResult compileKernels(ModuleOp module, const Chip &chip,
                                       KernelCode &code) const = 0;

  /// The kind of the code in a file, by its first bytes; none if kernels are a
  /// part of the program.
  virtual std::optional<runtime::KernelImage::Kind>
  getImageKind(llvm::StringRef code) const = 0;

  /// Whether the vendor's assembler is here, which reports what code takes
  /// without a device.
  virtual bool hasAssembler() const { return false; }

  //===--------------------------------------------------------------------===//
  // Devices
  //===--------------------------------------------------------------------===//

  /// Why a device of the chip `device` does not run code for the chip `code`,
  /// which is another one: "the device lacks f64 arithmetic". Empty if it does.
  /// `isMachineCode`: not in the form that the driver compiles for the device.
  /// By default the runtime's rule (`runtime::explainIncompatible`).
  virtual std::string explainIncompatible(llvm::StringRef code,
                                          llvm::StringRef device,
                                          bool isMachineCode) const;

  /// The chip to compile for on a device: its own, or the best of the known
  /// ones whose code runs there. Empty if there is none.
  virtual std::string chooseChip(const runtime::DeviceInfo &device) const;

  /// The chip of a device, as `runsOn` takes it.
  virtual std::string getDeviceChip(const runtime::DeviceInfo &device) const;

  /// Whether a device has features that its chip's name does not tell.
  virtual bool hasFeatures() const { return true; }

  /// Variables of the environment that choose and number devices, the first one
  /// that is set decides.
  virtual llvm::ArrayRef<const char *> getVisibilityVariables() const {
    return {};
  }

  //===--------------------------------------------------------------------===//
  // Reports
  //===--------------------------------------------------------------------===//

  /// "PTX", for the text that reports show.
  virtual llvm::StringRef getCodeTitle() const = 0;
  /// "LLVM dialect", for the last stage before it.
  virtual llvm::StringRef getLastDialectTitle() const { return "LLVM dialect"; }
  /// Whether code can have a table of the source's lines.
  virtual bool hasLineTables() const { return true; }
  /// "units" or "threads": the name of the units that run workgroups.
  virtual llvm::StringRef getUnitName() const { return "units"; }
  /// Whether code itself states its resources, scalar registers included.
  virtual bool hasCodeReports() const { return false; }
  /// The option that reports the resources of a kernel without a device's
  /// driver: ", and --ptxas".
  virtual llvm::StringRef getResourceHint() const { return ""; }
  /// Why no roofline is known for any chip of the target; empty: it may be.
  virtual llvm::StringRef getRoofUnknown() const { return ""; }

protected:
  const TargetInfo &info;
};

/// The backend of a target, by its name or alias, or null.
const TargetBackend *findBackend(llvm::StringRef name);

/// All backends, in the order of Targets.def; those registered later follow.
llvm::ArrayRef<const TargetBackend *> getBackends();

/// The stage of this name of some target, or null.
const CodeStage *findCodeStage(llvm::StringRef name);

/// Adds a target: its chips, and how code is generated for them. The object
/// lives as long as the program. No other thread uses targets meanwhile.
void registerBackend(const TargetBackend &backend);

/// Translates with a table of the source's lines: gives functions of the LLVM
/// dialect the scopes that it is made from.
LogicalResult addLineTable(ModuleOp module);

/// Adds the passes of `addVendorPasses` that follow the conversion to the
/// vendor's dialect.
void addArithmeticPasses(OpPassManager &kernels);

/// Adds the passes of `addLoweringPasses` that precede all others.
void addIndexPasses(OpPassManager &kernels);

} // namespace mlir::tessera

#endif // TARGET_BACKEND_H
