//===- Compiler.cpp - A program, compiled for one target ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Compiler.h"

#include "Checkpoints.h"
#include "DetachKernels.h"
#include "Dialect/Tessera/IR/WindowSchedule.h"

#include "Conversion/FragmentToVector.h"
#include "Conversion/PackedCall.h"
#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/MergedLocations.h"
#include "Dialect/Tessera/Utils/OperandOrder.h"
#include "Graph/Constants.h"
#include "HostCode.h"
#include "NativeCode.h"
#include "PassTrace.h"
#include "Pipelines/Lowering.h"
#include "Pipelines/Pipelines.h"
#include "ProgramConstants.h"
#include "ProgressCounter.h"
#include "SavedProgram.h"
#include "Scheduling/Schedule.h"
#include "Scheduling/TuningTask.h"
#include "Target/Backend.h"
#include "Target/Intel/BlockLoads.h"
#include "Target/Target.h"
#include "TargetInfo/Emulation.h"
#include "TargetInfo/Nearest.h"
#include "TargetInfo/SumBits.h"
#include "TransformScript.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/DebugStringHelper.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace mlir::tessera;

CompiledProgram::~CompiledProgram() = default;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {

/// Measures one stage, and reports its begin.
class StageTimer {
public:
  StageTimer(std::vector<StageTime> *times, const char *stage,
             const CompileOptions &options, ModuleOp module)
      : times(times), stage(stage), start(std::chrono::steady_clock::now()),
        scope(options.trace, "stage", stage) {
    reportStage(options, stage, module);
  }
  ~StageTimer() {
    std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    if (times)
      times->push_back({stage, elapsed.count()});
  }

private:
  std::vector<StageTime> *times;
  const char *stage;
  std::chrono::steady_clock::time_point start;
  runtime::TraceScope scope;
};

} // namespace

static LogicalResult
runPipeline(ModuleOp module, const CompileOptions &options,
            std::vector<StageTime> *times, const char *stage,
            llvm::function_ref<void(OpPassManager &)> build) {
  StageTimer timer(times, stage, options, module);
  PassManager pm(module.getContext());
  if (options.progress)
    pm.addInstrumentation(createProgressCounter(options, stage, module));
  if (options.trace)
    pm.addInstrumentation(createPassTrace(*options.trace));
  if (options.flags.printIRAfterAll)
    pm.enableIRPrinting([](Pass *, Operation *) { return false; },
                        [](Pass *, Operation *) { return true; },
                        /*printModuleScope=*/false,
                        /*printAfterOnlyOnChange=*/true);
  build(pm);
  return pm.run(module);
}

/// Runs one of the lowering pipelines.
static LogicalResult
runLowering(ModuleOp module, const CompileOptions &options,
            std::vector<StageTime> *times, const char *stage,
            void (*build)(OpPassManager &, const CompileFlags &)) {
  return runPipeline(module, options, times, stage,
                     [&](OpPassManager &pm) { build(pm, options.flags); });
}

/// Runs one of the lowering pipelines that are the target's.
static LogicalResult
runLowering(ModuleOp module, const CompileOptions &options,
            std::vector<StageTime> *times, const char *stage,
            void (*build)(OpPassManager &, const TargetBackend &,
                          const CompileFlags &)) {
  const TargetBackend *backend = findBackend(options.target);
  if (!backend)
    return module.emitError() << "unknown target '" << options.target << "'";
  return runPipeline(module, options, times, stage, [&](OpPassManager &pm) {
    build(pm, *backend, options.flags);
  });
}

