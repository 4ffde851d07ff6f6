//===- Compile.cpp - The program, compiled or from the cache --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Compile.h"

#include "Driver/Constants.h"
#include "Runtime/InputFile.h"
#include "Target/Backend.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>

using namespace tessera::execution;

/// A variable of the environment; empty if it is not set.
static std::string getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Where programs are kept; empty if they are not.
static std::string getCacheDirectory(const ProgramOptions &options) {
  // Options that print during compilation require a compilation.
  if (options.flags.printIRAfterAll || options.cache == "off")
    return "";
  if (!options.cache.empty())
    return options.cache;
  if (std::string own = getVariable("TESSERA_CACHE_DIR"); !own.empty())
    return own == "off" ? "" : own;
  llvm::SmallString<128> path(getVariable("XDG_CACHE_HOME"));
  // By its specification a relative one does not count.
  if (!llvm::sys::path::is_absolute(path)) {
    if (!llvm::sys::path::home_directory(path))
      return "";
    llvm::sys::path::append(path, ".cache");
  }
  llvm::sys::path::append(path, "tessera");
  return std::string(path);
}

/// Replaces PTX by machine code, which is then loaded now and later. PTX stays
/// where the driver cannot, or would make worse code than it does when it loads
/// PTX: whatever is wrong with it comes out when it is loaded.
static void assemble(compiler::CompiledProgram &program,
                     runtime::Device &device, const Report &report) {
  if (program.image.kind != runtime::KernelImage::PTX)
    return;
  auto start = std::chrono::steady_clock::now();
  runtime::Expected<runtime::KernelImage> assembled =
      device.assemble(program.image);
  if (!assembled.ok()) {
    report.noteOnce("the cache stores PTX, not machine code: " +
                    assembled.status().message());
    return;
  }
  program.image = assembled.take();
  if (program.image.kind == runtime::KernelImage::PTX)
    return;
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  program.times.push_back({"assemble", elapsed.count()});
}

LogicalResult tessera::execution::replaceKernels(
    const ProgramOptions &options, StringRef target,
    compiler::CompiledProgram &program, Report &report) {
  const compiler::TargetBackend *backend = compiler::findBackend(target);
  if (!backend || !backend->getImageKind(""))
    return report.fail(Exit::Usage, "--kernels requires a device target: CPU "
                                    "kernels are part of the program");
  runtime::Expected<std::string> code = runtime::readInputFile(options.kernels);
  if (!code.ok())
    return report.fail(Exit::Usage, "--kernels=" + options.kernels + ": " +
                                        code.status().message());
  program.image.bytes = code.take();
  program.image.kind = *backend->getImageKind(program.image.bytes);
  report.note("the kernels come from " + options.kernels +
              "; reports describe the compiled kernels instead");
  return success();
}

std::unique_ptr<compiler::CompiledProgram> tessera::execution::compile(
    const ProgramOptions &options,
    const compiler::CompileOptions &compileOptions, mlir::ModuleOp module,
    const llvm::MemoryBuffer &source, runtime::Device &device, CacheUse &use,
    Report &report) {
  std::string directory = getCacheDirectory(options);
  auto compileAlone = [&] {
    std::unique_ptr<compiler::CompiledProgram> program =
        compiler::compileProgram(module, compileOptions);
    if (!program)
      (void)report.failDiagnosed("compiling");
    return program;
  };
  if (directory.empty())
    return compileAlone();

  compiler::ProgramCache cache(
      directory,
      options.cacheLimit.value_or(compiler::ProgramCache::defaultLimit));
  if (std::string problem = cache.check(); !problem.empty()) {
    if (!options.cache.empty()) {
      (void)report.fail(Exit::Usage,
                        "--cache=" + options.cache + ": " + problem);
      return nullptr;
    }
    report.warnOnce("cache disabled for this run: " + problem);
    return compileAlone();
  }
  if (runtime::Status status = device.useCache(directory); !status.ok())
    report.noteOnce("cannot cache the driver's compiled kernels: " +
                    status.message());
  auto makeKey = [&](const compiler::CompileOptions &keyOptions) {
    compiler::ProgramKey key(source.getBuffer(), source.getBufferIdentifier());
    key.add(keyOptions);
    key.addEnvironment(keyOptions, device.info());
    key.setSourceParts([&] { return compiler::describeSourceParts(module); });
    return key;
  };
  auto load = [&](compiler::ProgramCache::Lookup &found) {
    std::unique_ptr<compiler::CompiledProgram> program = compiler::loadProgram(
        *found.payload, compileOptions, *module.getContext(), found.why);
    if (program && !compiler::findConstants(*program, module, found.why))
      program = nullptr;
    return program;
  };
  compiler::ProgramKey key = makeKey(compileOptions);
  // Checkpoints make no difference to a program of one kernel.
  std::optional<compiler::ProgramKey> plainKey;
  if (compileOptions.checkpoints) {
    compiler::CompileOptions plain = compileOptions;
    plain.checkpoints = false;
    plainKey = makeKey(plain);
    compiler::ProgramCache::Lookup found = cache.find(*plainKey);
    if (found.payload)
      if (auto program = load(found)) {
        use.key = plainKey->getName();
        use.kind = CacheUse::Hit;
        return program;
      }
  }
  use.key = key.getName();
  compiler::ProgramCache::Lookup found = cache.find(key);
  if (found.payload) {
    if (auto program = load(found)) {
      use.kind = CacheUse::Hit;
      return program;
    }
    found.defect = "the cache entry " + use.key + ": " + found.why;
    found.why = "the cache entry cannot be used: " + found.why;
  }
  use.kind = CacheUse::Miss;
  use.why = found.why;
  use.differences = std::move(found.differences);
  if (!found.defect.empty())
    report.noteOnce(found.defect + "; recompiling");

  std::unique_ptr<compiler::CompiledProgram> program =
      compiler::compileProgram(module, compileOptions);
  if (!program) {
    (void)report.failDiagnosed("compiling");
    return nullptr;
  }
  assemble(*program, device, report);
  compiler::markDerivedConstants(*program, module);
  const compiler::ProgramKey &storeKey =
      plainKey && program->stepCount < 2 ? *plainKey : key;
  use.key = storeKey.getName();
  if (std::string problem = cache.store(storeKey, program->save());
      !problem.empty())
    report.noteOnce("compiled program not stored in the cache: " + problem +
                    "; use --cache=DIR for another folder, or --cache=off");
  return program;
}
