//===- HostImports.cpp - Functions that host code may call ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/HostImports.h"

#include "Runtime/CpuKernel.h"
#include "Runtime/RunnerFunctions.h"
#include "Runtime/Session.h"

#include <cstring>
#include <dlfcn.h>
#include <string>

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
// Names
//===----------------------------------------------------------------------===//

/// Functions of the mathematical library that take and return numbers of one
/// type. Each has a form for f64, one for f32 ("f") and one for the target's
/// `long double` ("l").
static const struct {
  const char *name;
  unsigned arguments;
} mathFunctions[] = {
    {"acos", 1},         {"acosh", 1},     {"asin", 1},
    {"asinh", 1},        {"atan", 1},      {"atan2", 2},
    {"atanh", 1},        {"cbrt", 1},      {"ceil", 1},
    {"copysign", 2},     {"cos", 1},       {"cosh", 1},
    {"erf", 1},          {"erfc", 1},      {"exp", 1},
    {"exp10", 1},        {"exp2", 1},      {"expm1", 1},
    {"fabs", 1},         {"fdim", 2},      {"floor", 1},
    {"fma", 3},          {"fmax", 2},      {"fmaximum", 2},
    {"fmaximum_num", 2}, {"fmin", 2},      {"fminimum", 2},
    {"fminimum_num", 2}, {"fmod", 2},      {"hypot", 2},
    {"lgamma", 1},       {"log", 1},       {"log10", 1},
    {"log1p", 1},        {"log2", 1},      {"logb", 1},
    {"nearbyint", 1},    {"nextafter", 2}, {"pow", 2},
    {"remainder", 2},    {"rint", 1},      {"round", 1},
    {"roundeven", 1},    {"sin", 1},       {"sinh", 1},
    {"sqrt", 1},         {"tan", 1},       {"tanh", 1},
    {"tgamma", 1},       {"trunc", 1},
};

/// More functions of the mathematical library that LLVM's back ends call, in
/// the same three forms.
static const char *const mixedMathFunctions[] = {
    "frexp", "ilogb",  "ldexp", "llrint", "llround",
    "lrint", "lround", "modf",  "scalbn", "sincos",
};

/// Functions that LLVM's optimizer and back ends put in the place of loops and
/// of arithmetic on wide types: they reach no memory but their operands'.
static const char *const supportFunctions[] = {
    // Functions of the C library.
    "bcmp",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "strlen",
    "wcslen",
    // Integers of 128 bits.
    "__ashlti3",
    "__ashrti3",
    "__lshrti3",
    "__divti3",
    "__modti3",
    "__multi3",
    "__udivti3",
    "__umodti3",
    "__udivmodti4",
    "__divmodti4",
    "__popcountdi2",
    "__popcountti2",
    "__clzti2",
    "__ctzti2",
    "__muloti4",
    // Conversions between them and floats.
    "__fixhfti",
    "__fixsfti",
    "__fixdfti",
    "__fixxfti",
    "__fixtfti",
    "__fixunshfti",
    "__fixunssfti",
    "__fixunsdfti",
    "__fixunsxfti",
    "__fixunstfti",
    "__floattihf",
    "__floattisf",
    "__floattidf",
    "__floattixf",
    "__floattitf",
    "__floatuntihf",
    "__floatuntisf",
    "__floatuntidf",
    "__floatuntixf",
    "__floatuntitf",
    "__floattibf",
    "__floatuntibf",
    // Powers.
    "__powisf2",
    "__powidf2",
    "__powixf2",
    "__powitf2",
    // Floats of 16, 80 and 128 bits.
    "__truncsfbf2",
    "__truncdfbf2",
    "__truncxfbf2",
    "__trunctfbf2",
    "__truncsfhf2",
    "__truncdfhf2",
    "__truncxfhf2",
    "__trunctfhf2",
    "__extendhfsf2",
    "__extendhfdf2",
    "__extendhfxf2",
    "__extendhftf2",
    "__extendbfsf2",
    "__extendsftf2",
    "__extenddftf2",
    "__extendxftf2",
    "__trunctfsf2",
    "__trunctfdf2",
    "__trunctfxf2",
    "__addtf3",
    "__subtf3",
    "__multf3",
    "__divtf3",
    "__negtf2",
    "__eqtf2",
    "__netf2",
    "__lttf2",
    "__letf2",
    "__gttf2",
    "__getf2",
    "__cmptf2",
    "__unordtf2",
    "__fixtfsi",
    "__fixtfdi",
    "__fixunstfsi",
    "__fixunstfdi",
    "__floatsitf",
    "__floatditf",
    "__floatunsitf",
    "__floatunditf",
};

