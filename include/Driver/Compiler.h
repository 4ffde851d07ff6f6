//===- Compiler.h - A program, compiled for one target ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages of compilation:
//
//   source -> schedule -> tessera -> vendor -> llvm -> ptx -> cubin
//                                                   -> object
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_COMPILER_H
#define DRIVER_COMPILER_H

#include "Driver/TunedSchedules.h"
#include "Flags/CompileFlags.h"
#include "Runtime/Device.h"
#include "Runtime/InputFile.h"
#include "Runtime/Trace.h"
#include "Target/CodeReport.h"
#include "TargetInfo/Chip.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlir::tessera {

namespace runtime = ::tessera::runtime;

/// How far a compilation is.
struct CompileProgress {
  /// The stage that runs: "schedule", "vendor", "ptx"; empty at the end of the
  /// compilation, whether it succeeded or not.
  llvm::StringRef stage;
  /// The number of kernels in the program at this stage; 0 before there are
  /// kernels, and for the host code.
  int64_t kernels = 0;
  /// How many of them the stage has completed; 0 for a stage that does not
  /// count them.
  int64_t done = 0;
};

/// How a program is compiled: the chip, the part of the program, and the flags.
struct CompileOptions {
  /// "cpu", "cuda", "hip", "vulkan", "opencl" or "level-zero".
  std::string target = "cpu";
  /// A chip of the target; empty selects the host's chip for "cpu".
  std::string chip;
  /// The entry point; functions that it does not reach are not compiled. Empty
  /// compiles everything.
  std::string entry;
  CompileFlags flags;
  /// Compile portable host code instead of code for this CPU: for the x86-64
  /// level of the CPU chip, and for baseline x86-64 if the kernels are for a
  /// GPU.
  bool portableHost = false;
  /// The schedules used for matmuls without one; null selects those that ship
  /// with the compiler.
  std::shared_ptr<const TunedSchedules> tuned;
  /// Let host code call `tessera_rt_checkpoint` around each op that becomes
  /// kernels, if there are several of them (`CompiledProgram::steps`). The
  /// kernels are the same as without.
  bool checkpoints = false;
  /// Receives an event for each stage and each pass; does not affect the code.
  runtime::Trace *trace = nullptr;
  /// Called at the begin of each stage, after each kernel in some stages, and
  /// once at the end. Calls may come from several threads, but one at a time.
  /// It must not throw; does not affect the code.
  std::function<void(const CompileProgress &)> progress;
};

/// How far to compile.
enum class Stage {
  /// Matmuls as `tessera.contract` and `tessera.attention` on memrefs, with
  /// their schedules.
  Tasks,
  /// linalg with its schedule: the linalg op of each `tessera.contract`, and
  /// its schedule.
  Schedule,
  /// Kernels of portable fragments, with virtual threads expanded.
  Tessera,
  /// Kernels of legalized fragments, which match the shapes of instructions.
  Legalized,
  /// Per-lane vectors and the vendor's intrinsics.
  Vendor,
  /// LLVM dialect (kernels), before translation.
  LLVM,
};

/// Duration of one stage in milliseconds.
struct StageTime {
  std::string stage;
  double milliseconds;
};

/// One matmul of a kernel: the chosen instruction, and the rejected ones.
struct MatmulReport {
  std::string kernel;
  std::string instruction;
  bool matrixUnit;
  /// Computed by plain threads without fragments, because it is memory bound;
  /// `instruction` describes how.
  bool plainThreads = false;
  /// "64x64x16 f16 x f16 -> f32".
  std::string types;
  /// The source location "file:line:column" of the matmul.
  std::string location;
  /// Number of significand bits that the matrix unit keeps of a sum, and the
  /// number of terms that it sums up before it adds them to the accumulator (0:
  /// all). 0 bits means the precision of the accumulator type, which is the
  /// last word of `matmul`.
  int unitBits = 0;
  int64_t unitLength = 0;
  std::vector<std::string> rejected;
  /// How operands are loaded on chips with block loads: "a: block loads", or
  /// the reason why an operand loaded directly from memory does not use them.
  std::vector<std::string> loads;
  /// The type that determines its peak rate, for `findRoof`: "f16", "tf32".
  std::string rateType;
  /// A better instruction ("the matrix unit" if plain threads compute the
  /// matmul), and all changes required for it to be chosen
  /// (`findNearestMatmul`); empty if there is none.
  std::string nearest;
  std::vector<std::string> nearestNeeds;
};

