//===- ProgramFuzzer.cpp - Texts that may be programs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For libFuzzer: parses a text, verifies it, compiles it for the CPU and, if it
// is harmless, runs each entry point. Errors must be diagnostics. A harmless
// program has arguments and results of at most `maxElements` elements each and
// cannot access memory outside of its arrays: it consists of ops on tensors and
// whole memrefs, without integer divisions, loops and branches. It runs in a
// separate process, which is killed after `secondsToRun`, since termination
// cannot be decided.
//
// TESSERA_FUZZ_FILE=PATH stores the last input that was run, in case libFuzzer
// does not notice the end of the process.
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"

#include "Driver/Bundler.h"
#include "Driver/Compiler.h"
#include "Driver/ParseProgram.h"
#include "Driver/TargetList.h"
#include "Pipelines/Registration.h"
#include "Runtime/Executable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace compiler = mlir::tessera;
namespace runtime = ::tessera::runtime;

namespace {

constexpr int64_t maxElements = 4096;
constexpr unsigned secondsToRun = 20;

/// How far inputs have come.
struct Counts {
  uint64_t inputs = 0, parsed = 0, compiled = 0, run = 0, ended = 0,
           rejected = 0;

  ~Counts() {
    std::fprintf(stderr,
                 "program-fuzzer: %llu inputs, of which %llu parsed, %llu "
                 "compiled; %llu entries run, %llu gave an error, %llu ended "
                 "after %u s\n",
                 static_cast<unsigned long long>(inputs),
                 static_cast<unsigned long long>(parsed),
                 static_cast<unsigned long long>(compiled),
                 static_cast<unsigned long long>(run),
                 static_cast<unsigned long long>(rejected),
                 static_cast<unsigned long long>(ended), secondsToRun);
  }
} counts;

} // namespace

/// Whether nothing in the module can leave an array or fault by itself.
static bool isHarmless(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace(),
              name = op->getName().getStringRef();
    if (dialect == "builtin" || dialect == "linalg" || dialect == "math" ||
        dialect == "func")
      return WalkResult::advance();
    if (dialect == "arith")
      return name.contains("div") || name.contains("rem")
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    for (const char *known :
         {"tensor.empty", "tensor.cast", "tensor.expand_shape",
          "tensor.collapse_shape", "tensor.pad", "tensor.yield", "memref.alloc",
          "memref.dealloc"})
      if (name == known)
        return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// The elements of an array; -1 where they are too many to run with, or open.
static int64_t countElements(const runtime::Slot &slot) {
  int64_t elements = 1;
  for (int64_t size : slot.shape)
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements) ||
        elements > maxElements)
      return -1;
  return elements;
}

/// Runs an entry on small numbers, in a process of its own.
static void runEntry(const runtime::Bundle &bundle,
                     const runtime::Signature &entry) {
  for (const auto *slots : {&entry.arguments, &entry.results})
    for (const runtime::Slot &slot : *slots)
      if (countElements(slot) < 0)
        return;
  std::fflush(nullptr);
  pid_t child = fork();
  if (child < 0)
    return;
  if (child == 0) {
    alarm(secondsToRun);
    // It shares libFuzzer's handlers, which would write files.
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
      std::signal(number, SIG_DFL);
    auto device = runtime::openDevice("cpu");
    if (!device.ok())
      _exit(2);
    auto executable = runtime::Executable::create(bundle, entry.name, **device);
    if (!executable.ok())
      _exit(1);
    std::vector<std::vector<uint8_t>> memory;
    std::vector<runtime::Operand> operands;
    for (const runtime::Slot &slot : entry.arguments) {
      // No NaN in any type, and small as an integer and as an index.
      size_t bytes = slot.isBuffer()
                         ? (static_cast<size_t>(countElements(slot)) *
                                runtime::elementBits(slot.element) +
                            7) /
                               8
                         : runtime::elementBytes(slot.element);
      memory.emplace_back(std::max<size_t>(bytes, 1), 0);
      for (size_t i = 0; i < bytes; i += 8)
        memory.back()[i] =
            slot.element == runtime::ElementType::I1 ? i % 16 / 8 : i % 7;
      operands.push_back(
          {runtime::MemoryKind::Host, memory.back().data(), nullptr, nullptr});
    }
    std::vector<runtime::CallResult> results;
    _exit((*executable)->run(operands, results).ok() ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ++counts.run;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    ++counts.ended;
  else if (WIFSIGNALED(status) || WEXITSTATUS(status) > 1) {
    std::fprintf(stderr,
                 "entry '%s': the process that runs it ended by %s %d\n",
                 entry.name.c_str(), WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    std::abort();
  } else if (WEXITSTATUS(status) == 1)
    ++counts.rejected;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ++counts.inputs;
  std::string text(reinterpret_cast<const char *>(data), size);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  compiler::prepareContext(context);
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "fuzz"),
                             llvm::SMLoc());
  OwningOpRef<ModuleOp> module = compiler::parseProgram(sources, context);
  if (!module)
    return 0;
  ++counts.parsed;
  if (const char *path = std::getenv("TESSERA_FUZZ_FILE"))
    if (std::FILE *file = std::fopen(path, "w")) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fclose(file);
    }
  bool harmless = isHarmless(*module);
  std::string why;
  std::vector<compiler::TargetChip> targets =
      compiler::parseTargetList("cpu:x86-64-avx2", why);
  FailureOr<runtime::Bundle> bundle =
      compiler::compileBundle(*module, {}, targets, "", "");
  if (failed(bundle))
    return 0;
  ++counts.compiled;
  if (harmless)
    for (const runtime::Signature &entry : bundle->variants.front().entries)
      runEntry(*bundle, entry);
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  // Bytes now and then, for the parser's sake.
  if (seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text = ::tessera::fuzz::mutateText(
      {reinterpret_cast<const char *>(data), size}, seed);
  text.resize(std::min(text.size(), maxSize));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
