//===- TuningRunTest.h - Fakes for tests of the tuner -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_TUNING_TUNINGRUNTEST_H
#define UNITTESTS_TUNING_TUNINGRUNTEST_H

#include "Tuning/Run/WorkerPool.h"

#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

namespace tessera::tuning {

/// A point with a number that distinguishes it from others.
inline Point makePoint(int64_t number) {
  static auto *context = [] {
    auto *made = new mlir::MLIRContext;
    compiler::prepareContext(*made);
    return made;
  }();
  return mlir::Builder(context).getI64IntegerAttr(number);
}
inline int64_t getNumber(const Point &point) {
  return mlir::cast<mlir::IntegerAttr>(point).getInt();
}

/// A source of `count` points, with the numbers 0, 1, ...
class FakeSource : public CandidateSource {
public:
  explicit FakeSource(int64_t count) : count(count) {}

  std::optional<Point> propose() override {
    if (next == count)
      return std::nullopt;
    return makePoint(next++);
  }
  bool isSchedule(const Point &) const override { return true; }
  bool isLegal(const Point &) const override { return true; }
  double getExpected(const Point &point) const override {
    return static_cast<double>(getNumber(point)) + 0.5;
  }
  double getExpectedGain() override { return gain; }
  double getBest() const override { return best; }
  size_t getPruned() const override { return 0; }
  void observe(const Point &, std::optional<double>) override {}
  void setOwnChoice(const Point &) override {}
  void observeOwnChoice(double) override {}

  double gain = 1, best = 1;

private:
  int64_t count, next = 0;
};

/// A worker whose other end the test holds.
class FakeProcess : public WorkerProcess {
public:
  FakeProcess() : own(-1), other(-1) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    own = Channel(ends[0]);
    other = Channel(ends[1]);
  }

  Channel *getChannel() override { return isConnected ? &own : nullptr; }
  std::string end(bool) override { return "ended"; }
  std::optional<std::string> getEnd() const override { return how; }

  /// The worker's end is gone.
  void hangUp() { other = Channel(-1); }

  bool isConnected = true;
  std::optional<std::string> how;
  Channel own, other;
};

} // namespace tessera::tuning

#endif // UNITTESTS_TUNING_TUNINGRUNTEST_H
