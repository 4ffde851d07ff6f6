//===- LibraryPeerTest.cpp - The layout that a library is fastest in ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Over a library of functions here, which computes in the memory of the CPU,
// and a clock that gives each layout a time.
//
//===----------------------------------------------------------------------===//

#include "Tuning/Worker/LibraryPeer.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>

using namespace tessera::tuning;
using tessera::runtime::Device;
using tessera::runtime::ElementType;
using tessera::runtime::Expected;
using tessera::runtime::HostArray;
using tessera::runtime::LibraryMatmul;
using tessera::runtime::Signature;
using tessera::runtime::Slot;
using tessera::runtime::Status;
using tessera::runtime::StatusCode;
using tessera::runtime::VendorLibrary;

namespace {

/// Layouts by whether A and B are stored column by column.
using Layout = std::pair<bool, bool>;

struct FakeLibrary : VendorLibrary {
  FakeLibrary(const LibraryMatmul &matmul, bool isWrong, Layout &last)
      : matmul(matmul), isWrong(isWrong), last(last) {
    name = "fake 1.0";
  }
  Status run(const void *lhs, const void *rhs, void *out) override {
    const auto *a = static_cast<const float *>(lhs),
               *b = static_cast<const float *>(rhs);
    auto *c = static_cast<float *>(out);
    auto [m, n, k] = std::tuple(matmul.m, matmul.n, matmul.k);
    for (int64_t batch = 0; batch < matmul.matrices; ++batch) {
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          float sum = isWrong ? 1 : 0;
          for (int64_t s = 0; s < k; ++s)
            sum += a[matmul.transposedLhs ? s * m + i : i * k + s] *
                   b[matmul.transposedRhs ? j * k + s : s * n + j];
          c[i * n + j] = sum;
        }
      a += matmul.lhsStride, b += matmul.rhsStride, c += matmul.outStride;
    }
    last = {matmul.transposedLhs, matmul.transposedRhs};
    return Status::success();
  }

  LibraryMatmul matmul;
  bool isWrong;
  Layout &last;
};

class LibraryPeerTest : public testing::Test {
protected:
  void SetUp() override {
    auto opened = tessera::runtime::openDevice("cpu");
    ASSERT_TRUE(opened.ok());
    device = opened.take();
    Signature signature;
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{3, 5, 7}, {3, 7, 4}, {3, 5, 4}}) {
      Slot slot;
      slot.kind = Slot::MemRef;
      slot.element = ElementType::F32;
      slot.shape = shape;
      slot.mayWrite = signature.arguments.size() == 2;
      signature.arguments.push_back(slot);
    }
    data = std::make_unique<TaskData>(*device, signature);
    ASSERT_TRUE(data->create().ok());
    matmul.m = 5;
    matmul.n = 4;
    matmul.k = 7;
    matmul.matrices = 3;
    matmul.lhsStride = 35;
    matmul.rhsStride = 28;
    matmul.outStride = 20;
    matmul.lhs = matmul.rhs = matmul.out = ElementType::F32;
    // The task's own results.
    FakeLibrary own(matmul, /*isWrong=*/false, last);
    ASSERT_TRUE(own.run(data->getOperands()[0].data,
                        data->getOperands()[1].data,
                        data->getOperands()[2].data)
                    .ok());
    ASSERT_TRUE(data->readOutputs(expected).ok());
    used = device->memoryStats().liveBytes;
  }
  void TearDown() override {
    EXPECT_EQ(device->memoryStats().liveBytes, used);
    data.reset();
  }

  /// The name of the layout that is chosen, or why there is none. Then it is
  /// the one that runs.
  std::string choose(const std::map<Layout, double> &times,
                     const std::vector<Layout> &wrong = {}) {
    LibraryPeer peer(
        *device, *data,
        [&](const LibraryMatmul &wanted)
            -> Expected<std::unique_ptr<VendorLibrary>> {
          Layout layout = {wanted.transposedLhs, wanted.transposedRhs};
          if (!times.count(layout))
            return Status(StatusCode::InvalidArgument, "not this layout");
          bool isWrong =
              std::find(wrong.begin(), wrong.end(), layout) != wrong.end();
          return std::unique_ptr<VendorLibrary>(
              new FakeLibrary(wanted, isWrong, last));
        },
        [&](const std::function<Status()> &queue) -> Expected<double> {
          if (Status status = queue(); !status.ok())
            return status;
          return times.at(last);
        });
    std::string reason = peer.choose(matmul, expected);
    EXPECT_EQ(static_cast<bool>(peer), reason.empty());
    if (!peer)
      return reason;
    // Its operands are still there.
    EXPECT_TRUE(data->prepareOutputs(/*isAdded=*/false).ok());
    auto time = peer.time();
    EXPECT_TRUE(time.ok());
    std::vector<HostArray> outputs;
    EXPECT_TRUE(data->readOutputs(outputs).ok());
    EXPECT_EQ(compareOutputs(outputs, expected, /*isExact=*/true), "");
    return peer.getName();
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<TaskData> data;
  LibraryMatmul matmul;
  std::vector<HostArray> expected;
  Layout last;
  size_t used = 0;
};

TEST_F(LibraryPeerTest, TheFastestLayoutIsChosen) {
  std::map<Layout, double> times = {{{false, false}, 1},
                                    {{true, false}, 2},
                                    {{false, true}, 3},
                                    {{true, true}, 4}};
  EXPECT_EQ(choose(times), "fake 1.0");
  times[{true, false}] = 0.5;
  EXPECT_EQ(choose(times), "fake 1.0 (A transposed)");
  times[{false, true}] = 0.25;
  EXPECT_EQ(choose(times), "fake 1.0 (B transposed)");
  times[{true, true}] = 0.125;
  EXPECT_EQ(choose(times), "fake 1.0 (A and B transposed)");
}

TEST_F(LibraryPeerTest, TheTasksOperandsMayBeTransposed) {
  // The contents are those of other matrices, and the results too.
  matmul.transposedLhs = matmul.transposedRhs = true;
  FakeLibrary own(matmul, /*isWrong=*/false, last);
  ASSERT_TRUE(own.run(data->getOperands()[0].data, data->getOperands()[1].data,
                      data->getOperands()[2].data)
                  .ok());
  expected.clear();
  ASSERT_TRUE(data->readOutputs(expected).ok());
  EXPECT_EQ(choose({{{true, true}, 2}, {{false, false}, 1}}),
            "fake 1.0 (A and B transposed)");
}

TEST_F(LibraryPeerTest, OneLayoutIsEnough) {
  EXPECT_EQ(choose({{{false, true}, 7}}), "fake 1.0 (B transposed)");
  EXPECT_EQ(choose({}), "not this layout");
}

TEST_F(LibraryPeerTest, WrongResultsAreNotTimed) {
  EXPECT_EQ(choose({{{false, false}, 2}, {{false, true}, 1}}, {{false, true}}),
            "fake 1.0");
  std::string reason = choose({{{false, false}, 2}}, {{false, false}});
  EXPECT_EQ(reason.substr(0, 10), "fake 1.0: ");
}

} // namespace
