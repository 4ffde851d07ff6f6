//===- HostCode.cpp - Code that runs in this process ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"

#include "Runtime/CpuKernel.h"
#include "Runtime/Session.h"
#include "Target/Target.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//
//
// The back end calls these for conversions that the processor lacks; the C
// library of the system may be too old to have them.

#if defined(__x86_64__)
/// f32 to bf16, to nearest even.
static __bf16 truncateToBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffff) > 0x7f800000)
    bits |= 0x00400000;
  else
    bits += 0x7fff + (bits >> 16 & 1);
  uint16_t high = bits >> 16;
  __bf16 result;
  std::memcpy(&result, &high, sizeof(result));
  return result;
}

/// f64 to bf16, rounding once: to f32 toward odd, then to nearest.
static __bf16 truncateDoubleToBF16(double value) {
  float narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) != value && value == value) {
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    // Toward zero, then set the last bit.
    if ((static_cast<double>(narrow) > value) == (value > 0))
      --bits;
    bits |= 1;
    std::memcpy(&narrow, &bits, sizeof(bits));
  }
  return truncateToBF16(narrow);
}

// The compiler's own, which a program that is linked statically does not show.
static _Float16 truncateToF16(float value) {
  return static_cast<_Float16>(value);
}
static _Float16 truncateDoubleToF16(double value) {
  return static_cast<_Float16>(value);
}
static float extendF16(_Float16 value) { return static_cast<float>(value); }
#endif

static llvm::orc::SymbolMap getRuntimeSymbols(llvm::orc::ExecutionSession &es) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](const char *name, auto *function) {
    symbols[es.intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                llvm::JITSymbolFlags::Exported |
                                    llvm::JITSymbolFlags::Callable};
  };
  add("tessera_rt_launch", &tessera_rt_launch);
  add("tessera_rt_tensor_map", &tessera_rt_tensor_map);
  add("tessera_rt_window_map", &tessera_rt_window_map);
  add("tessera_rt_constant", &tessera_rt_constant);
  add("tessera_rt_report", &tessera_rt_report);
  add("_mlir_memref_to_llvm_alloc", &tessera_rt_alloc);
  add("_mlir_memref_to_llvm_aligned_alloc", &tessera_rt_aligned_alloc);
  add("_mlir_memref_to_llvm_free", &tessera_rt_free);
  add("tessera_cpu_barrier", &tessera_cpu_barrier);
  add("tessera_cpu_mma", &tessera_cpu_mma);
  add("tessera_cpu_shuffle", &tessera_cpu_shuffle);
  add("tessera_cpu_async_copy", &tessera_cpu_async_copy);
  add("tessera_cpu_async_commit", &tessera_cpu_async_commit);
  add("tessera_cpu_async_wait", &tessera_cpu_async_wait);
  add("tessera_cpu_access", &tessera_cpu_access);
#if defined(__x86_64__)
  add("__truncsfbf2", &truncateToBF16);
  add("__truncdfbf2", &truncateDoubleToBF16);
  add("__truncsfhf2", &truncateToF16);
  add("__truncdfhf2", &truncateDoubleToF16);
  add("__extendhfsf2", &extendF16);
#endif
  return symbols;
}

//===----------------------------------------------------------------------===//
// HostCode
//===----------------------------------------------------------------------===//

std::unique_ptr<HostCode> HostCode::create(const Chip &chip, std::string &why) {
  auto result = std::make_unique<HostCode>();
  result->machine = createCPUMachine(chip);
  if (!result->machine) {
    why = "cannot generate code for " + chip.name + " on this processor";
    return nullptr;
  }
  llvm::orc::JITTargetMachineBuilder builder(
      result->machine->getTargetTriple());
  builder.setCPU(result->machine->getTargetCPU().str());
  builder.addFeatures(
      llvm::SubtargetFeatures(result->machine->getTargetFeatureString())
          .getFeatures());
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(builder))
                 .create();
  if (!jit) {
    why = "cannot set up code generation: " + llvm::toString(jit.takeError());
    return nullptr;
  }
  result->jit = std::move(*jit);
  if (llvm::Error error =
          result->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(
              getRuntimeSymbols(result->jit->getExecutionSession())))) {
    why = llvm::toString(std::move(error));
    return nullptr;
  }
  return result;
}

LogicalResult HostCode::add(ModuleOp module) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateAndOptimize(module, context, *machine);
  if (!code)
    return failure();
  FailureOr<std::string> object =
      emitFile(module, *code, *machine, llvm::CodeGenFileType::ObjectFile);
  if (failed(object))
    return failure();
  std::string why;
  if (!addObject(std::move(*object), why))
    return module.emitError() << why;
  return success();
}

bool HostCode::addObject(std::string object, std::string &why) {
  if (llvm::Error error = jit->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, "tessera"))) {
    why = llvm::toString(std::move(error));
    return false;
  }
  objects.push_back(std::move(object));
  return true;
}

void *HostCode::lookup(llvm::StringRef name) {
  auto address = jit->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void *>();
}
