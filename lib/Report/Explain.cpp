//===- Explain.cpp - Explanation of compiled code -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Explain.h"
#include "Report/Roofline.h"

#include "Target/Backend.h"
#include "TargetInfo/Emulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace tessera::execution;
using llvm::json::fixUTF8;

/// "4x2x1".
static std::string formatDims(const int64_t *dims) {
  return std::to_string(dims[0]) + "x" + std::to_string(dims[1]) + "x" +
         std::to_string(dims[2]);
}

static void explainMatmul(const compiler::MatmulReport &matmul,
                          const compiler::Chip &chip, llvm::raw_ostream &os) {
  os << "matmul " << matmul.types << " in kernel " << matmul.kernel;
  if (!matmul.location.empty())
    os << " (" << matmul.location << ")";
  os << "\n  " << matmul.instruction;
  if (matmul.matrixUnit)
    os << (compiler::isEmulated(chip) ? ", emulated by its lane maps\n"
                                      : ", on the matrix unit\n");
  else if (matmul.plainThreads)
    os << "\n";
  else if (!chip.hasLanes())
    os << ", vectors of the CPU\n";
  else
    os << (StringRef(matmul.instruction).starts_with("dot")
               ? ": dot products within each lane, no matrix unit\n"
               : ": computed by scalar FMAs, no matrix unit\n");
  if (matmul.unitBits) {
    os << "  the matrix unit keeps " << matmul.unitBits << " bits of a sum";
    if (matmul.unitLength)
      os << ", which are added to the accumulator after each "
         << matmul.unitLength << " products";
    os << "\n";
  }
  for (StringRef line : matmul.rejected)
    os << "  rejected: " << line << "\n";
  for (StringRef line : matmul.loads)
    os << "  " << line << "\n";
  if (!matmul.nearest.empty())
    os << "  nearest: " << matmul.nearest << ", which needs "
       << llvm::join(matmul.nearestNeeds, " and ") << "\n";
}

static llvm::json::Object describe(const compiler::MatmulReport &matmul) {
  // Names and locations are the program's, in any encoding.
  auto list = [](ArrayRef<std::string> lines) {
    llvm::json::Array array;
    for (StringRef line : lines)
      array.push_back(fixUTF8(line));
    return array;
  };
  llvm::json::Value nearest = nullptr;
  if (!matmul.nearest.empty())
    nearest = llvm::json::Object{{"instruction", fixUTF8(matmul.nearest)},
                                 {"needs", list(matmul.nearestNeeds)}};
  return llvm::json::Object{{"kernel", fixUTF8(matmul.kernel)},
                            {"product", fixUTF8(matmul.types)},
                            {"instruction", fixUTF8(matmul.instruction)},
                            {"matrix_unit", matmul.matrixUnit},
                            {"sum_bits", matmul.unitBits},
                            {"sum_length", matmul.unitLength},
                            {"location", fixUTF8(matmul.location)},
                            {"rejected", list(matmul.rejected)},
                            {"loads", list(matmul.loads)},
                            {"nearest", std::move(nearest)}};
}

/// How a launch of the kernel uses the device.
static void explainLaunch(const runtime::LaunchRecord &launch,
                          runtime::Device &device, llvm::raw_ostream &os,
                          llvm::json::Object &object) {
  int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  os << "  grid " << formatDims(launch.grid) << ", workgroup "
     << formatDims(launch.block) << ", " << launch.workgroupBytes
     << " bytes of workgroup memory\n";
  object["grid"] = llvm::json::Array(ArrayRef<int64_t>(launch.grid, 3));
  object["block"] = llvm::json::Array(ArrayRef<int64_t>(launch.block, 3));
  runtime::Expected<runtime::KernelResources> taken =
      device.resources(launch.kernel.c_str(), threads, launch.workgroupBytes);
  if (!taken.ok()) {
    os << "  resources unknown: " << taken.status().message() << "\n";
    return;
  }
  llvm::SmallVector<std::string> parts;
  if (taken->registers >= 0)
    parts.push_back(std::to_string(taken->registers) + " registers");
  if (taken->spillBytes >= 0)
    parts.push_back(taken->spillBytes == 0
                        ? std::string("no spills")
                        : std::to_string(taken->spillBytes) +
                              " bytes per thread in local memory (spills)");
  if (taken->staticWorkgroupBytes > 0)
    parts.push_back(std::to_string(taken->staticWorkgroupBytes) +
                    " bytes of static workgroup memory");
  // Threads of the host take any workgroup, one after the other.
  if (taken->workgroupsPerUnit >= 0 &&
      !compiler::isHostTarget(device.info().target))
    parts.push_back(std::to_string(taken->workgroupsPerUnit) + " workgroups (" +
                    std::to_string(taken->workgroupsPerUnit * threads) +
                    " threads) on a unit, of " +
                    std::to_string(device.info().computeUnits) + " units");
  if (!parts.empty())
    os << "  " << llvm::join(parts, ", ") << "\n";
  if (!taken->account.empty()) {
    os << "  the driver: " << taken->account << "\n";
    object["driver_account"] = fixUTF8(taken->account);
  }
  object["registers"] = taken->registers;
  object["spill_bytes"] = taken->spillBytes;
  object["static_workgroup_bytes"] = taken->staticWorkgroupBytes;
  object["workgroups_per_unit"] = taken->workgroupsPerUnit;
}

