//===- SPIRV.cpp - Kernels to SPIR-V binaries -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Disassembly.h"
#include "ImportedInstructions.h"
#include "Runtime/NamelessFile.h"
#include "Target/KernelFacts.h"
#include "Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Target/SPIRV/Serialization.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <cstring>

using namespace mlir;
using namespace mlir::tessera;

FailureOr<std::string> mlir::tessera::emitSPIRV(ModuleOp module) {
  std::string bytes;
  llvm::StringSet<llvm::MallocAllocator> names;
  WalkResult result = module.walk([&](spirv::ModuleOp code) {
    for (auto entry : code.getOps<spirv::EntryPointOp>())
      if (!names.insert(entry.getFn()).second) {
        entry.emitError() << "duplicate kernel name '" << entry.getFn()
                          << "': rename one";
        return WalkResult::interrupt();
      }
    SmallVector<uint32_t> words;
    spirv::SerializationOptions options;
    options.emitSymbolName = true;
    if (failed(spirv::serialize(code, words, options)))
      return WalkResult::interrupt();
    useImportedInstructions(words);
    kernel_facts::writeFacts(code, words);
    bytes.append(reinterpret_cast<const char *>(words.data()),
                 words.size() * sizeof(uint32_t));
    return WalkResult::skip();
  });
  if (result.wasInterrupted())
    return failure();
  return bytes;
}

/// The length in words of the first module of several.
static size_t getModuleLength(ArrayRef<uint32_t> words) {
  size_t at = 5;
  while (at < words.size() && words[at] != words[0])
    at += std::max<uint32_t>(words[at] >> 16, 1);
  return std::min(at, words.size());
}

FailureOr<std::string> mlir::tessera::printSPIRV(ModuleOp module) {
  FailureOr<std::string> bytes = emitSPIRV(module);
  if (failed(bytes))
    return failure();
  SmallVector<uint32_t> all(bytes->size() / sizeof(uint32_t));
  memcpy(all.data(), bytes->data(), all.size() * sizeof(uint32_t));
  std::string text;
  for (ArrayRef<uint32_t> words = all; !words.empty();) {
    size_t length = getModuleLength(words);
    text += disassembleSpirv(words.take_front(length));
    words = words.drop_front(length);
  }
  return text;
}

/// The environment against which spirv-val checks a module.
static StringRef getEnvironment(ArrayRef<uint32_t> words) {
  constexpr uint32_t opMemoryModel = 14, openCL = 2;
  constexpr uint32_t opCapability = 17, float16 = 9;
  bool isOpenCL = false, hasOptional = false;
  for (size_t at = 5; at + 2 < words.size();
       at += std::max<uint32_t>(words[at] >> 16, 1)) {
    if ((words[at] & 0xffff) == opMemoryModel)
      isOpenCL = words[at + 2] == openCL;
    if ((words[at] & 0xffff) == opCapability)
      hasOptional |= words[at + 1] == float16;
  }
  if (!isOpenCL)
    return "vulkan1.3";
  switch (words[1] >> 8 & 0xff) {
  case 0:
  case 1:
  case 2:
    return hasOptional ? "spv1.2" : "opencl2.2";
  case 3:
    return "spv1.3";
  case 4:
    return "spv1.4";
  case 5:
    return "spv1.5";
  default:
    return "spv1.6";
  }
}

std::string mlir::tessera::findSpirvVal() {
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("spirv-val");
  return path ? *path : "";
}

LogicalResult mlir::tessera::runSpirvVal(Operation *op, StringRef bytes) {
  std::string program = findSpirvVal();
  if (program.empty())
    return op->emitError() << "spirv-val is not on the PATH; install "
                              "spirv-tools, or disable validation";
  ArrayRef<uint32_t> words(reinterpret_cast<const uint32_t *>(bytes.data()),
                           bytes.size() / sizeof(uint32_t));
  while (!words.empty()) {
    size_t length = getModuleLength(words);
    ::tessera::runtime::NamelessFile file, log;
    if (!file.write({reinterpret_cast<const char *>(words.data()),
                     length * sizeof(uint32_t)}) ||
        !log.isOpen())
      return op->emitError()
             << "cannot write a temporary file: " << std::strerror(errno);
    std::string filePath = file.getPathForChild(),
                logPath = log.getPathForChild();
    int status = llvm::sys::ExecuteAndWait(
        program,
        {program, "--target-env", getEnvironment(words.take_front(length)),
         filePath},
        std::nullopt, {std::nullopt, StringRef(logPath), StringRef(logPath)});
    if (status)
      return op->emitError()
             << "spirv-val rejects a kernel: " << StringRef(log.read()).trim();
    words = words.drop_front(length);
  }
  return success();
}
