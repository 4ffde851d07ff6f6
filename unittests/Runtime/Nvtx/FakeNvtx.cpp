//===- FakeNvtx.cpp - A tool that records ranges --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written from the description of NVTX's injection, not from the runtime: it
// checks the tables that it is given as NVIDIA's tools do.
//
// At the end of the process it writes the ranges to the file that the
// environment names in FAKE_NVTX_REPORT: a line "COUNT OUTER/INNER" for each
// nest of names, sorted by names, and a line for what was wrong.
//
//===----------------------------------------------------------------------===//

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

/// The ranges of a process, in all of its threads.
class Report {
public:
  ~Report() {
    const char *path = std::getenv("FAKE_NVTX_REPORT");
    std::FILE *file = path ? std::fopen(path, "w") : nullptr;
    if (!file)
      return;
    for (const auto &[name, count] : counts)
      std::fprintf(file, "%d %s\n", count, name.c_str());
    if (open != 0)
      std::fprintf(file, "%d ranges have not ended\n", open);
    if (unmatched != 0)
      std::fprintf(file, "%d ranges ended that had not begun\n", unmatched);
    std::fclose(file);
  }
  void push(const char *name) {
    std::lock_guard<std::mutex> lock(mutex);
    own.push_back((own.empty() ? "" : own.back() + "/") + name);
    ++counts[own.back()];
    ++open;
  }
  void pop() {
    std::lock_guard<std::mutex> lock(mutex);
    if (own.empty()) {
      ++unmatched;
      return;
    }
    own.pop_back();
    --open;
  }

private:
  std::mutex mutex;
  std::map<std::string, int> counts;
  int open = 0, unmatched = 0;
  /// The ranges of a thread that have not ended.
  static thread_local std::vector<std::string> own;
};
thread_local std::vector<std::string> Report::own;

Report &getReport() {
  static Report report;
  return report;
}

} // namespace

extern "C" {

/// "(name" for a range that begins, and ")" for one that ends.
char tesseraRanges[4096] = "";

static void append(const char *text) {
  std::strncat(tesseraRanges, text,
               sizeof(tesseraRanges) - std::strlen(tesseraRanges) - 1);
}

static int pushRange(const char *name) {
  append("(");
  append(name);
  getReport().push(name);
  return 0;
}
static int popRange() {
  append(")");
  getReport().pop();
  return 0;
}

// NOLINTNEXTLINE(readability-identifier-naming): the name in the protocol.
int InitializeInjectionNvtx2(const void *(*getExportTable)(uint32_t table)) {
  struct Version {
    size_t size;
    uint32_t version, reserved;
    void (*set)(uint32_t version);
  };
  const auto *version = static_cast<const Version *>(getExportTable(3));
  if (!version || version->size < sizeof(Version) || version->version < 2)
    return 0;
  version->set(2);
  using Function = void (*)();
  struct Callbacks {
    size_t size;
    int (*getTable)(uint32_t module, Function ***table, unsigned *size);
  };
  const auto *callbacks = static_cast<const Callbacks *>(getExportTable(1));
  if (!callbacks || callbacks->size < sizeof(Callbacks))
    return 0;
  // A tool sets the functions of all modules that NVTX's header has, as far as
  // it knows them, and fails where one is absent.
  Function **table = nullptr;
  unsigned size = 0;
  const unsigned sizes[] = {16, 9, 15, 7, 16, 7};
  for (uint32_t module = 6; module >= 1; --module) {
    if (callbacks->getTable(module, &table, &size) != 1 ||
        size != sizes[module - 1] || table[0] != nullptr)
      return 0;
    for (unsigned index = 1; index < size; ++index)
      *table[index] = [] {};
  }
  if (callbacks->getTable(0, nullptr, nullptr) != 0 ||
      callbacks->getTable(7, nullptr, nullptr) != 0)
    return 0;
  if (callbacks->getTable(1, &table, &size) != 1 || size <= 11)
    return 0;
  *table[9] = reinterpret_cast<Function>(pushRange);
  *table[11] = reinterpret_cast<Function>(popRange);
  return 1;
}

} // extern "C"