/// One kernel of a program.
struct KernelReport {
  std::string name;
  /// "file:line:column" of the op that the kernel computes; may be empty.
  std::string location;
  /// The schedule used for tiling, as text; empty for a hand-written kernel.
  std::string schedule;
  /// The origin of the schedule, if tuned schedules were looked up.
  std::string scheduleOrigin;
  /// The time that the chip's model predicts, the limiting resource and the
  /// runner-up, if the schedule was chosen by estimated times; else empty.
  std::string prediction;
  /// Whether it adds partial sums atomically in any order, so that a rounded
  /// result may differ from run to run.
  bool addsAtomically = false;
  int64_t workgroupBytes = 0;
  /// The purpose of a kernel that prepares data for a matmul in another kernel;
  /// else empty.
  std::string purpose;
  /// How operands are copied, and why a better method was rejected; may be
  /// empty.
  std::string copies;
  CodeReport code;
};

/// A warning or a remark of a compilation.
struct DiagnosticReport {
  int severity;
  /// The location as MLIR prints it: `loc("file":1:2)`.
  std::string location;
  std::string message;
  std::vector<DiagnosticReport> notes;
};

/// A program that is ready to run.
class CompiledProgram {
public:
  virtual ~CompiledProgram();

  /// Serializes everything except the times, for `loadProgram`.
  virtual std::string save() = 0;

  /// Returns the function that runs entry point `name`. It takes an array of
  /// pointers, one to each field of each argument (a memref of rank r:
  /// allocated and aligned pointer, offset, r sizes, r strides, 8 bytes each; a
  /// scalar: itself), then one to memory for the result (several results are
  /// consecutive, each at its natural alignment; a memref is stored as its
  /// fields). It must be called within a `runtime::SessionScope`. Null if there
  /// is no such function.
  virtual void (*getEntry(llvm::StringRef name))(void **) = 0;

  /// Returns the host code as a shared library (`linkHostLibrary`). Errors are
  /// diagnostics of `op`.
  virtual FailureOr<std::string>
  linkHost(Operation *op, std::vector<std::string> &imports) = 0;

  // A field added here must be added to `save` and `loadProgram` as well.

  /// The kernel image that a device loads before the entry point runs.
  runtime::KernelImage image;
  std::vector<KernelReport> kernels;
  std::vector<MatmulReport> matmuls;
  std::vector<StageTime> times;
  std::vector<DiagnosticReport> diagnostics;
  /// The text of the PTX (target cuda).
  std::string ptx;
  /// The constants that the host code asks for, by their numbers. Their
  /// contents live as long as the context of the module that was compiled.
  /// Those of a program from `loadProgram` are not at hand (`findConstants`),
  /// except derived ones.
  std::vector<runtime::Constant> constants;
  /// The numbers of the constants that the compiler derived, which the
  /// program's source does not contain (`markDerivedConstants`): `save` keeps
  /// their contents, and `loadProgram` has them at hand.
  std::vector<int64_t> derivedConstants;
  /// The function that computes constants, which runs once before the entry
  /// point; empty if there is none.
  std::string loader;
  /// How many ops become kernels, after fusion: the steps of the host code. 0
  /// for a program with kernels of its own.
  int64_t stepCount = 0;
  /// With `CompileOptions::checkpoints`: a module with a function
  /// `__tessera_stepN` for each step, as text (see lib/Driver/Checkpoints.cpp).
  /// Empty for a program of fewer than two steps, whose code is the same with
  /// and without checkpoints.
  std::string steps;
};

/// The names of the functions of steps begin with it.
constexpr llvm::StringLiteral stepPrefix = "__tessera_step";

/// Lowers `module` to `stage` in place. Errors are diagnostics of its context.
/// `times` receives the duration of each stage. The chip of `options` replaces
/// the one that is attached to the module.
LogicalResult lowerToStage(ModuleOp module, Stage stage,
                           const CompileOptions &options,
                           std::vector<StageTime> *times = nullptr);

/// Compiles a copy of `module` to a program that is ready to run. Returns null
/// on an error, which is a diagnostic of the module's context.
std::unique_ptr<CompiledProgram> compileProgram(ModuleOp module,
                                                const CompileOptions &options);

/// Loads a program from the bytes of `CompiledProgram::save`. It must have been
/// compiled with the same options, by this build of the compiler, for this CPU.
/// Emits its diagnostics again. Returns null, with the reason in `why`, if the
/// bytes are not such a program. The program refers to the bytes of constants.
std::unique_ptr<CompiledProgram> loadProgram(const runtime::InputBytes &bytes,
                                             const CompileOptions &options,
                                             MLIRContext &context,
                                             std::string &why);

/// "file:line:column" of the innermost location in a file that `loc` knows;
/// empty if it knows none.
std::string describeLocation(Location loc);

/// Reports the matmuls of the legalized kernels in `module`.
std::vector<MatmulReport> collectMatmuls(ModuleOp module, const Chip &chip);

/// Prints the schedules of a module at stage Schedule as comments: a line for
/// each matmul with its function, its source location, and the attribute for
/// the linalg op; a second line if partial sums are added atomically.
std::string formatSchedules(ModuleOp module);

/// Registers all dialects and passes of the compiler with `context`.
void prepareContext(MLIRContext &context);

} // namespace mlir::tessera

#endif // DRIVER_COMPILER_H
