//===- Key.cpp - Key of the hosts of a run --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Key.h"

#include "Runtime/PrivateFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdint>
#include <cstdlib>
#include <set>
#include <sys/random.h>

using namespace tessera::tuning;
namespace runtime = ::tessera::runtime;

static constexpr size_t leastBytes = 16, leastLetters = 8, mostBytes = 1 << 16;

std::string tessera::tuning::findKeyProblem(llvm::StringRef key) {
  std::set<char> letters(key.begin(), key.end());
  if (key.size() >= leastBytes && letters.size() >= leastLetters)
    return "";
  return "a key must have at least " + std::to_string(leastBytes) + " bytes, " +
         std::to_string(leastLetters) +
         " of them different, and must be random: openssl rand -hex 32";
}

llvm::Expected<std::string> tessera::tuning::readKey(const std::string &file) {
  std::string key, source = keyVariable;
  if (!file.empty()) {
    source = "--key-file=" + file;
    runtime::PrivateFileOptions options;
    options.maxBytes = mostBytes;
    options.isSecret = true;
    options.followsLinks = true;
    runtime::Expected<std::string> text =
        runtime::readPrivateFile(file, options);
    if (!text.ok())
      return llvm::createStringError(source + ": the file " +
                                     text.status().message());
    key = llvm::StringRef(*text).trim().str();
  } else if (const char *value = std::getenv(keyVariable)) {
    key = llvm::StringRef(value).trim().str();
  } else {
    return "";
  }
  if (std::string problem = findKeyProblem(key); !problem.empty())
    return llvm::createStringError(source + ": " + problem);
  return key;
}

llvm::Expected<std::string> tessera::tuning::makeKey() {
  uint8_t random[32];
  if (getrandom(random, sizeof(random), 0) != sizeof(random))
    return llvm::createStringError("cannot generate random numbers for a key");
  return llvm::toHex(random, /*LowerCase=*/true);
}
