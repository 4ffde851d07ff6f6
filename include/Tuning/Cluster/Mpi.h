//===- Mpi.h - Processes that a launcher started together -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI is needed for one thing: to tell the other ranks where the first one
// listens. Open MPI 4 is found when the program runs, as drivers are, and only
// where a launcher states that this process is one of several.
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_CLUSTER_MPI_H
#define TUNING_CLUSTER_MPI_H

#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace tessera::tuning {

/// The launch parameters in the environment.
struct Launch {
  /// Processes of the job step; 0: unknown.
  unsigned size = 1;
  /// How many of them are on this host, and which of those this one is.
  unsigned localSize = 1, localRank = 0;
  /// The variable that states this.
  std::string source;
};

/// Absent if this process is by itself.
std::optional<Launch> findLaunch();

/// The cores that this process may use: its share, among the processes of this
/// host, of those that the launcher has not bound.
unsigned countCoresOf(const Launch &launch);

/// Each rank's end of the exchange. If rank 0 ends without `announce`, the
/// others are informed that there is no run, and stop waiting.
class Ranks {
public:
  /// MPI_Init. Fails, with the fix, without the library, or if a launcher has
  /// started several processes that do not know of each other.
  static llvm::Expected<std::optional<Ranks>> create(const Launch &launch);
  ~Ranks();
  Ranks(Ranks &&other) noexcept;
  Ranks &operator=(Ranks &&) = delete;

  int getRank() const { return rank; }
  int getSize() const { return size; }
  /// By rank 0, once: sends the text to the others. No call of MPI is made from
  /// then on.
  void announce(const std::string &text);
  /// By the others, once: the text; empty if there is no run.
  std::string hear();

private:
  struct Functions;
  Ranks(const Functions &functions, int rank, int size)
      : functions(&functions), rank(rank), size(size) {}

  const Functions *functions;
  int rank, size;
};

} // namespace tessera::tuning

#endif // TUNING_CLUSTER_MPI_H
