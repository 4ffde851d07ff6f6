//===- WorkerPoolTest.cpp - The processes of a run ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningRunTest.h"

using namespace tessera::tuning;
namespace json = llvm::json;

namespace {

class WorkerPoolTest : public ::testing::Test {
protected:
  FakeProcess &get(WorkerSlot &slot) {
    return static_cast<FakeProcess &>(*slot.child);
  }
  Compiler &addCompiler() {
    Compiler &compiler = pool.compilers.emplace_back();
    EXPECT_TRUE(pool.start(compiler, why));
    return compiler;
  }
  Measurer &addMeasurer(const std::string &identity, Measurer::State state) {
    Measurer &measurer = pool.measurers.emplace_back();
    measurer.identity = identity;
    measurer.ordinal = 4;
    EXPECT_TRUE(pool.start(measurer, "cuda", "", why));
    measurer.state = state;
    return measurer;
  }
  /// Serves the compilers, and notes what happens.
  void serve() {
    WorkerPool::serve<Compiler>(
        pool.compilers,
        [&](Compiler &compiler, Message message) {
          events.push_back(getText(message.head, "op"));
          if (events.back() == "restart")
            EXPECT_TRUE(pool.start(compiler, why));
        },
        [&](Compiler &) { events.push_back("hang up"); },
        [&](Compiler &) { events.push_back("lose"); });
  }