/// "1 vector register", "2 vector registers".
static std::string count(int64_t number, StringRef what) {
  return std::to_string(number) + " " + what.str() + (number == 1 ? "" : "s");
}

/// Prints the resource usage of a kernel's code, from its metadata.
static void explainCode(const compiler::CodeReport &code, bool hasScalars,
                        llvm::raw_ostream &os, llvm::json::Object &object) {
  if (code.vectorRegisters < 0)
    return;
  os << "  "
     << count(code.vectorRegisters,
              hasScalars ? "vector register" : "register");
  if (code.accumulationRegisters)
    os << " (" << code.accumulationRegisters << " for accumulation)";
  if (hasScalars)
    os << ", " << count(code.scalarRegisters, "scalar register");
  if (code.vectorSpills == 0 && code.scalarSpills == 0)
    os << ", no spills";
  else if (!hasScalars)
    os << ", " << count(code.vectorSpills, "register") << " spilled";
  else
    os << ", " << code.vectorSpills << " vector and " << code.scalarSpills
       << " scalar registers spilled";
  if (code.privateBytes)
    os << ", " << code.privateBytes << " bytes of private memory";
  os << "; " << count(code.workgroupsPerUnit, "workgroup") << " of "
     << count(code.threads, "thread") << " on a unit\n";
  object["vector_registers"] = code.vectorRegisters;
  object["accumulation_registers"] = code.accumulationRegisters;
  object["scalar_registers"] = code.scalarRegisters;
  object["vector_spills"] = code.vectorSpills;
  object["scalar_spills"] = code.scalarSpills;
  object["private_bytes"] = code.privateBytes;
  object["most_threads"] = code.threads;
  object["workgroups_per_unit"] = code.workgroupsPerUnit;
}

