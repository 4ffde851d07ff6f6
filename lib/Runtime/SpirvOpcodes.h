//===- SpirvOpcodes.h - Numbers of SPIR-V -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of "SPIR-V Specification" that the runtime reads and writes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_SPIRVOPCODES_H
#define TESSERA_LIB_RUNTIME_SPIRVOPCODES_H

#include <cstdint>

namespace tessera::runtime {

/// Section 2.3: the first word of a module, and the words before its first
/// instruction.
enum : uint32_t { spirvMagic = 0x07230203, headerWords = 5 };

/// Section 3.42, "Instructions".
enum : uint32_t {
  opUndef = 1,
  opExtension = 10,
  opMemoryModel = 14,
  opEntryPoint = 15,
  opExecutionMode = 16,
  opCapability = 17,
  opTypeVoid = 19,
  opTypeInt = 21,
  opTypeFloat = 22,
  opTypeArray = 28,
  opTypeRuntimeArray = 29,
  opTypeStruct = 30,
  opTypePointer = 32,
  opTypeFunction = 33,
  opConstant = 43,
  opConstantComposite = 44,
  opConstantNull = 46,
  opFunction = 54,
  opFunctionParameter = 55,
  opFunctionEnd = 56,
  opVariable = 59,
  opLoad = 61,
  opAccessChain = 65,
  opDecorate = 71,
  opMemberDecorate = 72,
  opConvertUToPtr = 120,
  opIAdd = 128,
  opLabel = 248,
  opReturn = 253,
  opTypeCooperativeMatrix = 4456,
  opCooperativeMatrixLoad = 4457,
  opCooperativeMatrixStore = 4458,
  opCooperativeMatrixMulAdd = 4459,
};

/// Sections 3.6, "Execution Mode", 3.7, "Storage Class", and 3.20,
/// "Decoration".
enum : uint32_t {
  storagePushConstant = 9,
  decorationAlignment = 44,
  modeLocalSize = 17,
  modeSubgroupSize = 35,
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_SPIRVOPCODES_H
