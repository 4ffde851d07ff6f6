//===- TextMutator.h - Programs that nearly are some ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_FUZZ_TEXTMUTATOR_H
#define UNITTESTS_FUZZ_TEXTMUTATOR_H

#include <cstdint>
#include <string>

namespace tessera::fuzz {

/// Changes a program's text so that it mostly still parses: a number, a type or
/// a word becomes another one, a value's name one that the text has, a line is
/// left out, doubled or moved. The same seed makes the same of the same text.
std::string mutateText(const std::string &text, uint32_t seed);

} // namespace tessera::fuzz

#endif // UNITTESTS_FUZZ_TEXTMUTATOR_H
