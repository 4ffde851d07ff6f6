//===- HostImports.cpp - What compiled host code may call -----------------===//

#include "Runtime/HostImports.h"

#include "Runtime/CpuKernel.h"
#include "Runtime/Session.h"

#include <cstring>
#include <dlfcn.h>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Conversions
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

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

template <typename Function> static void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

const std::vector<std::pair<const char *, void *>> &
tessera::runtime::listHostImports() {
  static const std::vector<std::pair<const char *, void *>> imports = {
      {"tessera_rt_launch", address(&tessera_rt_launch)},
      {"tessera_rt_tensor_map", address(&tessera_rt_tensor_map)},
      {"tessera_rt_window_map", address(&tessera_rt_window_map)},
      {"tessera_rt_constant", address(&tessera_rt_constant)},
      {"tessera_rt_report", address(&tessera_rt_report)},
      {"_mlir_memref_to_llvm_alloc", address(&tessera_rt_alloc)},
      {"_mlir_memref_to_llvm_aligned_alloc",
       address(&tessera_rt_aligned_alloc)},
      {"_mlir_memref_to_llvm_free", address(&tessera_rt_free)},
      {"tessera_cpu_barrier", address(&tessera_cpu_barrier)},
      {"tessera_cpu_mma", address(&tessera_cpu_mma)},
      {"tessera_cpu_shuffle", address(&tessera_cpu_shuffle)},
      {"tessera_cpu_async_copy", address(&tessera_cpu_async_copy)},
      {"tessera_cpu_async_commit", address(&tessera_cpu_async_commit)},
      {"tessera_cpu_async_wait", address(&tessera_cpu_async_wait)},
      {"tessera_cpu_access", address(&tessera_cpu_access)},
#if defined(__x86_64__)
      {"__truncsfbf2", address(&truncateToBF16)},
      {"__truncdfbf2", address(&truncateDoubleToBF16)},
      {"__truncsfhf2", address(&truncateToF16)},
      {"__truncdfhf2", address(&truncateDoubleToF16)},
      {"__extendhfsf2", address(&extendF16)},
#endif
  };
  return imports;
}

void *tessera::runtime::findHostImport(const char *name) {
  for (const auto &[known, function] : listHostImports())
    if (std::strcmp(known, name) == 0)
      return function;
  if (void *function = dlsym(RTLD_DEFAULT, name))
    return function;
  // A program need not have it loaded.
  static void *const math = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  return math ? dlsym(math, name) : nullptr;
}
