//===- Mpi.cpp - Processes that a launcher started together ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Mpi.h"
#include "Tuning/Cluster/Agent.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

using namespace tessera::tuning;
using llvm::StringRef;

static constexpr char library[] = "libmpi.so.40";

/// The part of Open MPI's interface that is used: its handles are pointers to
/// objects of the library.
struct Ranks::Functions {
  int (*init)(int *, char ***);
  int (*finalize)();
  int (*getRank)(void *, int *);
  int (*getSize)(void *, int *);
  int (*broadcast)(void *, int, void *, int, void *);
  void *world, *byte;
};

//===----------------------------------------------------------------------===//
// The launcher
//===----------------------------------------------------------------------===//

static std::optional<unsigned> getNumber(const char *name) {
  const char *value = std::getenv(name);
  unsigned number;
  if (!value || StringRef(value).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// The entry of a node in Slurm's "2(x3),1".
static std::optional<unsigned> getTasksOf(StringRef text, unsigned node) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [tasksText, times] = part.split("(x");
    unsigned tasks, count = 1;
    if (tasksText.getAsInteger(10, tasks) ||
        (!times.empty() && times.drop_back().getAsInteger(10, count)))
      return std::nullopt;
    if (node < count)
      return tasks;
    node -= count;
  }
  return std::nullopt;
}

std::optional<Launch> tessera::tuning::findLaunch() {
  Launch launch;
  if (std::optional<unsigned> size = getNumber("OMPI_COMM_WORLD_SIZE")) {
    if (*size <= 1)
      return std::nullopt;
    launch.size = *size;
    launch.localSize = getNumber("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(1);
    launch.localRank = getNumber("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0);
    launch.source = "OMPI_COMM_WORLD_SIZE";
    return launch;
  }
  // Steps from 0xfffffff0 on are a job's script, or its shell.
  std::optional<unsigned> step = getNumber("SLURM_STEP_ID");
  if (step && *step < 0xfffffff0u) {
    std::optional<unsigned> size = getNumber("SLURM_STEP_NUM_TASKS");
    if (!size)
      size = getNumber("SLURM_NTASKS");
    if (!size || *size <= 1)
      return std::nullopt;
    launch.size = *size;
    const char *tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
    launch.localSize =
        getTasksOf(tasks ? tasks : "", getNumber("SLURM_NODEID").value_or(0))
            .value_or(1);
    launch.localRank = getNumber("SLURM_LOCALID").value_or(0);
    launch.source = "SLURM_STEP_NUM_TASKS";
    return launch;
  }
  if (!getNumber("PMIX_RANK"))
    return std::nullopt;
  launch.size = 0;
  launch.source = "PMIX_RANK";
  return launch;
}

unsigned tessera::tuning::countCoresOf(const Launch &launch) {
  unsigned own = countCores();
  // The launcher itself is bound to none of them.
  cpu_set_t set;
  unsigned all = own;
  if (sched_getaffinity(getppid(), sizeof(set), &set) == 0)
    all = std::max(own, static_cast<unsigned>(CPU_COUNT(&set)));
  return std::max(1u, std::min(own, all / std::max(1u, launch.localSize)));
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

llvm::Expected<std::optional<Ranks>> Ranks::create(const Launch &launch) {
  auto fail = [&](const llvm::Twine &what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
  };
  std::string several = "this process is one of several (" + launch.source +
                        (launch.size ? "=" + std::to_string(launch.size) : "") +
                        "), ";
  // Open MPI would end the process, at length.
  if (StringRef(launch.source).starts_with("SLURM") && !getNumber("PMIX_RANK"))
    return fail(
        several +
        "but srun did not connect them: use srun --mpi=pmix (docs/Tuning.md)");
  // The library loads parts of its own, which look for it among all symbols.
  void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (!handle)
    return fail(several +
                "but Open MPI 4, which connects them, was not found (" +
                dlerror() +
                "): install it, or start one gpu-tune run --listen and the "
                "others with gpu-tune join");
  static Functions functions;
  auto find = [&](auto &function, const char *name) {
    void *symbol = dlsym(handle, name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
    return symbol != nullptr;
  };
  if (!find(functions.init, "MPI_Init") ||
      !find(functions.finalize, "MPI_Finalize") ||
      !find(functions.getRank, "MPI_Comm_rank") ||
      !find(functions.getSize, "MPI_Comm_size") ||
      !find(functions.broadcast, "MPI_Bcast") ||
      !find(functions.world, "ompi_mpi_comm_world") ||
      !find(functions.byte, "ompi_mpi_byte"))
    return fail(several + library +
                " is not Open MPI 4: a function is missing");
  int rank = 0, size = 1;
  // Without an error handler of ours the library ends the process by itself.
  if (functions.init(nullptr, nullptr) != 0 ||
      functions.getRank(functions.world, &rank) != 0 ||
      functions.getSize(functions.world, &size) != 0)
    return fail(several + "but MPI_Init failed");
  if (size == 1) {
    functions.finalize();
    if (launch.size == 0)
      return std::optional<Ranks>();
    return fail(several + "but Open MPI reports a single rank: start them with "
                          "mpirun, or srun --mpi=pmix");
  }
  return std::optional<Ranks>(Ranks(functions, rank, size));
}

Ranks::Ranks(Ranks &&other) noexcept
    : functions(std::exchange(other.functions, nullptr)), rank(other.rank),
      size(other.size) {}

Ranks::~Ranks() {
  if (!functions)
    return;
  if (rank == 0)
    announce("");
  else
    (void)hear();
}

void Ranks::announce(const std::string &text) {
  auto length = static_cast<int>(text.size());
  std::string bytes = text;
  functions->broadcast(&length, sizeof(length), functions->byte, 0,
                       functions->world);
  if (length > 0)
    functions->broadcast(bytes.data(), length, functions->byte, 0,
                         functions->world);
  // At once: a rank that dies later is not waited for.
  functions->finalize();
  functions = nullptr;
}

std::string Ranks::hear() {
  int length = 0;
  functions->broadcast(&length, sizeof(length), functions->byte, 0,
                       functions->world);
  std::string text(static_cast<size_t>(std::max(0, length)), '\0');
  if (length > 0)
    functions->broadcast(text.data(), length, functions->byte, 0,
                         functions->world);
  functions->finalize();
  functions = nullptr;
  return text;
}
