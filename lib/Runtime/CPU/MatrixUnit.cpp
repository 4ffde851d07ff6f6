//===- MatrixUnit.cpp - A matrix instruction, executed by its maps --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes' registers are gathered to matrices by the lane maps, multiplied as
// matrices, and scattered again:
//
//   lane 0 .. L-1, register 0 .. R-1  ->  a[m][k], b[k][n], acc[m][n]
//
// A map is linear in the bits of lane and register, so that the position of an
// element is that of its lane plus that of its register.
//
//===----------------------------------------------------------------------===//

#include "MatrixUnit.h"

#include "../Format.h"
#include "Runtime/HostArray.h"

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static int getBits(int32_t type) {
  switch (type) {
  case TESSERA_I4:
  case TESSERA_U4:
    return 4;
  case TESSERA_F8E4M3FN:
  case TESSERA_F8E5M2:
  case TESSERA_F8E4M3FNUZ:
  case TESSERA_F8E5M2FNUZ:
  case TESSERA_I8:
  case TESSERA_U8:
    return 8;
  case TESSERA_F16:
  case TESSERA_BF16:
    return 16;
  case TESSERA_F64:
    return 64;
  default:
    return 32;
  }
}

/// Element `index` of registers that lie side by side.
static uint64_t readBits(const void *registers, int64_t index, int bits) {
  if (bits == 4) {
    uint8_t pair = static_cast<const uint8_t *>(registers)[index / 2];
    return index % 2 ? pair >> 4 : pair & 15;
  }
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const char *>(registers) + index * (bits / 8),
              static_cast<size_t>(bits) / 8);
  return value;
}

template <typename To, typename From> static To bitCast(From value) {
  static_assert(sizeof(To) == sizeof(From), "of one size");
  To result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

static float decodeF16(uint32_t bits) {
  // The exponent's bias is corrected by a multiplication, which makes
  // subnormal numbers normal.
  uint32_t magnitude = (bits & 0x7fff) << 13;
  float value = bitCast<float>(magnitude) * 0x1p112f;
  if ((bits & 0x7c00) == 0x7c00)
    value = bitCast<float>(magnitude | 0x7f800000);
  return bitCast<float>(bitCast<uint32_t>(value) | (bits & 0x8000) << 16);
}

/// An 8-bit float with `mantissaBits` bits of mantissa.
static float decodeF8(uint32_t bits, int mantissaBits, int bias,
                      bool hasInfinity, bool isFnuz) {
  uint32_t magnitude = bits & 0x7f;
  auto exponent = static_cast<int>(magnitude >> mantissaBits);
  uint32_t mantissa = magnitude & ((1u << mantissaBits) - 1);
  float value;
  if (isFnuz        ? bits == 0x80
      : hasInfinity ? magnitude > 0x7c
                    : magnitude == 0x7f)
    value = std::nanf("");
  else if (hasInfinity && magnitude == 0x7c)
    value = HUGE_VALF;
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits);
  else
    value = std::ldexp(static_cast<float>(mantissa | 1u << mantissaBits),
                       exponent - bias - mantissaBits);
  return bits & 0x80 ? -value : value;
}

/// All numbers of an 8-bit float.
static const std::array<float, 256> &getTable(int32_t type) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, 4> all;
    for (uint32_t bits = 0; bits < 256; ++bits) {
      all[0][bits] = decodeF8(bits, 3, 7, false, false);
      all[1][bits] = decodeF8(bits, 2, 15, true, false);
      all[2][bits] = decodeF8(bits, 3, 8, false, true);
      all[3][bits] = decodeF8(bits, 2, 16, false, true);
    }
    return all;
  }();
  return tables[type - TESSERA_F8E4M3FN];
}

static float roundToTF32(uint32_t bits) {
  bool isFinite = (bits & 0x7f800000) != 0x7f800000;
  return bitCast<float>(isFinite ? (bits + 0x1000) & ~0x1fffu : bits);
}

/// A number of `type`, for arithmetic in `Number`.
template <typename Number> static Number decode(int32_t type, uint64_t raw) {
  auto bits = static_cast<uint32_t>(raw);
  switch (type) {
  case TESSERA_F16:
    return static_cast<Number>(decodeF16(bits));
  case TESSERA_BF16:
    return static_cast<Number>(bitCast<float>(bits << 16));
  case TESSERA_F32:
    return static_cast<Number>(bitCast<float>(bits));
  case TESSERA_TF32:
    return static_cast<Number>(roundToTF32(bits));
  case TESSERA_F64:
    return static_cast<Number>(bitCast<double>(raw));
  case TESSERA_I4:
    return static_cast<Number>(static_cast<int32_t>(bits << 28) >> 28);
  case TESSERA_I8:
    return static_cast<Number>(static_cast<int8_t>(bits));
  case TESSERA_I32:
    return static_cast<Number>(static_cast<int32_t>(bits));
  case TESSERA_U4:
  case TESSERA_U8:
    return static_cast<Number>(bits);
  default:
    return static_cast<Number>(getTable(type)[bits]);
  }
}

