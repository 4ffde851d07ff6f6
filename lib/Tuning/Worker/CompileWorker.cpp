//===- CompileWorker.cpp - The process that compiles candidates -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only request is `compile`: a task's program (once; later by its key), the
// target, the flags that change its code, and a schedule, empty for the
// compiler's own choice. It answers
// `compiled` with the bundle, or with the error.
//
//===----------------------------------------------------------------------===//

#include "Tuning/Worker/Workers.h"

#include "Driver/Bundler.h"
#include "Scheduling/TuningTask.h"
#include "Target/Backend.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <chrono>
#include <map>

using namespace tessera::tuning;
namespace json = llvm::json;
namespace compiler = mlir::tessera;
namespace runtime = ::tessera::runtime;

namespace {

class CompileWorker {
public:
  explicit CompileWorker(Channel channel) : channel(std::move(channel)) {
    compiler::prepareContext(context);
    // There are as many workers as cores.
    context.disableMultithreading();
    context.printOpOnDiagnostic(false);
  }

  void run();

private:
  std::string compile(const json::Object &head, Message &reply);

  Channel channel;
  mlir::MLIRContext context;
  std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> programs;
};

} // namespace

/// The schedule that the kernels of a task have of its op, which those that add
/// up parts of it have not. Empty if they have none, or several, as the parts
/// of a matmul that is split for whole waves.
static std::string findChosen(mlir::ModuleOp program,
                              llvm::ArrayRef<compiler::KernelReport> kernels) {
  mlir::Operation *task = nullptr;
  program.walk([&](mlir::Operation *op) {
    if (compiler::isTuningTask(op))
      task = op;
  });
  std::string chosen;
  for (const compiler::KernelReport &kernel : kernels) {
    if (!task || kernel.schedule.empty() ||
        !compiler::isTaskSchedule(
            task, mlir::parseAttribute(kernel.schedule, program.getContext())))
      continue;
    if (!chosen.empty() && chosen != kernel.schedule)
      return "";
    chosen = kernel.schedule;
  }
  return chosen;
}

/// Returns the error, or nothing.
std::string CompileWorker::compile(const json::Object &head, Message &reply) {
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (diagnostics.empty() &&
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          diagnostics = diagnostic.str();
        return mlir::success();
      });
  mlir::OwningOpRef<mlir::ModuleOp> &program = programs[getText(head, "task")];
  if (!program)
    program = mlir::parseSourceString<mlir::ModuleOp>(getText(head, "program"),
                                                      &context);
  if (!program)
    return "the task's program cannot be read: " + diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module(program->clone());
  std::string text = getText(head, "schedule");
  if (!text.empty()) {
    mlir::Attribute schedule = mlir::parseAttribute(text, &context);
    bool isSet = schedule != nullptr;
    module->walk([&](mlir::Operation *op) {
      if (isSet && compiler::isTuningTask(op))
        isSet = compiler::setTaskSchedule(op, schedule);
    });
    if (!isSet)
      return "invalid schedule: " + text;
  }
  compiler::CompileOptions options;
  options.entry = "main";
  if (std::string why =
          compiler::parseFlags(getText(head, "flags"), options.flags);
      !why.empty())
    return "invalid flags: " + why;
  // Nothing but the schedule at hand, or the compiler's own choice.
  options.tuned = std::make_shared<compiler::TunedSchedules>();
  // Without a device, the assembler reports spills.
  const compiler::TargetBackend *backend =
      compiler::findBackend(getText(head, "target"));
  options.flags.usePtxas = head.getBoolean("ptxas").value_or(false) &&
                           backend && backend->hasAssembler();
  compiler::TargetChip target;
  target.name = getText(head, "target");
  target.chip = getText(head, "chip");
  std::vector<compiler::KernelReport> kernels;
  mlir::FailureOr<runtime::Bundle> bundle = compiler::compileBundle(
      *module, options, target, /*source=*/"", /*file=*/"", &kernels);
  if (failed(bundle))
    return diagnostics.empty() ? "the compiler did not report a reason"
                               : diagnostics;
  for (const compiler::KernelReport &kernel : kernels) {
    int64_t spills = kernel.code.vectorSpills + kernel.code.scalarSpills;
    if (spills > 0)
      reply.head["spills"] = kernel.name + " keeps " + std::to_string(spills) +
                             " registers in memory";
  }
  reply.head["chosen"] = findChosen(*program, kernels);
  reply.bytes = runtime::writeBundle(*bundle);
  return "";
}

void CompileWorker::run() {
  while (std::optional<Message> message = channel.receive()) {
    auto start = std::chrono::steady_clock::now();
    Message reply;
    std::string error = compile(message->head, reply);
    std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    reply.head["op"] = "compiled";
    reply.head["id"] = message->head.getInteger("id").value_or(0);
    reply.head["error"] = error;
    reply.head["ms"] = elapsed.count();
    if (!channel.send(reply))
      break;
  }
}

void tessera::tuning::runCompileWorker(Channel channel) {
  CompileWorker(std::move(channel)).run();
}
