//===- JoinFile.cpp - How other hosts find a run --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/JoinFile.h"

#include "Runtime/OutputFile.h"
#include "Runtime/PrivateFile.h"

using namespace tessera::tuning;
using llvm::StringRef;

llvm::Error tessera::tuning::writeJoinFile(const std::string &file,
                                           StringRef addresses, StringRef key) {
  ::tessera::runtime::Status status =
      ::tessera::runtime::writePrivateFile(file, {addresses, "\n", key, "\n"});
  return status.ok() ? llvm::Error::success()
                     : llvm::createStringError(status.message());
}

llvm::Error tessera::tuning::readJoinFile(const std::string &file,
                                          JoinOptions &options) {
  ::tessera::runtime::PrivateFileOptions how;
  how.isSecret = true;
  how.maxBytes = 1 << 16;
  ::tessera::runtime::Expected<std::string> text =
      ::tessera::runtime::readPrivateFile(file, how);
  if (!text.ok())
    return llvm::createStringError("--join-file=" + file + ": the file " +
                                   text.status().message());
  auto [addresses, key] = StringRef(*text).trim().split('\n');
  addAddresses(addresses.trim(), options);
  options.key = key.trim().str();
  return llvm::Error::success();
}
