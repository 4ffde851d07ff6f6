//===- AddKernel.h - A kernel of SPIR-V for tests ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_ADDKERNEL_H
#define TESSERA_UNITTESTS_RUNTIME_ADDKERNEL_H

#include <cstdint>
#include <string>
#include <vector>

/// A module of OpenCL's SPIR-V with kernel "add", of 16x1x1 threads in
/// subgroups of 16: (pointer, i64, i32). The pointer is a multiple of
/// `alignment`, if given. It has no code: fake drivers do not execute it.
/// `capability`: the number of one that the module declares; 0 for none.
inline std::string makeAddModule(uint32_t alignment = 0,
                                 uint32_t capability = 0) {
  std::vector<uint32_t> words = {0x07230203, 0x00010200, 0, 100, 0};
  auto add = [&](uint32_t code, std::vector<uint32_t> operands) {
    words.push_back(code | static_cast<uint32_t>(operands.size() + 1) << 16);
    words.insert(words.end(), operands.begin(), operands.end());
  };
  if (capability)
    add(17, {capability});                      // OpCapability
  add(15, {6, 10, 'a' | 'd' << 8 | 'd' << 16}); // OpEntryPoint Kernel
  add(16, {10, 17, 16, 1, 1});                  // LocalSize
  add(16, {10, 35, 16});                        // SubgroupSize
  if (alignment)
    add(71, {30, 44, alignment}); // OpDecorate Alignment
  add(21, {1, 8, 0});             // OpTypeInt
  add(21, {2, 64, 0});
  add(21, {3, 32, 0});
  add(32, {4, 5, 1});       // OpTypePointer CrossWorkgroup
  add(54, {20, 10, 0, 21}); // OpFunction
  add(55, {4, 30});         // OpFunctionParameter
  add(55, {2, 31});
  add(55, {3, 32});
  return {reinterpret_cast<const char *>(words.data()),
          words.size() * sizeof(uint32_t)};
}

#endif // TESSERA_UNITTESTS_RUNTIME_ADDKERNEL_H