void tessera::execution::explain(const compiler::CompiledProgram &program,
                                 const compiler::Chip &chip,
                                 const CacheUse &cache, runtime::Device *device,
                                 ArrayRef<runtime::LaunchRecord> launches,
                                 ArrayRef<MatmulWork> work, bool print,
                                 llvm::raw_ostream &stream, Report &report) {
  llvm::raw_ostream &os = print ? stream : llvm::nulls();
  const compiler::TargetBackend &backend = *compiler::findBackend(chip.target);
  llvm::json::Array matmuls, kernels, stages;
  unsigned fallbacks = 0;
  for (const compiler::MatmulReport &matmul : program.matmuls) {
    explainMatmul(matmul, chip, os);
    llvm::json::Object object = describe(matmul);
    auto *own = llvm::find_if(work, [&](const MatmulWork &other) {
      return !matmul.location.empty() && other.location == matmul.location;
    });
    explainRoof(matmul, own == work.end() ? nullptr : own, chip,
                device ? &device->info() : nullptr, os, object);
    matmuls.push_back(std::move(object));
    fallbacks += !matmul.matrixUnit && !matmul.plainThreads && chip.hasLanes();
  }
  if (program.matmuls.empty())
    os << "no matmuls\n";
  if (device && !device->info().chipSource.empty())
    os << "chip " << chip.name << ": " << device->info().chipSource << "\n";
  for (const compiler::KernelReport &kernel : program.kernels) {
    llvm::json::Object object{{"name", fixUTF8(kernel.name)},
                              {"schedule", fixUTF8(kernel.schedule)},
                              {"adds_atomically", kernel.addsAtomically},
                              {"workgroup_bytes", kernel.workgroupBytes}};
    os << "kernel " << kernel.name;
    if (!kernel.schedule.empty())
      os << ": " << kernel.schedule;
    os << "\n";
    if (!kernel.scheduleOrigin.empty()) {
      os << "  schedule: " << kernel.scheduleOrigin << "\n";
      object["schedule_origin"] = fixUTF8(kernel.scheduleOrigin);
    }
    if (!kernel.prediction.empty()) {
      os << "  predicted: " << kernel.prediction << "\n";
      object["prediction"] = fixUTF8(kernel.prediction);
    }
    if (!kernel.purpose.empty()) {
      os << "  " << kernel.purpose << "\n";
      object["purpose"] = fixUTF8(kernel.purpose);
    }
    if (!kernel.copies.empty()) {
      os << "  operands: " << kernel.copies << "\n";
      object["copies"] = fixUTF8(kernel.copies);
    }
    if (kernel.addsAtomically)
      os << "  partial sums are added atomically, in any order: a rounded "
            "result may differ from run to run\n";
    auto isOurs = [&](const runtime::LaunchRecord &launch) {
      return launch.kernel == kernel.name;
    };
    auto *launch = llvm::find_if(launches, isOurs);
    if (device && launch != launches.end()) {
      size_t count = llvm::count_if(launches, isOurs);
      if (count > 1)
        os << "  launched " << count << " times, first as\n";
      explainLaunch(*launch, *device, os, object);
      object["launches"] = static_cast<int64_t>(count);
    } else {
      os << "  " << kernel.workgroupBytes << " bytes of workgroup memory\n";
    }
    // The device's driver has reported them above.
    if (!device || backend.hasCodeReports())
      explainCode(kernel.code, backend.hasCodeReports(), os, object);
    if (!device && kernel.code.vectorRegisters < 0 && !backend.getInfo().isHost)
      os << "  registers, spills and occupancy unknown: the driver of a device "
            "reports them"
         << backend.getResourceHint() << "\n";
    kernels.push_back(std::move(object));
  }
  // A device that runs it is the hardware.
  bool isUntried =
      !device && chip.executedOn.empty() && !compiler::isEmulated(chip);
  if (isUntried)
    os << "code for " << chip.name << " was never executed on hardware\n";
  for (const compiler::StageTime &time : program.times)
    stages.push_back(llvm::json::Object{{"stage", time.stage},
                                        {"ms", toJSON(time.milliseconds)}});
  if (print)
    printTimes(program.times, cache, os);
  else if (fallbacks)
    report.note(Twine(fallbacks) + " of " + Twine(program.matmuls.size()) +
                " matmuls computed without a matrix unit; --explain reports "
                "why, --require-mma makes this an error");
  report.root["explain_version"] = explainVersion;
  report.root["products"] = std::move(matmuls);
  report.root["kernels"] = std::move(kernels);
  if (!device && !compiler::isEmulated(chip))
    report.root["executed_on"] = chip.executedOn;
  report.root["compile"] = std::move(stages);
  report.root["cache"] = getCacheKind(cache);
  if (cache.kind != CacheUse::Off)
    report.root["cache_key"] = cache.key;
  if (cache.kind != CacheUse::Miss)
    return;
  report.root["cache_miss"] = fixUTF8(cache.why);
  llvm::json::Array differences;
  for (const auto &[name, there, here] : cache.differences)
    differences.push_back(llvm::json::Object{
        {"name", name}, {"there", fixUTF8(there)}, {"here", fixUTF8(here)}});
  report.root["cache_differences"] = std::move(differences);
}

void tessera::execution::printTimes(ArrayRef<compiler::StageTime> times,
                                    const CacheUse &cache,
                                    llvm::raw_ostream &os) {
  double total = 0;
  for (const compiler::StageTime &time : times)
    total += time.milliseconds;
  if (cache.kind == CacheUse::Hit) {
    os << "compile: from the cache (" << cache.key << "), "
       << llvm::format("%.1f", total) << " ms\n";
    return;
  }
  os << "compile: " << llvm::format("%.1f", total) << " ms";
  for (auto [i, time] : llvm::enumerate(times))
    os << (i == 0 ? ": " : ", ") << time.stage << " "
       << llvm::format("%.1f", time.milliseconds);
  os << "\n";
  if (cache.kind == CacheUse::Miss)
    os << "cache: miss (" << cache.key << "): " << cache.why << "\n";
}

StringRef tessera::execution::getCacheKind(const CacheUse &cache) {
  return cache.kind == CacheUse::Hit    ? "hit"
         : cache.kind == CacheUse::Miss ? "miss"
                                        : "off";
}

void tessera::execution::printCacheUse(const CacheUse &cache,
                                       llvm::raw_ostream &os) {
  if (cache.kind == CacheUse::Off) {
    os << "cache: off\n";
    return;
  }
  if (cache.kind == CacheUse::Hit) {
    os << "cache: hit (" << cache.key << ")\n";
    return;
  }
  os << "cache: miss (" << cache.key << ")";
  if (cache.differences.empty()) {
    os << ": " << cache.why << "\n";
    return;
  }
  os << "; differences from the nearest cached program:\n";
  for (const auto &[name, there, here] : cache.differences)
    os << "  " << name << "\n    there: " << there << "\n    here:  " << here
       << "\n";
}
