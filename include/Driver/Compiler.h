//===- Compiler.h - A program, compiled for one target ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data's way, one stage after the other:
//
//   source -> schedule -> tessera -> vendor -> llvm -> ptx -> cubin
//                                                   -> object
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_COMPILER_H
#define DRIVER_COMPILER_H

#include "Conversion/DirectCopies.h"
#include "Driver/TunedSchedules.h"
#include "Runtime/Device.h"
#include "Runtime/Trace.h"
#include "Target/CodeReport.h"
#include "TargetInfo/Chip.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::tessera {

namespace runtime = ::tessera::runtime;

/// What to compile for, and what is permitted.
struct CompileOptions {
  /// "cpu", "cuda", "hip", "vulkan", "opencl" or "level-zero".
  std::string target = "cpu";
  /// A chip of the target; empty is the host's, for "cpu".
  std::string chip;
  /// The function to be run: what it does not reach is not compiled. Empty
  /// compiles everything.
  std::string entry;
  /// Permit tf32 for every product of f32 operands.
  bool allowTf32 = false;
  /// Permit sums in few bits for every product of 8-bit floats.
  bool allowFastF8 = false;
  /// Make one kernel of two products and the softmax between them.
  bool fuseAttention = true;
  /// Refuse a product that no matrix unit computes.
  bool requireMatrixUnit = false;
  /// The order of every vthread op instead of its own: "breadth_first",
  /// "depth_first", "groups(N)"; empty keeps theirs.
  std::string vthreadOrder;
  /// Which asynchronous copies go past the registers. Anything but `Auto` is an
  /// error for a chip whose loads cannot.
  DirectCopies directCopies = DirectCopies::Auto;
  /// For tests only: all vthreads share one fragment, which is wrong.
  bool testShareFragments = false;
  /// Assemble PTX by ptxas, where it is found, instead of the driver.
  bool usePtxas = false;
  /// Make the host's code for every processor of its kind, not for this one:
  /// for the levels of x86-64 that the CPU's chips are named by, and for plain
  /// x86-64 where the kernels are a GPU's.
  bool portableHost = false;
  /// Have spirv-val look at the kernels (targets vulkan, opencl,
  /// level-zero).
  bool validate = false;
  /// Print the IR after each pass to standard error.
  bool printIRAfterAll = false;
  /// Where products without a schedule are looked up; null: among those that
  /// come with the compiler.
  std::shared_ptr<const TunedSchedules> tuned;
  /// Gets an event for each stage and each pass; of no influence on the code.
  runtime::Trace *trace = nullptr;
};

/// How far to compile.
enum class Stage {
  /// Products as `tessera.contract` and `tessera.attention` on memrefs, with
  /// the schedules that they have been given.
  Tasks,
  /// linalg with its schedule: what `tessera.contract` became, and how.
  Schedule,
  /// Kernels of portable fragments, virtual threads expanded.
  Tessera,
  /// The same, of fragments as instructions have them.
  Legalized,
  /// Per-lane vectors and the vendor's intrinsics.
  Vendor,
  /// LLVM dialect (kernels), before translation.
  LLVM,
};

/// Time that one stage took, in milliseconds.
struct StageTime {
  std::string stage;
  double milliseconds;
};

/// One matrix product of a kernel: the instruction chosen, and what was
/// rejected on the way.
struct ProductReport {
  std::string kernel;
  std::string instruction;
  bool matrixUnit;
  /// Computed without fragments, as memory limits it: `instruction` says how.
  bool plainThreads = false;
  /// "64x64x16 f16 x f16 -> f32".
  std::string product;
  /// "file:line:column" of the product.
  std::string location;
  /// Significand bits that the matrix unit keeps of a sum, and how many
  /// products it adds up so before it adds them to the accumulator (0: all). No
  /// bits: as many as the accumulator's type has, the last word of `product`.
  int unitBits = 0;
  int64_t unitLength = 0;
  std::vector<std::string> rejected;
  /// How its operands come, where the chip has block loads: "a: block loads",
  /// or why it has none for one that comes straight from memory.
  std::vector<std::string> loads;
  /// The type that its rate goes by, as `findRoof` takes it: "f16", "tf32".
  std::string rateType;
  /// A better instruction ("the matrix unit" where plain threads compute), and
  /// all that would have to be otherwise for it to
  /// take the product (`findNearestProduct`); empty if there is none.
  std::string nearest;
  std::vector<std::string> nearestNeeds;
};