  std::string why;
  bool canStart = true;
  std::vector<std::vector<std::string>> started;
  WorkerPool pool{
      [this](int host, const std::vector<std::string> &arguments,
             std::string &reason) -> std::unique_ptr<WorkerProcess> {
        started.push_back(arguments);
        if (canStart)
          return std::make_unique<FakeProcess>();
        reason = "no memory";
        return nullptr;
      },
      /*candidateLimit=*/20};
  std::vector<std::string> events;
};

TEST_F(WorkerPoolTest, StartsAnew) {
  Compiler &compiler = addCompiler();
  compiler.known = {1, 2};
  compiler.dying = Clock::now();
  ASSERT_TRUE(pool.start(compiler, why));
  EXPECT_TRUE(compiler.known.empty());
  EXPECT_FALSE(compiler.dying);
  Measurer &measurer = addMeasurer("gpu 0", Measurer::Idle);
  measurer.open = {3};
  ASSERT_TRUE(pool.start(measurer, "hip", "hang:x", why));
  EXPECT_TRUE(measurer.open.empty());
  EXPECT_EQ(measurer.state, Measurer::Starting);
  EXPECT_EQ(started.back(),
            (std::vector<std::string>{"measure", "hip", "4", "hang:x"}));
  canStart = false;
  EXPECT_FALSE(pool.start(compiler, why));
  EXPECT_EQ(why, "no memory");
}

TEST_F(WorkerPoolTest, OneWorkerMeasuresOnADevice) {
  addMeasurer("gpu 0", Measurer::Loaded);
  Measurer &other = addMeasurer("gpu 0", Measurer::Idle);
  EXPECT_FALSE(pool.isBusy("gpu 0"));
  other.state = Measurer::Going;
  EXPECT_TRUE(pool.isBusy("gpu 0"));
  EXPECT_FALSE(pool.isBusy("gpu 1"));
  other.state = Measurer::Comparing;
  EXPECT_TRUE(pool.isBusy("gpu 0"));
  other.isRemoved = true;
  EXPECT_FALSE(pool.isBusy("gpu 0"));
  EXPECT_TRUE(pool.hasWorker("gpu 0"));
  EXPECT_FALSE(pool.hasWorker("gpu 1"));
}

TEST_F(WorkerPoolTest, OneWorkerOpensATask) {
  Measurer &one = addMeasurer("gpu 0", Measurer::Opening);
  one.open = {1};
  one.task = 2;
  Measurer &other = addMeasurer("gpu 0", Measurer::Idle);
  EXPECT_TRUE(pool.isOpenElsewhere(other, 1));
  EXPECT_TRUE(pool.isOpenElsewhere(other, 2));
  EXPECT_FALSE(pool.isOpenElsewhere(other, 3));
  EXPECT_FALSE(pool.isOpenElsewhere(one, 1));
  one.state = Measurer::Idle;
  EXPECT_FALSE(pool.isOpenElsewhere(other, 2));
  one.isRemoved = true;
  EXPECT_FALSE(pool.isOpenElsewhere(other, 1));
}

TEST_F(WorkerPoolTest, ServesMessagesBeforeTheEnd) {
  FakeProcess &process = get(addCompiler());
  ASSERT_TRUE(process.other.send({json::Object{{"op", "first"}}, ""}));
  ASSERT_TRUE(process.other.send({json::Object{{"op", "second"}}, ""}));
  process.hangUp();
  serve();
  EXPECT_EQ(events, (std::vector<std::string>{"first", "second", "hang up"}));
}

// They are of a process that is gone.
TEST_F(WorkerPoolTest, DropsMessagesOfAFormerProcess) {
  FakeProcess &process = get(addCompiler());
  ASSERT_TRUE(process.other.send({json::Object{{"op", "restart"}}, ""}));
  ASSERT_TRUE(process.other.send({json::Object{{"op", "second"}}, ""}));
  serve();
  EXPECT_EQ(events, (std::vector<std::string>{"restart"}));
}

TEST_F(WorkerPoolTest, TakesReportedEnds) {
  FakeProcess &process = get(addCompiler());
  process.isConnected = false;
  serve();
  EXPECT_TRUE(events.empty());
  process.how = "signal 11";
  serve();
  EXPECT_EQ(events, (std::vector<std::string>{"lose"}));
  pool.compilers.front().isRemoved = true;
  serve();
  EXPECT_EQ(events.size(), 1u);
  pool.removeEnded();
  EXPECT_TRUE(pool.compilers.empty());
}

TEST_F(WorkerPoolTest, FindsLateWorkers) {
  auto after = [](Clock::time_point since, double seconds) {
    return since + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(seconds));
  };
  Compiler &compiler = addCompiler();
  // Without work it may wait for ever.
  EXPECT_FALSE(pool.isLate(compiler, after(compiler.since, 1e6)));
  compiler.work.emplace();
  EXPECT_FALSE(pool.isLate(compiler, after(compiler.since, compileLimit - 1)));
  EXPECT_TRUE(pool.isLate(compiler, after(compiler.since, compileLimit + 1)));
  Measurer &measurer = addMeasurer("gpu 0", Measurer::Going);
  EXPECT_FALSE(pool.isLate(measurer, after(measurer.since, 19)));
  EXPECT_TRUE(pool.isLate(measurer, after(measurer.since, 21)));
  measurer.state = Measurer::Comparing;
  EXPECT_FALSE(pool.isLate(measurer, after(measurer.since, 21)));
  measurer.state = Measurer::Idle;
  EXPECT_FALSE(pool.isLate(measurer, after(measurer.since, 1e6)));
  // It is no longer waited for, but its host's word is.
  measurer.state = Measurer::Going;
  measurer.dying = measurer.since;
  EXPECT_FALSE(pool.isLate(measurer, after(measurer.since, 21)));
  EXPECT_FALSE(
      WorkerPool::isOverdue(measurer, after(measurer.since, dyingLimit - 1)));
  EXPECT_TRUE(
      WorkerPool::isOverdue(measurer, after(measurer.since, dyingLimit + 1)));
}

TEST_F(WorkerPoolTest, StopsCompilers) {
  std::vector<TaskState> states(2);
  states[1].inHand = 3;
  Compiler &compiler = addCompiler();
  addCompiler();
  compiler.work.emplace();
  compiler.work->task = 1;
  pool.stopCompilers(states);
  EXPECT_EQ(states[1].inHand, 2u);
  std::vector<pollfd> files;
  pool.addFiles(files);
  EXPECT_TRUE(files.empty());
}

} // namespace
