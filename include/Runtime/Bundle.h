//===- Bundle.h - Compiled programs in one file -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bundle contains a program compiled for one or several chips, and runs
// without the compiler. docs/Library.md describes the format.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BUNDLE_H
#define TESSERA_RUNTIME_BUNDLE_H

#include "Runtime/Constants.h"
#include "Runtime/Device.h"
#include "Runtime/Signature.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// A matmul of a kernel.
struct MatmulRecord {
  /// "64x64x16 f16 x f16 -> f32".
  std::string types;
  /// The instruction that computes it, and whether a matrix unit executes it.
  std::string instruction;
  bool matrixUnit = false;
  /// "file:line:column".
  std::string location;
  /// Significand bits that the matrix unit keeps of a sum, and how many
  /// terms it adds up so before it adds them to the accumulator (0: all). No
  /// bits: as many as the accumulator's type has.
  int unitBits = 0;
  int64_t unitLength = 0;
};

/// How a kernel was compiled.
struct KernelRecord {
  std::string name;
  /// The schedule attribute of the kernel, as text; empty for a hand-written
  /// kernel.
  std::string schedule;
  /// The origin of the schedule: the tuning record with its time, or why there
  /// is none; empty if schedules were not looked up.
  std::string scheduleOrigin;
  std::vector<MatmulRecord> matmuls;
};

/// A program, compiled for one chip.
struct ProgramVariant {
  /// "cuda", "sm_90a".
  std::string target, chip;
  /// The CPU level that the host code requires: "x86-64", "x86-64-avx2",
  /// "x86-64-avx512", "x86-64-avx512-vnni", "aarch64".
  std::string host;
  /// The kernel image; see `KernelImage`. `bytes` is empty on the CPU, whose
  /// kernels are the functions of `library` named in `functions`.
  KernelImage::Kind imageKind = KernelImage::HostFunctions;
  std::string image;
  std::vector<std::string> functions;
  /// The host code that launches the kernels: an ELF shared library without
  /// dependencies.
  std::string library;
  /// The runtime functions that the host code calls, in the order of its import
  /// table.
  std::vector<std::string> imports;
  std::vector<Signature> entries;
  std::vector<KernelRecord> kernels;
  /// The constants that the host code asks for, by their numbers.
  std::vector<Constant> constants;
  /// The function that computes constants; empty if there is none.
  std::string loader;
};

struct Bundle {
  /// "Tessera 0.1.0".
  std::string producer;
  /// The program's text and its file name; both may be empty.
  std::string source, file;
  std::vector<ProgramVariant> variants;
  /// The constants that `source` refers to as `dense_resource<tessera_HASH>`.
  /// Those of the variants are written as well, each hash once.
  std::vector<Constant> constants;
};

/// Whether bytes start with the magic number of a bundle.
bool isBundle(std::string_view bytes);

std::string writeBundle(const Bundle &bundle);

/// Reads a bundle. `InvalidArgument` for bytes that are not a bundle, are
/// corrupt or truncated, or have another format version. The contents of
/// constants are not copied if `owner` keeps `bytes` alive; they are else.
Expected<Bundle> readBundle(std::string_view bytes,
                            std::shared_ptr<const void> owner = nullptr);

/// Chooses the variant for a device: one for its exact chip before one for an
/// older compatible chip. `InvalidArgument`, with a list of the variants, if
/// none fits.
Expected<const ProgramVariant *> selectVariant(const Bundle &bundle,
                                               const DeviceInfo &device);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_BUNDLE_H