/// A sum, as the accumulator's type keeps it.
template <typename Number> static uint64_t encode(int32_t type, Number value) {
  switch (type) {
  case TESSERA_F16:
    return encodeFloat(ElementType::F16, static_cast<double>(value));
  case TESSERA_BF16:
    return encodeFloat(ElementType::BF16, static_cast<double>(value));
  case TESSERA_F64:
    return bitCast<uint64_t>(static_cast<double>(value));
  case TESSERA_I32:
    return static_cast<uint32_t>(value);
  default:
    return bitCast<uint32_t>(static_cast<float>(value));
  }
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

namespace {

/// One operand: where each lane's registers lie in a matrix of `cols` columns.
struct Operand {
  Operand(const char *name, int32_t type, int64_t cols, int32_t laneBits,
          int32_t registerBits, const int32_t (*steps)[2])
      : name(name), type(type), bits(getBits(type)), cols(cols),
        lanes(expand(laneBits, steps)),
        registers(expand(registerBits, steps + laneBits)) {}

  /// The positions of all numbers of so many bits.
  std::vector<int64_t> expand(int32_t count, const int32_t (*steps)[2]) const {
    std::vector<int64_t> positions(size_t(1) << count, 0);
    for (size_t number = 0; number < positions.size(); ++number)
      for (int32_t bit = 0; bit < count; ++bit)
        if (number >> bit & 1)
          positions[number] += steps[bit][0] * cols + steps[bit][1];
    return positions;
  }

  /// The matrix that the lanes hold. False if two disagree.
  template <typename Number, typename Pointer>
  bool gather(const Pointer *values, std::vector<Number> &matrix, int64_t rows,
              std::string &why) const;

  template <typename Number>
  void scatter(const std::vector<Number> &matrix, void *const *values) const {
    for (size_t lane = 0; lane < lanes.size(); ++lane)
      for (size_t reg = 0; reg < registers.size(); ++reg) {
        uint64_t raw = encode(type, matrix[lanes[lane] + registers[reg]]);
        std::memcpy(static_cast<char *>(values[lane]) + reg * (bits / 8), &raw,
                    static_cast<size_t>(bits) / 8);
      }
  }

  /// The payload of a NaN is unspecified.
  bool areNaN(uint64_t left, uint64_t right) const {
    return std::isnan(decode<double>(type, left)) &&
           std::isnan(decode<double>(type, right));
  }

  const char *name;
  int32_t type;
  int bits;
  int64_t cols;
  std::vector<int64_t> lanes, registers;
};

} // namespace

template <typename Number, typename Pointer>
bool Operand::gather(const Pointer *values, std::vector<Number> &matrix,
                     int64_t rows, std::string &why) const {
  auto size = static_cast<size_t>(rows * cols);
  matrix.resize(size);
  bool replicates = lanes.size() * registers.size() > size;
  std::vector<uint64_t> seen;
  // Which lane gave an element, plus one.
  std::vector<uint32_t> from;
  if (replicates) {
    seen.resize(size);
    from.assign(size, 0);
  }
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    for (size_t reg = 0; reg < registers.size(); ++reg) {
      int64_t position = lanes[lane] + registers[reg];
      uint64_t raw = readBits(values[lane], static_cast<int64_t>(reg), bits);
      if (replicates) {
        if (from[position] && seen[position] != raw &&
            !areNaN(seen[position], raw)) {
          why = format("lanes %u and %zu hold different values of element "
                       "(%lld, %lld) of operand %s, which they replicate",
                       from[position] - 1, lane,
                       static_cast<long long>(position / cols),
                       static_cast<long long>(position % cols), name);
          return false;
        }
        seen[position] = raw;
        from[position] = static_cast<uint32_t>(lane) + 1;
      }
      matrix[position] = decode<Number>(type, raw);
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

template <typename Number>
static bool execute(const tessera_matrix_instruction &instruction,
                    const void *const *a, const void *const *b,
                    void *const *acc, std::string &why) {
  int64_t m = instruction.m, n = instruction.n, k = instruction.k;
  int32_t laneBits = instruction.laneBits;
  const int32_t (*steps)[2] = instruction.steps;
  Operand left("a", instruction.aType, k, laneBits, instruction.aRegisterBits,
               steps);
  steps += laneBits + instruction.aRegisterBits;
  Operand right("b", instruction.bType, n, laneBits, instruction.bRegisterBits,
                steps);
  steps += laneBits + instruction.bRegisterBits;
  Operand sum("acc", instruction.accType, n, laneBits,
              instruction.accRegisterBits, steps);

  static thread_local std::vector<Number> x, y, z;
  if (!left.gather(a, x, m, why) || !right.gather(b, y, k, why) ||
      !sum.gather(acc, z, m, why))
    return false;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t s = 0; s < k; ++s) {
      Number factor = x[i * k + s];
      const Number *row = &y[s * n];
      Number *out = &z[i * n];
      for (int64_t j = 0; j < n; ++j)
        out[j] += factor * row[j];
    }
  sum.scatter(z, acc);
  return true;
}

bool tessera::runtime::executeMatrixInstruction(
    const tessera_matrix_instruction &instruction, const void *const *a,
    const void *const *b, void *const *acc, std::string &why) {
  switch (instruction.accType) {
  case TESSERA_I32:
    // Sums of integers wrap.
    return execute<uint32_t>(instruction, a, b, acc, why);
  case TESSERA_F64:
    return execute<double>(instruction, a, b, acc, why);
  default:
    return execute<float>(instruction, a, b, acc, why);
  }
}
