//===- TaskQueueTest.cpp - Which candidate comes next ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningRunTest.h"

using namespace tessera::tuning;

namespace {

class TaskQueueTest : public ::testing::Test {
protected:
  /// Adds a task with so many points.
  FakeSource &add(int64_t points, unsigned count = 1) {
    Task &task = tasks.emplace_back();
    task.count = count;
    TaskState &state = queue.states.emplace_back();
    state.task = &task;
    auto source = std::make_unique<FakeSource>(points);
    FakeSource &added = *source;
    state.source = std::move(source);
    return added;
  }
  /// The compiler's own choice of a task was compiled.
  void setOwn(size_t task) {
    queue.states[task].isOwnBegun = true;
    queue.states[task].ownChoice = "own";
    queue.states[task].ownBundle = "bundle";
  }
  /// A compiled candidate.
  static Pending makePending(size_t task, bool isOwn = false) {
    Pending work;
    work.task = task;
    if (!isOwn)
      work.point = makePoint(0);
    return work;
  }

  RunOptions options;
  std::list<Task> tasks;
  TaskQueue queue{options};
};

TEST_F(TaskQueueTest, OwnChoicesComeFirst) {
  add(2);
  add(2);
  for (size_t task : {0u, 1u}) {
    std::optional<Pending> own = queue.propose(std::nullopt);
    ASSERT_TRUE(own);
    EXPECT_EQ(own->task, task);
    EXPECT_FALSE(own->point);
  }
  // Other candidates wait for the neighbourhood of the own choice.
  EXPECT_FALSE(queue.propose(std::nullopt));
  setOwn(1);
  std::optional<Pending> next = queue.propose(std::nullopt);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->task, 1u);
  EXPECT_EQ(next->schedule, "0 : i64");
  EXPECT_EQ(next->expected, 0.5);
  EXPECT_EQ(next->id, 3);
  EXPECT_EQ(queue.countInHand(), 3u);
  EXPECT_EQ(queue.countMade(), 3u);
}

TEST_F(TaskQueueTest, SharesTheBeginning) {
  add(10);
  add(10);
  setOwn(0);
  setOwn(1);
  std::vector<size_t> order;
  for (int i = 0; i < 4; ++i)
    order.push_back(queue.propose(std::nullopt)->task);
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 0, 1}));
}

TEST_F(TaskQueueTest, FollowsExpectedGainAfterwards) {
  FakeSource &low = add(100), &high = add(100);
  low.gain = 0.1;
  high.gain = 0.3;
  for (size_t task : {0u, 1u}) {
    setOwn(task);
    queue.states[task].begun = firstCandidates;
  }
  EXPECT_EQ(queue.propose(std::nullopt)->task, 1u);
  EXPECT_EQ(queue.propose(std::nullopt)->task, 1u);
  // Three in hand leave less to gain than none: 0.3 / 3 against 0.1 / 1.
  low.gain = 0.11;
  EXPECT_EQ(queue.propose(std::nullopt)->task, 0u);
}

TEST_F(TaskQueueTest, WeighsTasksByTheirTime) {
  FakeSource &rare = add(100, /*count=*/1), &frequent = add(100, /*count=*/8);
  rare.best = frequent.best = 0.5;
  rare.gain = 0.2;
  frequent.gain = 0.1;
  for (size_t task : {0u, 1u}) {
    setOwn(task);
    queue.states[task].begun = firstCandidates;
  }
  options.weighByTime = true;
  EXPECT_EQ(queue.propose(std::nullopt)->task, 1u);
  options.weighByTime = false;
  EXPECT_EQ(queue.propose(std::nullopt)->task, 0u);
}

TEST_F(TaskQueueTest, StopsAtTrialsAndFailures) {
  add(10);
  add(10);
  setOwn(0);
  setOwn(1);
  options.trials = 2;
  queue.states[0].begun = 3;
  EXPECT_EQ(queue.propose(std::nullopt)->task, 1u);
  EXPECT_TRUE(queue.giveUp(1, "it does not compile"));
  EXPECT_FALSE(queue.giveUp(1, "again"));
  EXPECT_EQ(queue.states[1].failure, "it does not compile");
  EXPECT_FALSE(queue.propose(std::nullopt));
}

