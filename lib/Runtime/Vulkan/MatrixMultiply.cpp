//===- MatrixMultiply.cpp - Matmuls of cooperative matrices ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are those of the SPIR-V Specification, sections 2.3 ("Physical Layout
// of a SPIR-V Module") and 3.3 ("Instructions"), and of
// SPV_KHR_cooperative_matrix.
//
//===----------------------------------------------------------------------===//

#include "MatrixMultiply.h"

#include "../Format.h"
#include "../SpirvOpcodes.h"

#include <algorithm>
#include <unordered_map>

using namespace tessera::runtime;

namespace {

struct MatrixType {
  ComponentType component;
  uint32_t scope = 0, rows = 0, cols = 0;
};
} // namespace

static std::string getTypeName(ComponentType type, bool isSigned) {
  const char *letters[] = {isSigned ? "s" : "u", "f", "bf"};
  return format("%s%u", letters[type.kind], type.bits);
}

std::string MatrixMultiply::getName() const {
  std::string resultName = getTypeName(result, operands & signedResult),
              aName = getTypeName(a, operands & signedA),
              bName = getTypeName(b, operands & signedB),
              cName = getTypeName(c, operands & signedC);
  std::string name =
      format("m%un%uk%u.%s.%s", m, n, k, resultName.c_str(), aName.c_str());
  if (bName != aName)
    name += "." + bName;
  if (cName != resultName)
    name += "+" + cName;
  if (operands & saturating)
    name += "+saturating";
  if (scope != 3)
    name += format("+scope%u", scope);
  return name;
}

bool MatrixMultiply::operator==(const MatrixMultiply &other) const {
  return m == other.m && n == other.n && k == other.k && a == other.a &&
         b == other.b && c == other.c && result == other.result &&
         operands == other.operands && scope == other.scope;
}

std::vector<MatrixMultiply>
tessera::runtime::readMatrixMultiplies(const std::vector<uint32_t> &words) {
  std::unordered_map<uint32_t, ComponentType> components;
  std::unordered_map<uint32_t, uint32_t> constants;
  std::unordered_map<uint32_t, MatrixType> types;
  // By value, its type.
  std::unordered_map<uint32_t, MatrixType> matrices;
  struct MulAdd {
    uint32_t result, a, b, c, operands;
  };
  std::vector<MulAdd> found;
  bool inFunction = false;
  uint32_t length = 0;
  for (size_t at = headerWords; at < words.size(); at += length) {
    length = words[at] >> 16;
    if (length == 0 || at + length > words.size())
      return {};
    auto word = [&](uint32_t i) { return i < length ? words[at + i] : 0; };
    uint32_t code = words[at] & 0xffff;
    switch (code) {
    case opTypeInt:
      components[word(1)] = {ComponentType::Integer, word(2)};
      break;
    case opTypeFloat:
      // A third operand is an encoding of its own: BFloat16KHR is 0, and those
      // of 8 bits are not valid components here.
      if (length == 3)
        components[word(1)] = {ComponentType::Float, word(2)};
      else if (word(3) == 0)
        components[word(1)] = {ComponentType::BFloat, word(2)};
      break;
    case opConstant:
      constants[word(2)] = word(3);
      break;
    case opTypeCooperativeMatrix: {
      auto component = components.find(word(2));
      auto scope = constants.find(word(3)), rows = constants.find(word(4)),
           cols = constants.find(word(5));
      if (component != components.end() && scope != constants.end() &&
          rows != constants.end() && cols != constants.end())
        types[word(1)] = {component->second, scope->second, rows->second,
                          cols->second};
      break;
    }
    case opFunction:
      inFunction = true;
      break;
    case opFunctionEnd:
      inFunction = false;
      break;
    case opCooperativeMatrixMulAdd:
      found.push_back({word(2), word(3), word(4), word(5), word(6)});
      break;
    default:
      break;
    }
    // In a function, what begins with a type has it for its result.
    if (inFunction || code == opUndef || code == opConstantComposite ||
        code == opConstantNull)
      if (auto type = types.find(word(1)); type != types.end())
        matrices[word(2)] = type->second;
  }
  std::vector<MatrixMultiply> matmuls;
  for (const MulAdd &op : found) {
    auto a = matrices.find(op.a), b = matrices.find(op.b),
         c = matrices.find(op.c), result = matrices.find(op.result);
    if (a == matrices.end() || b == matrices.end() || c == matrices.end() ||
        result == matrices.end())
      continue;
    MatrixMultiply matmul;
    matmul.m = a->second.rows;
    matmul.n = b->second.cols;
    matmul.k = a->second.cols;
    matmul.a = a->second.component;
    matmul.b = b->second.component;
    matmul.c = c->second.component;
    matmul.result = result->second.component;
    matmul.operands = op.operands;
    matmul.scope = result->second.scope;
    if (std::find(matmuls.begin(), matmuls.end(), matmul) == matmuls.end())
      matmuls.push_back(matmul);
  }
  return matmuls;
}
