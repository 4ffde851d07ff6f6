//===- VulkanSelfTest.cpp - Self-test of matmuls --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers of SPIR-V are those of its specification, of
// SPV_KHR_cooperative_matrix, SPV_KHR_physical_storage_buffer and
// SPV_KHR_bfloat16.
//
//===----------------------------------------------------------------------===//

#include "VulkanSelfTest.h"

#include "../Format.h"
#include "../SpirvOpcodes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace tessera::runtime;

bool tessera::runtime::canTest(const MatrixMultiply &matmul) {
  auto isKnown = [](ComponentType type) {
    if (type.kind == ComponentType::BFloat)
      return type.bits == 16;
    return type.bits == 16 || type.bits == 32 || type.bits == 64 ||
           (type.isInteger() && type.bits == 8);
  };
  // Integer accumulators require integer operands, and float accumulators float
  // operands.
  bool integers = matmul.a.isInteger();
  constexpr uint32_t subgroup = 3, maxExtent = 1024;
  return matmul.scope == subgroup && isKnown(matmul.a) && isKnown(matmul.b) &&
         isKnown(matmul.c) && isKnown(matmul.result) &&
         matmul.b.isInteger() == integers && matmul.c.isInteger() == integers &&
         matmul.result.isInteger() == integers && matmul.m && matmul.n &&
         matmul.k && matmul.m <= maxExtent && matmul.n <= maxExtent &&
         matmul.k <= maxExtent;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Bits of a float's mantissa, the hidden one left out.
static uint32_t getMantissaBits(ComponentType type) {
  if (type.kind == ComponentType::BFloat)
    return 7;
  return type.bits == 16 ? 10 : type.bits == 32 ? 23 : 52;
}

/// An integer that the type holds exactly, as its bits.
static uint64_t toBits(ComponentType type, double number) {
  auto value = static_cast<int64_t>(number);
  if (type.isInteger())
    return static_cast<uint64_t>(value);
  if (value == 0)
    return 0;
  uint32_t mantissa = getMantissaBits(type);
  uint32_t exponentBits = type.bits - 1 - mantissa;
  uint64_t magnitude = static_cast<uint64_t>(std::abs(value)), exponent = 0;
  while (magnitude >> (exponent + 1))
    ++exponent;
  uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1;
  uint64_t fraction =
      (magnitude << (mantissa - exponent)) & ((uint64_t(1) << mantissa) - 1);
  return static_cast<uint64_t>(value < 0) << (type.bits - 1) |
         (exponent + bias) << mantissa | fraction;
}

/// The number type that the bits encode.
static double fromBits(ComponentType type, bool isSigned, uint64_t bits) {
  if (type.isInteger()) {
    uint32_t unused = 64 - type.bits;
    return isSigned ? static_cast<double>(
                          static_cast<int64_t>(bits << unused) >> unused)
                    : static_cast<double>(bits);
  }
  uint32_t mantissa = getMantissaBits(type);
  uint32_t exponentBits = type.bits - 1 - mantissa;
  double sign = bits >> (type.bits - 1) & 1 ? -1 : 1;
  uint64_t most = (uint64_t(1) << exponentBits) - 1,
           exponent = bits >> mantissa & most,
           fraction = bits & ((uint64_t(1) << mantissa) - 1);
  if (exponent == most)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    ++exponent;
  else
    fraction |= uint64_t(1) << mantissa;
  auto bias = static_cast<int>((uint64_t(1) << (exponentBits - 1)) - 1);
  return sign * std::ldexp(static_cast<double>(fraction),
                           static_cast<int>(exponent) - bias -
                               static_cast<int>(mantissa));
}

uint32_t TestMatrix::getStride() const {
  return (cols * type.getBytes() + 15) / 16 * 16 / type.getBytes();
}

std::vector<uint8_t> TestMatrix::encode() const {
  uint32_t size = type.getBytes();
  std::vector<uint8_t> bytes(size_t(rows) * getStride() * size);
  for (size_t row = 0; row < rows; ++row)
    for (size_t col = 0; col < cols; ++col) {
      uint64_t bits = toBits(type, values[row * cols + col]);
      for (uint32_t i = 0; i < size; ++i)
        bytes[(row * getStride() + col) * size + i] =
            static_cast<uint8_t>(bits >> (8 * i));
    }
  return bytes;
}

void TestMatrix::decode(const std::vector<uint8_t> &bytes) {
  uint32_t size = type.getBytes();
  for (size_t row = 0; row < rows; ++row)
    for (size_t col = 0; col < cols; ++col) {
      uint64_t bits = 0;
      for (uint32_t i = 0; i < size; ++i)
        bits |= uint64_t(bytes[(row * getStride() + col) * size + i])
                << (8 * i);
      values[row * cols + col] = fromBits(type, isSigned, bits);
    }
}

TestOperands tessera::runtime::makeTestOperands(const MatrixMultiply &matmul) {
  TestOperands test;
  auto shape = [](TestMatrix &matrix, ComponentType type, bool isSigned,
                  uint32_t rows, uint32_t cols) {
    matrix.type = type;
    matrix.isSigned = isSigned;
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.values.resize(size_t(rows) * cols);
  };
  using P = MatrixMultiply;
  shape(test.a, matmul.a, matmul.operands & P::signedA, matmul.m, matmul.k);
  shape(test.b, matmul.b, matmul.operands & P::signedB, matmul.k, matmul.n);
  shape(test.c, matmul.c, matmul.operands & P::signedC, matmul.m, matmul.n);
  shape(test.result, matmul.result, matmul.operands & P::signedResult, matmul.m,
        matmul.n);

  // No sum of floats is larger than what both C and the result hold; integers
  // take all values for which the sums of k terms and C fit.
  uint32_t sumBits = std::min(
      matmul.c.isInteger() ? matmul.c.bits - 1 : getMantissaBits(matmul.c) + 1,
      matmul.result.isInteger() ? matmul.result.bits - 1
                                : getMantissaBits(matmul.result) + 1);
  int64_t most = int64_t(1) << std::min(sumBits, 40u), limit = 1;
  int64_t bound = matmul.a.isInteger() ? 255 : 3;
  while (limit < bound &&
         (limit + 1) * (limit + 1) * matmul.k + limit + 1 <= most)
    ++limit;
  // A generator of Lehmer's: numbers without a pattern.
  uint64_t state = 1;
  auto fill = [&](TestMatrix &matrix) {
    // An 8-bit operand takes the range of its sign.
    int64_t low = -limit, high = limit;
    if (matrix.type.isInteger() && !matrix.isSigned)
      low = 0;
    if (matrix.type.isInteger() && matrix.type.bits == 8 && matrix.isSigned) {
      low = std::max<int64_t>(low, -128);
      high = std::min<int64_t>(high, 127);
    }
    for (double &value : matrix.values) {
      state = state * 48271 % 2147483647;
      value = static_cast<double>(
          low + static_cast<int64_t>(state / 64 %
                                     static_cast<uint64_t>(high - low + 1)));
    }
  };
  for (TestMatrix *matrix : {&test.a, &test.b, &test.c})
    fill(*matrix);
  for (size_t i = 0; i < matmul.m; ++i)
    for (size_t j = 0; j < matmul.n; ++j) {
      double sum = test.c.values[i * matmul.n + j];
      for (size_t l = 0; l < matmul.k; ++l)
        sum +=
            test.a.values[i * matmul.k + l] * test.b.values[l * matmul.n + j];
      test.result.values[i * matmul.n + j] = sum;
    }
  return test;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

enum : uint32_t {
  capabilityShader = 1,
  capabilityFloat16 = 9,
  capabilityFloat64 = 10,
  capabilityInt64 = 11,
  capabilityInt16 = 22,
  capabilityInt8 = 39,
  capabilityStorageBuffer16 = 4433,
  capabilityStorageBuffer8 = 4448,
  capabilityBFloat16 = 5116,
  capabilityBFloat16Matrix = 5118,
  capabilityVulkanMemoryModel = 5345,
  capabilityPhysicalStorageBuffer = 5347,
  capabilityCooperativeMatrix = 6022,
};
enum : uint32_t {
  storagePhysicalStorageBuffer = 5349,
  addressingPhysicalStorageBuffer64 = 5348,
  memoryModelVulkan = 3,
  executionGLCompute = 5,
  decorationBlock = 2,
  decorationArrayStride = 6,
  decorationOffset = 35,
  accessAligned = 2,
  scopeSubgroup = 3,
};

/// A module, part by part: constants and types are wanted where they are used.
class Assembler {
public:
  using Words = std::vector<uint32_t>;

  uint32_t newId() { return next++; }
  static void add(Words &to, uint32_t code, const Words &operands) {
    to.push_back(code | static_cast<uint32_t>(operands.size() + 1) << 16);
    to.insert(to.end(), operands.begin(), operands.end());
  }
  /// A text, and zeros up to the end of a word.
  static Words text(const char *value) {
    Words words(std::strlen(value) / 4 + 1);
    std::memcpy(words.data(), value, std::strlen(value));
    return words;
  }
  /// A type or a constant, once. `operands` begin behind the result.
  uint32_t global(uint32_t code, const Words &operands) {
    Words key = operands;
    key.insert(key.begin(), code);
    uint32_t &id = globals[key];
    if (id)
      return id;
    id = newId();
    Words all = operands;
    // A constant's type is before its result.
    all.insert(all.begin() + (code == opConstant ? 1 : 0), id);
    add(types, code, all);
    return id;
  }
  uint32_t integer(uint32_t bits) { return global(opTypeInt, {bits, 0}); }
  uint32_t constant(uint32_t value) {
    return global(opConstant, {integer(32), value});
  }
  uint32_t constant64(uint64_t value) {
    return global(opConstant, {integer(64), static_cast<uint32_t>(value),
                               static_cast<uint32_t>(value >> 32)});
  }
  uint32_t pointer(uint32_t storage, uint32_t to) {
    return global(opTypePointer, {storage, to});
  }
  void capability(uint32_t number) {
    if (std::find(capabilities.begin(), capabilities.end(), number) ==
        capabilities.end())
      capabilities.push_back(number);
  }
  uint32_t component(ComponentType type);
  /// As memory has it: drivers need not have a type of bf16 there.
  uint32_t stored(ComponentType type) {
    if (type.kind != ComponentType::BFloat)
      return component(type);
    capability(capabilityInt16);
    return integer(16);
  }
  uint32_t matrix(ComponentType type, uint32_t rows, uint32_t cols,
                  uint32_t use) {
    uint32_t element = component(type), scope = constant(scopeSubgroup),
             height = constant(rows), width = constant(cols),
             purpose = constant(use);
    return global(opTypeCooperativeMatrix,
                  {element, scope, height, width, purpose});
  }
  /// An instruction with a result.
  uint32_t emit(uint32_t code, uint32_t type, const Words &operands) {
    uint32_t id = newId();
    Words all = {type, id};
    all.insert(all.end(), operands.begin(), operands.end());
    add(body, code, all);
    return id;
  }

  Words capabilities, decorations, types, body;

private:
  uint32_t next = 1;
  std::map<Words, uint32_t> globals;
};

} // namespace

uint32_t Assembler::component(ComponentType type) {
  if (type.bits == 8)
    capability(capabilityStorageBuffer8);
  if (type.bits == 16)
    capability(capabilityStorageBuffer16);
  switch (type.kind) {
  case ComponentType::Integer:
    if (type.bits < 32)
      capability(type.bits == 8 ? capabilityInt8 : capabilityInt16);
    return integer(type.bits);
  case ComponentType::BFloat:
    capability(capabilityBFloat16);
    capability(capabilityBFloat16Matrix);
    return global(opTypeFloat, {type.bits, 0});
  case ComponentType::Float:
    if (type.bits != 32)
      capability(type.bits == 16 ? capabilityFloat16 : capabilityFloat64);
    return global(opTypeFloat, {type.bits});
  }
  return 0;
}

std::vector<uint32_t>
tessera::runtime::assembleSelfTest(const MatrixMultiply &matmul, uint32_t lanes,
                                   bool transposeB) {
  using Words = Assembler::Words;
  Assembler m;
  m.capabilities = {capabilityShader, capabilityInt64,
                    capabilityPhysicalStorageBuffer,
                    capabilityVulkanMemoryModel, capabilityCooperativeMatrix};
  TestOperands shapes = makeTestOperands(matmul);
  const TestMatrix *matrices[] = {&shapes.a, &shapes.b, &shapes.c,
                                  &shapes.result};
  constexpr uint32_t uses[] = {0, 1, 2, 2};

  uint32_t word = m.integer(64), zero = m.constant(0);
  uint32_t block = m.global(opTypeStruct, {word});
  Assembler::add(m.decorations, opDecorate, {block, decorationBlock});
  Assembler::add(m.decorations, opMemberDecorate,
                 {block, 0, decorationOffset, 0});
  uint32_t params = m.newId();
  Assembler::add(
      m.types, opVariable,
      {m.pointer(storagePushConstant, block), params, storagePushConstant});
  uint32_t nothing = m.global(opTypeVoid, {});
  uint32_t kernel = m.newId();
  uint32_t type = m.global(opTypeFunction, {nothing});
  Assembler::add(m.body, opFunction, {nothing, kernel, 0, type});
  Assembler::add(m.body, opLabel, {m.newId()});
  uint32_t slot = m.emit(opAccessChain, m.pointer(storagePushConstant, word),
                         {params, zero});
  uint32_t address = m.emit(opLoad, word, {slot});
  uint32_t positions[4], values[4], types[4];
  for (uint32_t i = 0; i < 4; ++i) {
    const TestMatrix &matrix = *matrices[i];
    uint32_t element = m.stored(matrix.type);
    uint32_t count = static_cast<uint32_t>(m.types.size());
    uint32_t array = m.global(opTypeRuntimeArray, {element});
    uint32_t whole = m.global(opTypeStruct, {array});
    // Those that two matrices share are decorated once.
    if (m.types.size() > count) {
      Assembler::add(m.decorations, opDecorate,
                     {array, decorationArrayStride, matrix.type.getBytes()});
      Assembler::add(m.decorations, opDecorate, {whole, decorationBlock});
      Assembler::add(m.decorations, opMemberDecorate,
                     {whole, 0, decorationOffset, 0});
    }
    uint32_t at = m.emit(opIAdd, word, {address, m.constant64(8 * i)});
    uint32_t from = m.emit(opConvertUToPtr,
                           m.pointer(storagePhysicalStorageBuffer, word), {at});
    uint32_t begin = m.emit(opLoad, word, {from, accessAligned, 8});
    uint32_t memory =
        m.emit(opConvertUToPtr, m.pointer(storagePhysicalStorageBuffer, whole),
               {begin});
    positions[i] =
        m.emit(opAccessChain, m.pointer(storagePhysicalStorageBuffer, element),
               {memory, zero, zero});
    types[i] = m.matrix(matrix.type, matrix.rows, matrix.cols, uses[i]);
    // MemoryLayout: RowMajorKHR 0, ColumnMajorKHR 1.
    uint32_t layout = m.constant(transposeB && i == 1 ? 1 : 0);
    if (i < 3)
      values[i] = m.emit(opCooperativeMatrixLoad, types[i],
                         {positions[i], layout, m.constant(matrix.getStride()),
                          accessAligned, 16});
  }
  Words operands = {values[0], values[1], values[2]};
  if (matmul.operands)
    operands.push_back(matmul.operands);
  values[3] = m.emit(opCooperativeMatrixMulAdd, types[3], operands);
  Assembler::add(m.body, opCooperativeMatrixStore,
                 {positions[3], values[3], zero,
                  m.constant(shapes.result.getStride()), accessAligned, 16});
  Assembler::add(m.body, opReturn, {});
  Assembler::add(m.body, opFunctionEnd, {});

  // SPIR-V 1.6.
  Words words = {0x07230203, 0x00010600, 0, m.newId(), 0};
  for (uint32_t capability : m.capabilities)
    Assembler::add(words, opCapability, {capability});
  Assembler::add(words, opExtension,
                 Assembler::text("SPV_KHR_cooperative_matrix"));
  if (std::find(m.capabilities.begin(), m.capabilities.end(),
                uint32_t(capabilityBFloat16)) != m.capabilities.end())
    Assembler::add(words, opExtension, Assembler::text("SPV_KHR_bfloat16"));
  Assembler::add(words, opMemoryModel,
                 {addressingPhysicalStorageBuffer64, memoryModelVulkan});
  Words entry = {executionGLCompute, kernel};
  Words name = Assembler::text(selfTestKernel);
  entry.insert(entry.end(), name.begin(), name.end());
  entry.push_back(params);
  Assembler::add(words, opEntryPoint, entry);
  Assembler::add(words, opExecutionMode, {kernel, modeLocalSize, lanes, 1, 1});
  for (const Words *part : {&m.decorations, &m.types, &m.body})
    words.insert(words.end(), part->begin(), part->end());
  return words;
}

//===----------------------------------------------------------------------===//
// The test
//===----------------------------------------------------------------------===//

std::string tessera::runtime::describeDifference(const TestMatrix &result,
                                                 const TestMatrix &expected) {
  size_t wrong = 0, worst = 0;
  double most = -1;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    if (result.values[i] == expected.values[i])
      continue;
    ++wrong;
    double distance = std::abs(result.values[i] - expected.values[i]);
    if (std::isnan(distance))
      distance = INFINITY;
    if (distance > most) {
      most = distance;
      worst = i;
    }
  }
  if (wrong == 0)
    return "";
  return format("%zu of %zu elements differ; the largest error is at row %zu, "
                "column %zu: %.9g instead of %.9g",
                wrong, expected.values.size(), worst / expected.cols,
                worst % expected.cols, result.values[worst],
                expected.values[worst]);
}

Status tessera::runtime::runSelfTest(const MatrixMultiply &matmul,
                                     uint32_t lanes, bool transposeB,
                                     const RunSelfTest &run) {
  TestOperands test = makeTestOperands(matmul);
  // Elements that are not written are detected.
  std::vector<std::vector<uint8_t>> buffers = {
      test.a.encode(), test.b.encode(), test.c.encode(),
      std::vector<uint8_t>(test.result.encode().size(), 0xAA)};
  if (Status status = run(assembleSelfTest(matmul, lanes, transposeB), buffers);
      !status.ok())
    return status;
  TestMatrix result = test.result;
  result.decode(buffers[3]);
  std::string difference = describeDifference(result, test.result);
  return difference.empty() ? Status::success()
                            : Status(StatusCode::Rejected, difference);
}

std::string tessera::runtime::getChipWithoutMatmuls(const std::string &chip) {
  return chip.substr(0, chip.find("-m"));
}
