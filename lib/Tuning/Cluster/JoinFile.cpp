//===- JoinFile.cpp - How other hosts find a run --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/JoinFile.h"

#include "Runtime/OutputFile.h"
#include "Runtime/PrivateFile.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Cluster/Socket.h"

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

llvm::Error tessera::tuning::findRun(const std::string &joinFile,
                                     const std::string &keyFile,
                                     JoinOptions &options) {
  if (!joinFile.empty())
    if (llvm::Error error = readJoinFile(joinFile, options))
      return error;
  if (!keyFile.empty() || options.key.empty())
    if (llvm::Error error = readKey(keyFile).moveInto(options.key))
      return error;
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(message);
  };
  if (options.addresses.empty())
    return fail("the run's address is missing: pass ADDRESS:PORT, as "
                "gpu-tune run --listen prints it");
  for (const std::string &address : options.addresses)
    if (!isAddress(address))
      return fail("'" + address + "' is not ADDRESS:PORT");
  if (options.key.empty())
    return fail(llvm::Twine("the run's key is missing: pass --key-file=FILE, "
                            "or set the variable ") +
                keyVariable);
  if (std::string problem = findKeyProblem(options.key); !problem.empty())
    return fail(problem);
  if (options.jobs == 0 && options.isNone())
    return fail("--jobs=0 with --devices=none leaves nothing to do");
  return llvm::Error::success();
}