/// Puts calls that are directly in the body of a kernel into a region of their
/// own: the dialect of the kernel does not let functions become part of it, and
/// canonicalization removes the region afterwards.
static void nestCalls(gpu::GPUModuleOp kernels) {
  SmallVector<func::CallOp> calls;
  kernels.walk([&](func::CallOp call) {
    if (isa<gpu::GPUFuncOp>(call->getParentOp()))
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    OpBuilder builder(call);
    auto region = scf::ExecuteRegionOp::create(builder, call.getLoc(),
                                               call.getResultTypes());
    call->replaceAllUsesWith(region);
    Block *block = builder.createBlock(&region.getRegion());
    call->moveBefore(block, block->end());
    builder.setInsertionPointToEnd(block);
    scf::YieldOp::create(builder, call.getLoc(), call.getResults());
  }
}

/// Lowers a module with schedules to stage Tessera. Where kernels cannot
/// call functions, these become part of them.
static LogicalResult lowerToTessera(ModuleOp module,
                                    const CompileOptions &options,
                                    std::vector<StageTime> *times) {
  if (failed(runLowering(module, options, times, "tessera",
                         buildOutliningPipeline)))
    return failure();
  const TargetBackend *backend = findBackend(options.target);
  if (!backend || backend->hasCalls())
    return success();
  bool hasFunctions = false;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto function : kernels.getOps<func::FuncOp>()) {
      // So that it goes with its last call.
      function.setPrivate();
      hasFunctions = true;
    }
  if (!hasFunctions)
    return success();
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    nestCalls(kernels);
  return runPipeline(module, options, /*times=*/nullptr, "inline",
                     [](OpPassManager &pm) {
                       OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
                       // Without passes in between, which would undo that.
                       kernels.addPass(createInlinerPass(
                           /*opPipelines=*/{}, [](OpPassManager &) {}));
                       kernels.addPass(createCanonicalizerPass());
                     });
}

static LogicalResult lowerToSchedule(ModuleOp module,
                                     const CompileOptions &options,
                                     std::vector<StageTime> *times,
                                     bool tasksOnly = false,
                                     ProgramSteps *steps = nullptr) {
  attachTunedSchedules(module, options.tuned.get(),
                       getChipTarget(options.target),
                       getChipOrDefault(options.target, options.chip));
  if (hasTransformScript(module)) {
    StageTimer timer(times, "transform", options, module);
    if (failed(runTransformScript(module)))
      return failure();
  }
  LogicalResult result =
      runPipeline(module, options, times, "schedule", [&](OpPassManager &pm) {
        pm.addPass(createTesseraSerializeAsync());
        if (options.flags.matrixLayout == MatrixLayout::RowMajor)
          pm.addPass(createTesseraUseRowMajorMatrices());
        pm.addPass(createTesseraInlineKernels());
        pm.addPass(createTesseraExpandKernelLinalg());
        pm.addPass(createConvertSubgroupMmaToTessera());
        pm.addPass(createConvertXeGPUToTessera());
        pm.addPass(createConvertLaneMatmulToTessera());
        buildLinalgToTasksPipeline(pm, options.flags);
        if (steps)
          pm.addPass(createFindSteps(*steps, options.checkpoints));
        if (!tasksOnly)
          buildTasksToTesseraPipeline(pm, options.flags);
      });
  // The passes have applied the tuned schedules; the results stay on the ops.
  module->removeAttr(TesseraDialect::TunedAttrHelper::getNameStr());
  module->removeAttr(TesseraDialect::TunedSourceAttrHelper::getNameStr());
  return result;
}

