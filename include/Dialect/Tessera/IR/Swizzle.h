//===- Swizzle.h - The phases of swizzled memory ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_SWIZZLE_H
#define DIALECT_TESSERA_IR_SWIZZLE_H

#include <cstdint>

namespace mlir::tessera {

/// The bytes of a row of a panel of swizzled memory whose rows have `rowBytes`:
/// the widest swizzle that divides the row, of 128 or 64 bytes, or a row of 32
/// bytes. 0: such rows cannot be swizzled. Panels of 32 bytes are not used,
/// since TMA takes as long to copy a row of one as a row of 128 bytes.
inline int64_t getSwizzlePanelBytes(int64_t rowBytes) {
  constexpr int64_t widest = 128, narrower = 64, narrowest = 32;
  if (rowBytes <= 0)
    return 0;
  return rowBytes % widest == 0     ? widest
         : rowBytes % narrower == 0 ? narrower
         : rowBytes == narrowest    ? narrowest
                                    : 0;
}

/// Whether memory with elements of so many bits can be swizzled.
inline bool canSwizzleElements(int64_t bits) {
  constexpr int64_t narrowest = 4, widest = 128;
  return bits >= narrowest && bits <= widest && (bits & (bits - 1)) == 0;
}

/// Whether the bits of the phases of swizzled memory with elements of so many
/// bits are rotated by one: half of a subgroup then reads two chunks of each of
/// four adjacent rows without a bank conflict.
inline bool rotatesSwizzlePhases(int64_t bits) { return bits == 64; }

/// The number with which the chunks of a row of phase `phase`, of `phases`, are
/// combined.
inline int64_t getSwizzlePhase(int64_t phase, int64_t phases, int64_t bits) {
  phase %= phases;
  return rotatesSwizzlePhases(bits) ? phase * 2 % phases + phase * 2 / phases
                                    : phase;
}

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_SWIZZLE_H
