//===- Key.h - Key of the hosts of a run --------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_KEY_H
#define TUNING_CLUSTER_KEY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tessera::tuning {

/// The variable of the environment that holds a key.
constexpr char keyVariable[] = "TESSERA_TUNE_KEY";

/// The error for `--token`, which earlier versions accepted.
constexpr char tokenProblem[] =
    "--token is not supported, because every user of this machine can read "
    "command lines; use --key-file=FILE, or the variable TESSERA_TUNE_KEY";

/// Reads a key: from a file, which must be this user's and not readable by
/// others, or without a file from the environment. Empty if neither has one.
/// An error if it is too short to be secret.
llvm::Expected<std::string> readKey(const std::string &file);

/// A new one: 64 hexadecimal digits.
llvm::Expected<std::string> makeKey();

/// Why the text cannot be a key; empty if it can.
std::string findKeyProblem(llvm::StringRef key);

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_KEY_H
