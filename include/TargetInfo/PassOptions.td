//===- PassOptions.td - Options of passes for a chip -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_PASSOPTIONS_TD
#define TARGETINFO_PASSOPTIONS_TD

include "mlir/Pass/PassBase.td"

defvar targetOptions = [
  Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
         "Target to compile for: cpu, cuda, hip, vulkan, opencl or level-zero">,
  Option<"chip", "chip", "std::string", /*default=*/"\"\"",
         "Chip of the target (cpu: empty is the host's)">];

#endif // TARGETINFO_PASSOPTIONS_TD
