//===- ThreadPool.cpp - Persistent threads of the CPU device --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses pthread_create rather than std::thread, whose constructor can only
// report a failure by an exception.
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include <pthread.h>
#include <semaphore.h>

using namespace tessera::runtime;

struct ThreadPool::Worker {
  ThreadPool *pool = nullptr;
  unsigned number = 0;
  bool quit = false;
  pthread_t thread;
  sem_t begin;
  sem_t end;
};

static void waitFor(sem_t *semaphore) {
  // A signal handler may interrupt the wait.
  while (sem_wait(semaphore) != 0) {
  }
}

void *ThreadPool::threadMain(void *data) {
  auto *worker = static_cast<Worker *>(data);
  for (;;) {
    waitFor(&worker->begin);
    if (worker->quit)
      return nullptr;
    worker->pool->work(worker->pool->argument, worker->number);
    sem_post(&worker->end);
  }
}

ThreadPool::ThreadPool(unsigned count) {
  for (unsigned number = 1; number < count; ++number) {
    auto worker = std::make_unique<Worker>();
    worker->pool = this;
    worker->number = number;
    sem_init(&worker->begin, /*pshared=*/0, 0);
    sem_init(&worker->end, /*pshared=*/0, 0);
    if (pthread_create(&worker->thread, nullptr, threadMain, worker.get()) !=
        0) {
      sem_destroy(&worker->begin);
      sem_destroy(&worker->end);
      return;
    }
    threads.push_back(std::move(worker));
  }
}

ThreadPool::~ThreadPool() {
  for (auto &worker : threads) {
    worker->quit = true;
    sem_post(&worker->begin);
  }
  for (auto &worker : threads) {
    pthread_join(worker->thread, nullptr);
    sem_destroy(&worker->begin);
    sem_destroy(&worker->end);
  }
}

unsigned ThreadPool::size() const {
  return static_cast<unsigned>(threads.size()) + 1;
}

void ThreadPool::run(unsigned workers, Work theWork, void *theArgument) {
  work = theWork;
  argument = theArgument;
  for (unsigned number = 1; number < workers; ++number)
    sem_post(&threads[number - 1]->begin);
  theWork(theArgument, 0);
  for (unsigned number = 1; number < workers; ++number)
    waitFor(&threads[number - 1]->end);
}
