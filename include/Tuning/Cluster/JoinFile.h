//===- JoinFile.h - How other hosts find a run --------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_JOINFILE_H
#define TUNING_CLUSTER_JOINFILE_H

#include "Tuning/Cluster/Agent.h"

namespace tessera::tuning {

/// Writes the addresses of a run, separated by commas, and its key to a file
/// that only its owner can read. An existing file is replaced.
llvm::Error writeJoinFile(const std::string &file, llvm::StringRef addresses,
                          llvm::StringRef key);

/// Reads such a file: adds its addresses to the options, and sets the key. An
/// error if other users can read it.
llvm::Error readJoinFile(const std::string &file, JoinOptions &options);

/// Completes the options with the addresses and the key in `joinFile` unless
/// it is empty, and the key in `keyFile`, or without one in the environment
/// where there is none yet. An error if no address or no valid key is known, or
/// if the options leave nothing to do.
llvm::Error findRun(const std::string &joinFile, const std::string &keyFile,
                    JoinOptions &options);

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_JOINFILE_H
