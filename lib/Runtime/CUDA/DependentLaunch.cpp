//===- DependentLaunch.cpp - Which kernels wait by themselves -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DependentLaunch.h"

#include <cstdlib>
#include <elf.h>
#include <string>

using namespace tessera::runtime;

bool tessera::runtime::hasWaitingKernels(std::string_view image) {
  constexpr std::string_view elf(ELFMAG, SELFMAG);
  std::string mark(waitingKernelsMark);
  // A symbol of the string table, between two zeros.
  if (image.substr(0, elf.size()) == elf)
    return image.find('\0' + mark + '\0') != std::string_view::npos;
  // ".visible .global .align 1 .b8 NAME;", or an array of them. A kernel of
  // that name has a list of parameters, or a body.
  mark.insert(0, " ");
  for (size_t found = image.find(mark); found != std::string_view::npos;
       found = image.find(mark, found + 1)) {
    size_t end = found + mark.size();
    if (end < image.size() && (image[end] == ';' || image[end] == '['))
      return true;
  }
  return false;
}

Expected<DependentLaunch> tessera::runtime::readDependentLaunchVariable() {
  const char *text = std::getenv("TESSERA_DEPENDENT_LAUNCH");
  if (!text || std::string_view(text) == "on")
    return DependentLaunch::Resident;
  if (std::string_view(text) == "unit")
    return DependentLaunch::OneForEachUnit;
  if (std::string_view(text) == "off")
    return DependentLaunch::None;
  return Status(StatusCode::InvalidArgument,
                std::string("invalid TESSERA_DEPENDENT_LAUNCH '") + text +
                    "': expected 'on', 'unit' or 'off'");
}
