//===- ParallelFor.cpp - Independent work on several threads --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParallelFor.h"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace tessera::runtime;

namespace {
struct Work {
  size_t count;
  const std::function<void(size_t)> &body;
  std::atomic<size_t> next{0};
};
} // namespace

static void *runWork(void *data) {
  auto *work = static_cast<Work *>(data);
  for (size_t i; (i = work->next.fetch_add(1)) < work->count;)
    work->body(i);
  return nullptr;
}

void tessera::runtime::parallelFor(size_t count, unsigned threads,
                                   const std::function<void(size_t)> &body) {
  Work work{count, body};
  // std::thread could only report a failure by an exception.
  std::vector<pthread_t> others;
  for (size_t i = 1, e = std::min<size_t>(threads, count); i < e; ++i) {
    pthread_t other;
    if (pthread_create(&other, nullptr, runWork, &work) != 0)
      break;
    others.push_back(other);
  }
  runWork(&work);
  for (pthread_t other : others)
    pthread_join(other, nullptr);
}

unsigned tessera::runtime::countProcessors() {
  return std::max(1u, std::thread::hardware_concurrency());
}
