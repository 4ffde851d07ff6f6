//===- Bundle.h - Compiled programs in one file -----------------*- C++ -*-===//
//
// A bundle has what a program is compiled to, for one or several chips, and
// needs no compiler to be run. docs/Library.md describes the format.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BUNDLE_H
#define TESSERA_RUNTIME_BUNDLE_H

#include "Runtime/Device.h"
#include "Runtime/Signature.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// A matrix product of a kernel.
struct ProductRecord {
  /// "64x64x16 f16 x f16 -> f32".
  std::string product;
  /// What computes it, and whether that is an instruction of a matrix unit.
  std::string instruction;
  bool matrixUnit = false;
  /// "file:line:column".
  std::string location;
  /// Significand bits that the matrix unit keeps of a sum, and how many products
  /// it adds up so before it adds them to the accumulator (0: all). No bits: as
  /// many as the accumulator's type has.
  int unitBits = 0;
  int64_t unitLength = 0;
};

/// How a kernel was made.
struct KernelRecord {
  std::string name;
  /// The schedule that it was tiled by, as the attribute is spelled; empty for
  /// one written by hand.
  std::string schedule;
  /// Where that is from: the record of a tuned one with its time, or why there
  /// is none; empty if products were not looked up.
  std::string scheduleOrigin;
  std::vector<ProductRecord> products;
};

/// A program, compiled for one chip.
struct ProgramVariant {
  /// "cuda", "sm_90a".
  std::string target, chip;
  /// What the host's code needs of the processor: "x86-64", "x86-64-avx2",
  /// "x86-64-avx512", "aarch64".
  std::string host;
  /// Of the kernels; see `KernelImage`. `bytes` is empty on the CPU, whose
  /// kernels are functions of `library` by the names in `functions`.
  KernelImage::Kind imageKind = KernelImage::HostFunctions;
  std::string image;
  std::vector<std::string> functions;
  /// What launches them: an ELF shared library without dependencies.
  std::string library;
  /// The functions that it calls, in the order of its table.
  std::vector<std::string> imports;
  std::vector<Signature> entries;
  std::vector<KernelRecord> kernels;
};

struct Bundle {
  /// "Tessera 0.1.0".
  std::string producer;
  /// The program's text, and the name of its file; both may be empty.
  std::string source, file;
  std::vector<ProgramVariant> variants;
};

/// Whether bytes begin as a bundle does.
bool isBundle(std::string_view bytes);

std::string writeBundle(const Bundle &bundle);

/// `InvalidArgument` for bytes that are no bundle, are damaged or cut short, or
/// were written by another version of the format.
Expected<Bundle> readBundle(std::string_view bytes);

/// The variant for a device: one for its very chip before one for an older chip
/// whose code it takes. `InvalidArgument`, with what the bundle holds, where
/// none fits.
Expected<const ProgramVariant *> selectVariant(const Bundle &bundle,
                                               const DeviceInfo &device);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_BUNDLE_H