TEST_F(TaskQueueTest, WaitsForDevices) {
  add(10);
  setOwn(0);
  queue.addReady(makePending(0));
  queue.addReady(makePending(0));
  EXPECT_FALSE(queue.propose(2));
  // One that was given back is not new.
  Pending lost = makePending(0);
  lost.schedule = "given back";
  queue.giveBack(std::move(lost));
  EXPECT_EQ(queue.propose(2)->schedule, "given back");
  EXPECT_TRUE(queue.propose(3));
}

TEST_F(TaskQueueTest, HintsComeBeforeTheSearch) {
  add(10);
  setOwn(0);
  queue.states[0].hints.push_back(makePoint(77));
  EXPECT_EQ(queue.propose(std::nullopt)->schedule, "77 : i64");
  EXPECT_EQ(queue.propose(std::nullopt)->schedule, "0 : i64");
  // Nothing else is measured in a replay.
  options.replay = 1;
  EXPECT_FALSE(queue.propose(std::nullopt));
}

TEST_F(TaskQueueTest, GuidedCandidatesFollowTheTimes) {
  options.candidates = CandidateKind::Guided;
  // Two tasks of one program, of which the second takes a quarter of the time
  // of the first; one of another program, which takes much longer; and one
  // without a time.
  FakeSource &large = add(100), &small = add(100), &other = add(100),
             &untimed = add(100);
  for (size_t task : {0u, 1u, 2u, 3u}) {
    setOwn(task);
    queue.states[task].begun = 1;
    queue.states[task].task->uses = {{task / 2, 1}};
  }
  large.best = 0.8;
  small.best = 0.2;
  other.best = 50;
  untimed.best = 0;
  std::vector<unsigned> counts(4);
  for (int i = 0; i < 47; ++i)
    ++counts[queue.propose(std::nullopt)->task];
  // By the square roots of their parts, 0.8, 0.2 and 1, with the own choices.
  EXPECT_EQ(counts, (std::vector<unsigned>{18, 9, 20, 0}));
}

TEST_F(TaskQueueTest, PicksForADevice) {
  for (int i = 0; i < 3; ++i) {
    add(10);
    setOwn(i);
  }
  auto isNowhere = [](size_t) { return false; };
  EXPECT_FALSE(queue.pick({}, isNowhere));
  queue.addReady(makePending(0));
  queue.addReady(makePending(1));
  queue.addReady(makePending(1));
  EXPECT_EQ(queue.pick({}, isNowhere), 1u);
  // To open a task takes time.
  EXPECT_EQ(queue.pick({0}, isNowhere), 0u);
  // Another worker has them open: it leaves one of two to this one.
  auto isAnywhere = [](size_t) { return true; };
  EXPECT_EQ(queue.pick({2}, isAnywhere), 1u);
  EXPECT_FALSE(queue.takeReady(1).point == std::nullopt);
  EXPECT_FALSE(queue.pick({2}, isAnywhere));
  EXPECT_EQ(queue.pick({1}, isAnywhere), 1u);
  // Without the own choice there is nothing to compare with.
  queue.states[2].ownBundle.clear();
  queue.addReady(makePending(2, /*isOwn=*/true));
  EXPECT_EQ(queue.pick({0}, isNowhere), 0u);
  queue.states[2].ownBundle = "bundle";
  EXPECT_EQ(queue.pick({0}, isNowhere), 2u);
  EXPECT_FALSE(queue.takeReady(2).point);
  EXPECT_TRUE(queue.states[2].ready.empty());
}

TEST_F(TaskQueueTest, DropsWhatWaits) {
  add(10);
  add(10);
  for (size_t task : {0u, 1u}) {
    setOwn(task);
    queue.states[task].inHand = 3;
    queue.addReady(makePending(task));
    queue.addReady(makePending(task));
  }
  queue.giveBack(makePending(0));
  queue.states[0].leaders.emplace_back();
  // The second task would end without any measurement.
  queue.dropWaiting(/*keepsUnmeasured=*/true);
  EXPECT_EQ(queue.states[0].inHand, 0u);
  EXPECT_EQ(queue.states[1].inHand, 3u);
  queue.dropWaiting(/*keepsUnmeasured=*/false);
  EXPECT_EQ(queue.states[1].inHand, 1u);
  EXPECT_FALSE(queue.isOver());
  queue.states[0].isDone = true;
  (void)queue.giveUp(1, "wrong");
  EXPECT_TRUE(queue.isOver());
}

} // namespace