std::optional<MathFunction>
tessera::runtime::findMathFunction(std::string_view name) {
  for (const auto &[base, arguments] : mathFunctions) {
    if (name == base)
      return MathFunction{arguments, /*isDouble=*/true};
    if (name.size() == std::strlen(base) + 1 && name.back() == 'f' &&
        name.compare(0, name.size() - 1, base) == 0)
      return MathFunction{arguments, /*isDouble=*/false};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

template <typename Function> static void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

#if defined(__x86_64__)
// The compiler's own, which a program that is linked statically does not show.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
__int128 __divti3(__int128, __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
float __powisf2(float, int);
double __powidf2(double, int);
}
// NOLINTEND(readability-identifier-naming)
#endif

/// A function of the C or the mathematical library; null if this system's has
/// none of that name.
static void *findInSystem(const char *name) {
  // A program need not have it loaded.
  static void *const math = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  void *function = math ? dlsym(math, name) : nullptr;
  return function ? function : dlsym(RTLD_DEFAULT, name);
}

static std::vector<HostImport> makeImports() {
  std::vector<HostImport> imports = {
      {"tessera_rt_launch", address(&tessera_rt_launch)},
      {"tessera_rt_tensor_map", address(&tessera_rt_tensor_map)},
      {"tessera_rt_window_map", address(&tessera_rt_window_map)},
      {"tessera_rt_constant", address(&tessera_rt_constant)},
      {"tessera_rt_data", address(&tessera_rt_data)},
      {"tessera_rt_read", address(&tessera_rt_read)},
      {"tessera_rt_report", address(&tessera_rt_report)},
      {"tessera_rt_checkpoint", address(&tessera_rt_checkpoint)},
      {"tessera_rt_checkpoint_value", address(&tessera_rt_checkpoint_value)},
      {"tessera_rt_alloc_array", address(&tessera_rt_alloc_array)},
      {"tessera_rt_alloc_shared", address(&tessera_rt_alloc_shared)},
      {"tessera_rt_share", address(&tessera_rt_share)},
      {"tessera_rt_to_device", address(&tessera_rt_to_device)},
      {"tessera_rt_host_access", address(&tessera_rt_host_access)},
      {"tessera_rt_export", address(&tessera_rt_export)},
      {"tessera_rt_end_entry", address(&tessera_rt_end_entry)},
      {"memrefCopy", getMemRefCopy()},
      // Programs of earlier versions allocate by these.
      {"_mlir_memref_to_llvm_alloc", address(&tessera_rt_alloc)},
      {"_mlir_memref_to_llvm_aligned_alloc",
       address(&tessera_rt_aligned_alloc)},
      {"_mlir_memref_to_llvm_free", address(&tessera_rt_free)},
      {"tessera_cpu_barrier", address(&tessera_cpu_barrier)},
      {"tessera_cpu_print", address(&tessera_cpu_print)},
      {"tessera_cpu_assert", address(&tessera_cpu_assert)},
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
      {"__divti3", address(&__divti3)},
      {"__modti3", address(&__modti3)},
      {"__udivti3", address(&__udivti3)},
      {"__umodti3", address(&__umodti3)},
      {"__powisf2", address(&__powisf2)},
      {"__powidf2", address(&__powidf2)},
#endif
  };
  for (const RunnerFunction &function : listRunnerFunctions())
    imports.push_back({function.name, function.address});
  size_t own = imports.size();
  auto add = [&](std::string name) {
    for (size_t i = 0; i < own; ++i)
      if (imports[i].name == name)
        return;
    if (void *function = findInSystem(name.c_str()))
      imports.push_back({std::move(name), function});
  };
  auto addForms = [&](const std::string &name) {
    for (const char *suffix : {"", "f", "l"})
      add(name + suffix);
  };
  for (const auto &function : mathFunctions)
    addForms(function.name);
  for (const char *name : mixedMathFunctions)
    addForms(name);
  for (const char *name : supportFunctions)
    add(name);
  return imports;
}

const std::vector<HostImport> &tessera::runtime::listHostImports() {
  static const std::vector<HostImport> imports = makeImports();
  return imports;
}

void *tessera::runtime::findHostImport(std::string_view name) {
  for (const HostImport &import : listHostImports())
    if (import.name == name)
      return import.address;
  return nullptr;
}