LogicalResult mlir::tessera::lowerToStage(ModuleOp module, Stage stage,
                                          const CompileOptions &options,
                                          std::vector<StageTime> *times) {
  ProgressEnd end(options);
  FailureOr<const Chip *> chip =
      findChipOrError(module, options.target, options.chip);
  if (failed(chip))
    return failure();
  attachChip(module, **chip);
  if (failed(checkLdsCopies(module, **chip, options.flags)) ||
      failed(lowerToSchedule(module, options, times, stage == Stage::Tasks)))
    return failure();
  if (stage == Stage::Tasks || stage == Stage::Schedule)
    return success();
  if (failed(lowerToTessera(module, options, times)))
    return failure();
  if (stage == Stage::Tessera)
    return success();
  if (failed(runLowering(module, options, times, "legalize",
                         buildLegalizationPipeline)))
    return failure();
  if (stage == Stage::Legalized)
    return success();
  if (failed(
          runLowering(module, options, times, "vendor", buildVendorPipeline)))
    return failure();
  if (stage == Stage::Vendor)
    return success();
  return runLowering(module, options, times, "llvm", buildKernelToLLVMPipeline);
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string mlir::tessera::describeLocation(Location loc) {
  std::string text;
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
               .str();
  return text;
}

std::string mlir::tessera::formatSchedules(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.walk([&](Operation *op) {
    StringRef name = TesseraDialect::ScheduleAttrHelper::getNameStr();
    Attribute schedule = op->getAttr(name);
    if (!schedule) {
      name = windowScheduleName;
      schedule = op->getAttr(name);
    }
    if (!schedule)
      return;
    os << "//";
    if (auto function = op->getParentOfType<func::FuncOp>())
      os << " " << function.getName();
    if (std::string location = describeLocation(op->getLoc());
        !location.empty())
      os << ", " << location;
    os << ": " << name << " = " << schedule << "\n";
    if (auto ofMatmul = dyn_cast<ScheduleAttr>(schedule);
        ofMatmul && ofMatmul.addsAtomically())
      os << "//   partial sums are added atomically, in any order: a rounded "
            "result may differ from run to run\n";
  });
  return text;
}

/// Reports the requirements of a better instruction than `row` would need.
static void reportNearest(const Chip &chip, const MatmulForm &form,
                          const MatrixInstruction *row, bool isScheduled,
                          MatmulReport &report) {
  std::optional<NearestMatmul> nearest = findNearestMatmul(chip, form, row);
  if (!nearest)
    return;
  report.nearest = nearest->row->name;
  report.nearestNeeds = nearest->changes;
  if (nearest->shape.empty())
    return;
  std::string shape = nearest->shape;
  // Fragments are the schedule's, and chosen for the instruction.
  if (isScheduled && !nearest->changes.empty() &&
      nearest->form.subgroups == form.subgroups)
    shape += ", as the default schedule chooses";
  report.nearestNeeds.push_back(std::move(shape));
}

/// Adds a report for each location of a matmul: equal kernels are compiled
/// once. `isUnique`: unless there is one of that kernel, location and type.
static void addReports(const MatmulReport &report, Location loc, bool isUnique,
                       std::vector<MatmulReport> &reports) {
  for (Location part : getMergedLocations(loc)) {
    MatmulReport own = report;
    own.location = describeLocation(part);
    auto isKnown = [&](const MatmulReport &other) {
      return other.kernel == own.kernel && other.types == own.types &&
             other.location == own.location;
    };
    if (!isUnique || llvm::none_of(reports, isKnown))
      reports.push_back(std::move(own));
  }
}

std::vector<MatmulReport> mlir::tessera::collectMatmuls(ModuleOp module,
                                                        const Chip &chip) {
  std::vector<MatmulReport> reports;
  auto schedules = module->getAttrOfType<DictionaryAttr>(
      TesseraDialect::SchedulesAttrHelper::getNameStr());
  module.walk([&](MmaOp op) {
    FragmentType a = op.getA().getType(), b = op.getB().getType(),
                 acc = op.getAcc().getType();
    MatmulReport report;
    if (auto kernel = op->getParentOfType<gpu::GPUFuncOp>())
      report.kernel = kernel.getName().str();
    llvm::raw_string_ostream(report.types)
        << acc.getRows() << "x" << acc.getCols() << "x" << a.getCols() << " "
        << a.getElementType() << " x " << b.getElementType() << " -> "
        << acc.getElementType();
    llvm::SmallVector<std::string> rejected;
    const MatrixInstruction *row = selectInstruction(
        chip, a.getElementType(), b.getElementType(), acc.getElementType(),
        op.getPrecision(), acc.getRows(), acc.getCols(), a.getCols(), &rejected,
        getFragmentGroup(op), hasMemoryOperandA(op, chip),
        op.getUnsignedA() || op.getUnsignedB());
    // The instruction that legalization chose, if it has run.
    if (auto chosen = op->getAttrOfType<StringAttr>(
            TesseraDialect::InstructionAttrHelper::getNameStr()))
      row = chip.findInstruction(chosen.getValue());
    report.instruction = row ? row->name : "none";
    report.matrixUnit = row && row->matrixUnit;
    if (row) {
      report.unitBits = findSumBits(*row);
      report.unitLength = row->sumsApart(op.getPrecision()) ? maxFewBits : 0;
    }
    report.rejected.assign(rejected.begin(), rejected.end());
    if (op->hasAttr(TesseraDialect::WidenedAttrHelper::getNameStr()))
      report.rejected.push_back("i4 x i4: no instruction on " + chip.name +
                                " accepts these fragment shapes; operands were "
                                "widened to i8 in registers");
    if (chip.blockLoads && report.matrixUnit)
      for (auto [operand, name] :
           {std::pair(op.getA(), "a"), std::pair(op.getB(), "b")})
        if (auto load = operand.getDefiningOp<LoadOp>())
          report.loads.push_back(
              (name + Twine(": ") + describeLoad(chip, load)).str());
    report.rateType =
        row && row->tf32 ? "tf32" : debugString(a.getElementType());
    reportNearest(
        chip,
        {debugString(a.getElementType()), debugString(b.getElementType()),
         debugString(acc.getElementType()), op.getPrecision(), acc.getRows(),
         acc.getCols(), a.getCols(), getFragmentGroup(op),
         hasMemoryOperandA(op, chip), op.getUnsignedA() || op.getUnsignedB()},
        row, schedules && schedules.contains(report.kernel), report);
    // Virtual threads and unrolling repeat a matmul; one line for each
    // suffices.
    addReports(report, op.getLoc(), /*isUnique=*/true, reports);
  });
  // Matmuls that are not computed by fragments.
  auto matmuls = module->getAttrOfType<DictionaryAttr>(
      TesseraDialect::PlainMatmulsAttrHelper::getNameStr());
  for (NamedAttribute entry :
       matmuls ? matmuls.getValue() : ArrayRef<NamedAttribute>()) {
    auto matmul = cast<PlainMatmulAttr>(entry.getValue());
    MatmulReport report;
    report.kernel = entry.getName().str();
    report.types = matmul.describe();
    report.instruction = matmul.getHow().str();
    report.matrixUnit = false;
    report.plainThreads = true;
    report.rateType = debugString(matmul.getAType());
    auto isOfType =
        [a = report.rateType, b = debugString(matmul.getBType()),
         acc = debugString(matmul.getAccType())](const MatrixInstruction &row) {
          return row.matrixUnit && !row.tf32 && row.aType == a &&
                 row.bType == b && row.accType == acc;
        };
    // The schedule decides which instruction that is.
    if (llvm::any_of(chip.instructions, isOfType)) {
      report.nearest = "the matrix unit";
      report.nearestNeeds = {"--require-mma, which pads rows or columns"};
    }
    Location loc = UnknownLoc::get(module.getContext());
    module.walk([&](gpu::GPUFuncOp kernel) {
      if (kernel.getName() == entry.getName().getValue())
        loc = kernel.getLoc();
    });
    addReports(report, loc, /*isUnique=*/false, reports);
  }
  return reports;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

class JitProgram : public CompiledProgram {
public:
  explicit JitProgram(std::unique_ptr<HostCode> code) : code(std::move(code)) {}
  void (*getEntry(llvm::StringRef name))(void **) override {
    return reinterpret_cast<void (*)(void **)>(
        code->lookup(getPackedName(name)));
  }
  HostCode &getCode() { return *code; }
  std::string save() override {
    SavedProgram saved;
    saved.kernels = kernels;
    saved.matmuls = matmuls;
    saved.diagnostics = diagnostics;
    saved.ptx = ptx;
    saved.stepCount = stepCount;
    saved.steps = steps;
    // All fields of the image: one that is added does not compile here.
    const auto &[kind, name, bytes, functions] = image;
    saved.imageKind = kind;
    saved.imageName = name;
    // PTX is not kept twice.
    if (kind != runtime::KernelImage::PTX)
      saved.imageBytes = bytes;
    for (const auto &function : functions)
      saved.functions.push_back(function.first);
    saved.objects = code->getObjects();
    saved.constants = constants;
    saved.derived = derivedConstants;
    for (int64_t number : derivedConstants)
      saved.derivedContents.emplace_back(
          constants[static_cast<size_t>(number)].bytes);
    saved.loader = loader;
    return writeProgram(saved);
  }

  FailureOr<std::string> linkHost(Operation *op,
                                  std::vector<std::string> &imports) override {
    return linkHostLibrary(op, code->getObjects(), code->getMachine(), imports);
  }

  /// Fills in the addresses of the CPU's kernels. Returns the name of one that
  /// has none, else nothing.
  std::string findKernels(ArrayRef<std::string> names) {
    for (const std::string &name : names) {
      void *address = code->lookup(getPackedName(name));
      if (!address)
        return name;
      image.functions.push_back({name, address});
    }
    return "";
  }

private:
  std::unique_ptr<HostCode> code;
};

} // namespace

/// The chip of the host's half of a program for `options`.
static const Chip *getHostChipFor(const CompileOptions &options,
                                  const Chip *chip) {
  bool isHost = isHostTarget(options.target);
  if (isHost && (!chip || !isEmulated(*chip)))
    return chip;
  return findHostChip(options.portableHost && !isHost ? "generic"
                                                      : getHostChip());
}

/// Erases the functions that `entry` does not reach, which may be private.
static LogicalResult keepReachable(ModuleOp module, StringRef entry) {
  for (auto function : module.getOps<func::FuncOp>())
    function.setVisibility(function.getName() == entry
                               ? SymbolTable::Visibility::Public
                               : SymbolTable::Visibility::Private);
  PassManager pm(module.getContext());
  pm.addPass(createSymbolDCEPass());
  return pm.run(module);
}

/// Warns about memory that the program uses in ways that are not defined. The
/// passes that follow change where it is used.
static LogicalResult checkMemory(ModuleOp module) {
  PassManager pm(module.getContext());
  pm.addPass(createTesseraCheckMemory());
  return pm.run(module);
}

/// Generates the kernels' code of `module` as `program`'s image. Gives the
/// names of the functions that are the host's.
static FailureOr<std::vector<std::string>>
compileKernels(ModuleOp module, const Chip &chip, const CompileOptions &options,
               JitProgram &program) {
  const TargetBackend *backend = findBackend(options.target);
  if (!backend)
    return module.emitError() << "unknown target '" << options.target << "'";
  KernelCode code;
  code.useAssembler = options.flags.usePtxas;
  code.validate = options.flags.validate;
  code.startStage = [&](const char *stage) -> std::shared_ptr<void> {
    return std::make_shared<StageTimer>(&program.times, stage, options, module);
  };
  code.getWorkgroupBytes = [&](StringRef name) -> int64_t {
    for (const KernelReport &report : program.kernels)
      if (report.name == name)
        return report.workgroupBytes;
    return 0;
  };
  code.report = [&](StringRef name, const CodeReport &taken) {
    for (KernelReport &report : program.kernels)
      if (report.name == name)
        report.code = taken;
  };
  code.addToHost = [&](ModuleOp kernels) {
    return program.getCode().add(kernels, /*areKernels=*/true);
  };
  if (failed(backend->compileKernels(module, chip, code)))
    return failure();
  program.image = std::move(code.image);
  program.image.name = "program";
  program.ptx = std::move(code.text);
  return std::move(code.hostFunctions);
}

std::unique_ptr<CompiledProgram>
mlir::tessera::compileProgram(ModuleOp source, const CompileOptions &options) {
  ProgressEnd end(options);
  FailureOr<const Chip *> found =
      findChipOrError(source, options.target, options.chip);
  if (failed(found))
    return nullptr;
  const Chip &chip = **found;
  std::string why;
  std::unique_ptr<HostCode> code = HostCode::create(
      *getHostChipFor(options, &chip), options.portableHost, why);
  if (!code) {
    source.emitError() << why;
    return nullptr;
  }
  auto program = std::make_unique<JitProgram>(std::move(code));
  std::vector<StageTime> *times = &program->times;
  ScopedDiagnosticHandler recorder(
      source.getContext(), [&](Diagnostic &diagnostic) {
        program->diagnostics.push_back(recordDiagnostic(diagnostic));
        return failure(); // For printing.
      });

  if (failed(checkNames(source)))
    return nullptr;
  OwningOpRef<ModuleOp> module(source.clone());
  attachChip(*module, chip);
  if ((!options.entry.empty() &&
       failed(keepReachable(*module, options.entry))) ||
      failed(checkMemory(*module)))
    return nullptr;
  ProgramSteps steps;
  if (failed(lowerToSchedule(*module, options, times, /*tasksOnly=*/false,
                             &steps)) ||
      failed(lowerToTessera(*module, options, times)) ||
      failed(runLowering(*module, options, times, "legalize",
                         buildLegalizationPipeline)))
    return nullptr;
  program->stepCount = static_cast<int64_t>(steps.count);
  program->steps = std::move(steps.functions);
  program->matmuls = collectMatmuls(*module, chip);
  if (failed(
          runLowering(*module, options, times, "vendor", buildVendorPipeline)))
    return nullptr;
  auto schedules = (*module)->getAttrOfType<DictionaryAttr>(
      TesseraDialect::SchedulesAttrHelper::getNameStr());
  auto origins = (*module)->getAttrOfType<DictionaryAttr>(
      TesseraDialect::ScheduleOriginsAttrHelper::getNameStr());
  auto predictions = (*module)->getAttrOfType<DictionaryAttr>(
      TesseraDialect::SchedulePredictionsAttrHelper::getNameStr());
  auto packings = (*module)->getAttrOfType<DictionaryAttr>(
      TesseraDialect::PackingsAttrHelper::getNameStr());
  module->walk([&](gpu::LaunchFuncOp launch) {
    KernelReport report;
    report.name = launch.getKernelName().getValue().str();
    report.location = describeLocation(launch.getLoc());
    if (Attribute schedule =
            schedules ? schedules.get(report.name) : Attribute()) {
      llvm::raw_string_ostream(report.schedule) << schedule;
      auto ofMatmul = dyn_cast<ScheduleAttr>(schedule);
      report.addsAtomically = ofMatmul && ofMatmul.addsAtomically();
    }
    if (auto origin =
            origins ? origins.getAs<StringAttr>(report.name) : StringAttr())
      report.scheduleOrigin = origin.getValue().str();
    if (auto prediction = predictions
                              ? predictions.getAs<StringAttr>(report.name)
                              : StringAttr())
      report.prediction = prediction.getValue().str();
    if (auto packing =
            packings ? packings.getAs<StringAttr>(report.name) : StringAttr())
      report.purpose = packing.getValue().str();
    if (auto function = launch->getParentOfType<func::FuncOp>();
        function && function.getName() == loaderName)
      report.purpose += (report.purpose.empty() ? "" : "; ") +
                        std::string("runs once, when the program is loaded");
    if (Operation *kernel = SymbolTable::lookupNearestSymbolFrom(
            launch, launch.getKernelAttr())) {
      if (auto bytes = kernel->getAttrOfType<IntegerAttr>(
              TesseraDialect::WorkgroupBytesAttrHelper::getNameStr()))
        report.workgroupBytes = bytes.getInt();
      if (auto copies = kernel->getAttrOfType<StringAttr>(
              TesseraDialect::CopiesAttrHelper::getNameStr()))
        report.copies = copies.getValue().str();
    }
    for (const KernelReport &other : program->kernels)
      if (other.name == report.name)
        return;
    program->kernels.push_back(std::move(report));
  });
  if (failed(runLowering(*module, options, times, "llvm",
                         buildKernelToLLVMPipeline)))
    return nullptr;

  // Kernels,
  OwningOpRef<ModuleOp> kernels = detachKernels(*module);
  FailureOr<std::vector<std::string>> names =
      compileKernels(*kernels, chip, options, *program);
  if (failed(names))
    return nullptr;

  // then what launches them.
  program->constants = numberConstants(*module);
  if (module->lookupSymbol<func::FuncOp>(loaderName))
    program->loader = loaderName.str();
  if (failed(
          runPipeline(*module, options, times, "host", [&](OpPassManager &pm) {
            buildHostToLLVMPipeline(pm, *findBackend(options.target),
                                    /*isPlanned=*/options.portableHost);
          })))
    return nullptr;
  StageTimer timer(times, "jit", options, *module);
  if (failed(program->getCode().add(*module, /*areKernels=*/false)))
    return nullptr;
  if (std::string name = program->findKernels(*names); !name.empty()) {
    source.emitError() << "cannot generate code for the kernel '" << name
                       << "': " << program->getCode().getLinkError();
    return nullptr;
  }
  return program;
}

std::unique_ptr<CompiledProgram>
mlir::tessera::loadProgram(const runtime::InputBytes &bytes,
                           const CompileOptions &options, MLIRContext &context,
                           std::string &why) {
  auto start = std::chrono::steady_clock::now();
  SavedProgram saved;
  if (!readProgram(bytes.bytes, saved)) {
    why = "does not contain a program";
    return nullptr;
  }
  if (options.checkpoints && saved.stepCount > 1 && saved.steps.empty()) {
    why = "its host code has no checkpoints";
    return nullptr;
  }
  const Chip *hostChip =
      getHostChipFor(options, findChip(options.target, options.chip));
  if (!hostChip) {
    why = "unknown chip '" + options.chip + "'";
    return nullptr;
  }
  std::unique_ptr<HostCode> code =
      HostCode::create(*hostChip, options.portableHost, why);
  if (!code)
    return nullptr;
  for (std::string &object : saved.objects)
    if (!code->addObject(std::move(object), why))
      return nullptr;
  auto program = std::make_unique<JitProgram>(std::move(code));
  program->kernels = std::move(saved.kernels);
  program->matmuls = std::move(saved.matmuls);
  program->diagnostics = std::move(saved.diagnostics);
  program->ptx = std::move(saved.ptx);
  program->constants = std::move(saved.constants);
  if (!takeDerivedConstants(saved, *program, bytes.owner)) {
    why = "its derived constants are not what its code asks for";
    return nullptr;
  }
  program->loader = std::move(saved.loader);
  program->stepCount = saved.stepCount;
  program->steps = std::move(saved.steps);
  runtime::KernelImage &image = program->image;
  image.kind = static_cast<runtime::KernelImage::Kind>(saved.imageKind);
  image.name = std::move(saved.imageName);
  image.bytes = image.kind == runtime::KernelImage::PTX
                    ? program->ptx
                    : std::move(saved.imageBytes);
  if (std::string name = program->findKernels(saved.functions); !name.empty()) {
    why = "cannot link its kernel '" + name + "'";
    return nullptr;
  }
  if (!options.entry.empty() && !program->getEntry(options.entry)) {
    why = "cannot link its entry point '" + options.entry + "'";
    return nullptr;
  }
  if (!program->loader.empty() && !program->getEntry(program->loader)) {
    why = "cannot link its function '" + program->loader + "'";
    return nullptr;
  }
  for (const DiagnosticReport &diagnostic : program->diagnostics)
    replayDiagnostic(diagnostic, context);
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  program->times.push_back({"load", elapsed.count()});
  return program;
}