/// One kernel of a program.
struct KernelReport {
  std::string name;
  /// The schedule it was tiled by, as text; empty if it was written by hand.
  std::string schedule;
  /// Where that is from, if products were looked up among tuned ones.
  std::string scheduleOrigin;
  /// Whether it adds partial sums in no fixed order, so that a rounded result
  /// may differ from run to run.
  bool addsAtomically = false;
  int64_t workgroupBytes = 0;
  /// What it is there for, where a product needs it that is computed elsewhere;
  /// else empty.
  std::string purpose;
  /// What operands are copied by, and why not by better; empty if nothing is to
  /// be said of it.
  std::string copies;
  CodeReport code;
};

/// What was said while a program was compiled: a warning or a remark.
struct DiagnosticReport {
  int severity;
  /// As MLIR spells it: `loc("file":1:2)`.
  std::string location;
  std::string message;
  std::vector<DiagnosticReport> notes;
};

/// A program ready to be run.
class CompiledProgram {
public:
  virtual ~CompiledProgram();

  /// All of it, for `loadProgram`, but the times.
  virtual std::string save() = 0;

  /// The function that runs entry `name`: takes an array of pointers, one to
  /// each field of each argument (a memref of rank r: allocated and aligned
  /// pointer, offset, r sizes, r strides, 8 bytes each; a scalar: itself), then
  /// one to memory for the result (several results: one after the other, each
  /// at its natural alignment; a memref: its fields). Call it within a
  /// `runtime::SessionScope`. Null if there is no such function.
  virtual void (*getEntry(llvm::StringRef name))(void **) = 0;

  /// The host's code as a shared library (`linkHostLibrary`). Errors are
  /// diagnostics of `op`.
  virtual FailureOr<std::string>
  linkHost(Operation *op, std::vector<std::string> &imports) = 0;

  // What is added here is added to `save` and `loadProgram` as well.

  /// What a device loads before the entry runs.
  runtime::KernelImage image;
  std::vector<KernelReport> kernels;
  std::vector<ProductReport> products;
  std::vector<StageTime> times;
  std::vector<DiagnosticReport> diagnostics;
  /// The text of the PTX (target cuda).
  std::string ptx;
};

/// Brings `module` to `stage`, in place. Errors are diagnostics of its context.
/// `times` receives each stage's time.
LogicalResult lowerToStage(ModuleOp module, Stage stage,
                           const CompileOptions &options,
                           std::vector<StageTime> *times = nullptr);

/// Compiles a copy of `module` to something that runs. Null on an error, which
/// is a diagnostic of the module's context.
std::unique_ptr<CompiledProgram> compileProgram(ModuleOp module,
                                                const CompileOptions &options);

/// Makes a program of what `CompiledProgram::save` gave, which was compiled
/// with the same options, by this very compiler, for this very processor.
/// Emits its diagnostics again. Null, and the reason in `why`, if the bytes are
/// not such a program.
std::unique_ptr<CompiledProgram> loadProgram(llvm::StringRef bytes,
                                             const CompileOptions &options,
                                             MLIRContext &context,
                                             std::string &why);

/// "file:line:column" of the innermost place in a file that `loc` knows; empty
/// if it knows none.
std::string describePlace(Location loc);

/// The products of the legalized kernels in `module`.
std::vector<ProductReport> collectProducts(ModuleOp module, const Chip &chip);

/// The schedules of a module at stage Schedule, as comments: a line for each
/// product, with its function, its place in the source, and the attribute as a
/// linalg op takes it; one more where partial sums are added atomically.
std::string spellSchedules(ModuleOp module);

/// Registers everything that compiling needs with `context`.
void prepareContext(MLIRContext &context);

} // namespace mlir::tessera

#endif // DRIVER_COMPILER_H
