//===- Nvtx.h - Ranges in the timelines of NVIDIA's tools -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tool that traces the process (Nsight Systems) names a library in the
// environment, NVTX_INJECTION64_PATH, which is asked for its functions. Without
// a tool, a range costs one comparison. Tessera needs neither the headers nor
// the library of NVTX.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_NVTX_H
#define TESSERA_RUNTIME_NVTX_H

namespace tessera::runtime {

/// The functions of a tool; null without one.
struct NvtxTool {
  int (*push)(const char *name) = nullptr;
  int (*pop)() = nullptr;
};

/// Asks the library at a path for its functions.
NvtxTool loadNvtxTool(const char *path);

/// The tool of this process.
const NvtxTool &getNvtxTool();

/// A range of the calling thread that lasts as long as the object. Ranges nest.
class NvtxRange {
public:
  explicit NvtxRange(const char *name) : tool(getNvtxTool()) {
    if (tool.push)
      tool.push(name);
  }
  ~NvtxRange() {
    if (tool.push)
      tool.pop();
  }
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;

private:
  const NvtxTool &tool;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_NVTX_H
